package io.holdfast.proxy.testing;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * One MQTT Control Packet as it came over the wire. Plain and slow, and on purpose no code of ours that is under test.
 */
public final class Packet {
    public static final int CONNECT = 1;
    public static final int CONNACK = 2;
    public static final int PUBLISH = 3;
    public static final int PUBACK = 4;
    public static final int PUBREC = 5;
    public static final int PUBREL = 6;
    public static final int PUBCOMP = 7;
    public static final int SUBSCRIBE = 8;
    public static final int SUBACK = 9;
    public static final int UNSUBSCRIBE = 10;
    public static final int UNSUBACK = 11;
    public static final int PINGREQ = 12;
    public static final int PINGRESP = 13;
    public static final int DISCONNECT = 14;
    public static final int AUTH = 15;

    private static final String[] NAMES = {
        "0",
        "CONNECT",
        "CONNACK",
        "PUBLISH",
        "PUBACK",
        "PUBREC",
        "PUBREL",
        "PUBCOMP",
        "SUBSCRIBE",
        "SUBACK",
        "UNSUBSCRIBE",
        "UNSUBACK",
        "PINGREQ",
        "PINGRESP",
        "DISCONNECT",
        "AUTH"
    };

    private final byte[] bytes;
    private final int bodyOffset;

    /**
     * Takes a whole packet.
     *
     * @param bytes the packet with its fixed header
     * @param bodyOffset where the variable header begins
     */
    Packet(final byte[] bytes, final int bodyOffset) {
        this.bytes = bytes;
        this.bodyOffset = bodyOffset;
    }

    /** A whole packet from its bytes. */
    public static Packet of(final byte[] bytes) {
        int bodyOffset = 2;
        while ((bytes[bodyOffset - 1] & 0x80) != 0) {
            bodyOffset++;
        }
        return new Packet(bytes, bodyOffset);
    }

    /** MQTT Control Packet type, 0 to 15 (2.1.2). */
    public int type() {
        return (bytes[0] & 0xF0) >> 4;
    }

    /** The low four bits of the first byte (2.1.3). */
    public int flags() {
        return bytes[0] & 0x0F;
    }

    /** The whole packet, the fixed header included. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /** Everything after the fixed header. */
    public byte[] body() {
        return Arrays.copyOfRange(bytes, bodyOffset, bytes.length);
    }

    /** The whole packet in lower-case hex. */
    public String hex() {
        return HexFormat.of().formatHex(bytes);
    }

    /** QoS of a PUBLISH. */
    public int qos() {
        return (flags() >> 1) & 3;
    }

    /** RETAIN of a PUBLISH. */
    public boolean retain() {
        return (flags() & 1) != 0;
    }

    /** DUP of a PUBLISH. */
    public boolean dup() {
        return (flags() & 8) != 0;
    }

    /** Topic Name of a PUBLISH; empty if it is given by a Topic Alias. */
    public String topic() {
        return utf8(bodyOffset);
    }

    /** Packet Identifier; 0 if this packet has none. */
    public int packetId() {
        return switch (type()) {
            case PUBLISH -> qos() == 0 ? 0 : u16(bodyOffset + 2 + u16(bodyOffset));
            case PUBACK, PUBREC, PUBREL, PUBCOMP, SUBSCRIBE, SUBACK, UNSUBSCRIBE, UNSUBACK -> u16(bodyOffset);
            default -> 0;
        };
    }

    /** Reason Code of a PUBACK, PUBREC, PUBREL, PUBCOMP, CONNACK, DISCONNECT or AUTH; 0 if it is left out (v5 3.4.2.1). */
    public int reasonCode() {
        final int offset = switch (type()) {
            case PUBACK, PUBREC, PUBREL, PUBCOMP -> bodyOffset + 2;
            case CONNACK -> bodyOffset + 1;
            case DISCONNECT, AUTH -> bodyOffset;
            default -> throw new AssertionError(this + " has no one reason code");
        };
        return offset < bytes.length ? bytes[offset] & 0xFF : 0;
    }

    /** Session Present of a CONNACK. */
    public boolean sessionPresent() {
        return (bytes[bodyOffset] & 1) != 0;
    }

    /** Client Identifier of a CONNECT. */
    public String clientId() {
        return utf8(clientIdOffset());
    }

    /** Protocol Version of a CONNECT: 3, 4 or 5. */
    public int version() {
        return bytes[bodyOffset + 2 + u16(bodyOffset)];
    }

    /** Clean Start (Clean Session) of a CONNECT. */
    public boolean cleanStart() {
        return (bytes[bodyOffset + 2 + u16(bodyOffset) + 1] & 2) != 0;
    }

    /** Payload of a PUBLISH of this protocol version. */
    public byte[] payload(final int version) {
        int offset = afterPublishId();
        if (version == 5) {
            offset += varLength(offset) + varValue(offset);
        }
        return Arrays.copyOfRange(bytes, offset, bytes.length);
    }

    /** Payload of a PUBLISH of this protocol version, as UTF-8. */
    public String text(final int version) {
        return new String(payload(version), StandardCharsets.UTF_8);
    }

    /** Properties of a v5 PUBLISH, without their length. */
    public byte[] publishProperties() {
        final int offset = afterPublishId();
        final int start = offset + varLength(offset);
        return Arrays.copyOfRange(bytes, start, start + varValue(offset));
    }

    private int afterPublishId() {
        return bodyOffset + 2 + u16(bodyOffset) + (qos() == 0 ? 0 : 2);
    }

    private int clientIdOffset() {
        final int offset = bodyOffset + 2 + u16(bodyOffset) + 4;
        return version() == 5 ? offset + varLength(offset) + varValue(offset) : offset;
    }

    private int u16(final int offset) {
        return ((bytes[offset] & 0xFF) << 8) | (bytes[offset + 1] & 0xFF);
    }

    private String utf8(final int offset) {
        return new String(bytes, offset + 2, u16(offset), StandardCharsets.UTF_8);
    }

    private int varLength(final int offset) {
        int length = 1;
        while ((bytes[offset + length - 1] & 0x80) != 0) {
            length++;
        }
        return length;
    }

    private int varValue(final int offset) {
        int value = 0;
        for (int i = 0; i < varLength(offset); i++) {
            value |= (bytes[offset + i] & 0x7F) << (7 * i);
        }
        return value;
    }

    @Override
    public String toString() {
        final String hex = hex();
        return NAMES[type()] + " " + (hex.length() > 120 ? hex.substring(0, 120) + "…" : hex);
    }
}
