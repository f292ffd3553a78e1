package io.holdfast.proxy.sim;

import io.holdfast.proxy.testing.Packets;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** One message of a device, and what has become of it. */
final class SimMessage {
    private static final byte[] IDENTITY = {0x26, 0, 2, 'i', 'd', 0};

    /** A record of it in the log; {@code bytes} as they were appended. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Stored(int lane, long sequence, SimDisk.Inode inode, long position, byte[] bytes) {}

    final SimDevice device;
    final int index;
    final int qos;
    final String topic;
    final byte[] properties;
    final byte[] payload;
    final List<Stored> records = new ArrayList<>();

    /** PUBACK, or PUBREC, with success has left the proxy. */
    boolean isAcknowledged;
    /** The device was told no. */
    boolean isRefused;
    /** How often the broker has passed it on. */
    int deliveries;
    /** The packet ids with which this process has sent it to the broker, and whether the last one was among them before. */
    final Set<Integer> sentIds = new HashSet<>();

    int sentByProcess;
    boolean isRepeat;
    /** The broker has sent its last answer. */
    boolean isFinished;
    /** The broker does not want it. */
    boolean isRefusedForGood;
    /** A session was lost at a moment that allows a second delivery. */
    boolean mayRepeat;
    /** The documented limit: a session was lost, and the proxy killed before it could note that. */
    boolean mayBeLost;
    /** It was refused for a time, and so comes late. */
    boolean mayBeLate;

    SimMessage(SimDevice device, int index, int qos, String topic, byte[] properties, byte[] payload) {
        this.device = device;
        this.index = index;
        this.qos = qos;
        this.topic = topic;
        this.properties = properties;
        this.payload = payload;
    }

    /** The property that tells messages with the same content apart. */
    static byte[] identity(String key) {
        return Packets.userProperty("id", key);
    }

    /** The key of a message, from its properties or else from the beginning of its payload. */
    static String keyOf(byte[] properties, byte[] payload) {
        for (int at = 0; at + IDENTITY.length < properties.length; at++) {
            if (Arrays.equals(properties, at, at + IDENTITY.length, IDENTITY, 0, IDENTITY.length)) {
                int length = properties[at + IDENTITY.length];
                return new String(properties, at + IDENTITY.length + 1, length, StandardCharsets.UTF_8);
            }
        }
        int end = 0;
        while (end < payload.length && payload[end] != '|') {
            end++;
        }
        return new String(payload, 0, end, StandardCharsets.UTF_8);
    }

    String key() {
        return device.clientId() + "/" + index;
    }

    @Override
    public String toString() {
        return key() + " (QoS " + qos + ", " + topic + ")";
    }
}
