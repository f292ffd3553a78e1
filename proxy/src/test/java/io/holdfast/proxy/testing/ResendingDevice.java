package io.holdfast.proxy.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A device with a persistent session that follows the rules to the letter: a window of QoS 1 and QoS 2 PUBLISHes, and after a
 * broken connection everything unfinished again, in order, with DUP and the same packet ids ([MQTT-4.4.0-1]). If the session
 * is gone it sends the unfinished as new. The payloads count up from 1 per QoS, on the topics {@code d/NAME/1} and
 * {@code d/NAME/2}.
 */
public final class ResendingDevice implements Runnable {
    private static final Duration ANSWER = Duration.ofSeconds(20);
    private static final int PACKET_IDS = 65_535;

    private final String name;
    private final int port;
    private final int version;
    private final int window;
    private final SplittableRandom random;
    private final Map<Integer, Message> open = new LinkedHashMap<>();
    private final int[] acknowledged = new int[3];
    private final int[] sent = new int[3];
    private final List<String> faults = new ArrayList<>();
    private int lastPacketId;
    private int connections;
    private int sessionsLost;
    private final AtomicInteger progress = new AtomicInteger();
    private volatile boolean stayConnected;
    private volatile int limit = Integer.MAX_VALUE;
    private int payloadLength;
    private volatile boolean stopping;
    private Sockets sockets = Sockets.PLAIN;

    private static final class Message {
        private final int qos;
        private final int number;
        private boolean received;

        Message(int qos, int number) {
            this.qos = qos;
            this.number = number;
        }
    }

    /** A device that is not started; {@code seed} decides which message has which QoS. */
    public ResendingDevice(String name, int port, int version, int window, long seed) {
        this.name = name;
        this.port = port;
        this.version = version;
        this.window = window;
        this.random = new SplittableRandom(seed);
    }

    /** How it connects. */
    public ResendingDevice over(Sockets newSockets) {
        sockets = newSockets;
        return this;
    }

    /** QoS 2 only, one at a time, some ten a second, with payloads of that many bytes: more than the broker takes. */
    public ResendingDevice oversized(int bytes) {
        payloadLength = bytes;
        return this;
    }

    /** Sends {@code messages} of each QoS, and then ends. */
    public ResendingDevice limit(int messages) {
        limit = messages;
        stayConnected = false;
        return this;
    }

    /** Sends {@code messages} of each QoS, and then stays connected until it is told a larger limit. */
    public ResendingDevice limitFirst(int messages) {
        limit = messages;
        stayConnected = true;
        return this;
    }

    /** Messages finished so far. Any thread. */
    public int progress() {
        return progress.get();
    }

    /** No new messages; ends when everything is finished. */
    public void finish() {
        stopping = true;
    }

    /** Its client id. */
    public String name() {
        return name;
    }

    /** Messages of that QoS sent at least once. After the end. */
    public int sent(int qos) {
        return sent[qos];
    }

    /** Messages of that QoS finished. After the end. */
    public int acknowledged(int qos) {
        return acknowledged[qos];
    }

    /** What the proxy did against the rules. After the end. */
    public List<String> faults() {
        return faults;
    }

    /** Connections made. */
    public int connections() {
        return connections;
    }

    /** Times that CONNACK said Session Present 0 while messages were open. */
    public int sessionsLost() {
        return sessionsLost;
    }

    @Override
    public void run() {
        while (!isDone()) {
            try (Socket socket = sockets.open(InetAddress.getLoopbackAddress(), port)) {
                converse(new MqttSocket(socket));
            } catch (IOException e) {
                pause();
            }
        }
    }

    private boolean isDone() {
        boolean mayFinish = stopping || (!stayConnected && sent[1] >= limit && sent[2] >= limit);
        return mayFinish && open.isEmpty();
    }

    /** A moment, as any client waits before it tries again. */
    private void pause() {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20L + random.nextInt(30)));
    }

    private void converse(MqttSocket socket) throws IOException {
        Packets.Connect connect =
                new Packets.Connect(version, name).cleanStart(false).keepAlive(60);
        if (version == Packets.V5) {
            connect.properties(Packets.property32(0x11, 3600));
        }
        socket.send(connect.bytes());
        Packet connack = socket.read(ANSWER);
        if (connack == null || connack.type() != Packet.CONNACK || connack.reasonCode() != 0) {
            pause();
            return;
        }
        connections++;
        resendAll(socket, connack.sessionPresent());
        while (!isDone()) {
            if (payloadLength == 0) {
                while (open.size() < window && sendNew(socket)) {
                    // fills the window
                }
            } else if (open.isEmpty()) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
                sendNew(socket);
            }
            if (open.isEmpty() && !isDone()) {
                pause(); // for a larger limit
            } else if (!open.isEmpty()) {
                onPacket(socket, read(socket));
            }
        }
        socket.send(Packets.disconnect());
        socket.close();
    }

    private Packet read(MqttSocket socket) throws IOException {
        try {
            Packet packet = socket.read(ANSWER);
            if (packet == null) {
                throw new IOException("closed");
            }
            return packet;
        } catch (SocketTimeoutException e) {
            faults.add(name + ": no answer for " + ANSWER + " with " + open.size() + " open");
            throw e;
        }
    }

    private void resendAll(MqttSocket socket, boolean sessionPresent) throws IOException {
        if (!sessionPresent) {
            if (!open.isEmpty()) {
                sessionsLost++;
            }
            open.values().forEach(message -> message.received = false);
        }
        for (Map.Entry<Integer, Message> entry : open.entrySet()) {
            Message message = entry.getValue();
            if (message.received) {
                socket.send(Packets.ack(Packet.PUBREL, entry.getKey()));
            } else {
                publish(socket, entry.getKey(), message, sessionPresent);
            }
        }
    }

    private boolean sendNew(MqttSocket socket) throws IOException {
        int qos = payloadLength > 0 ? 2 : 1 + random.nextInt(2);
        if (sent[qos] >= limit) {
            qos = 3 - qos;
        }
        if (stopping || sent[qos] >= limit) {
            return false;
        }
        Message message = new Message(qos, ++sent[qos]);
        int packetId = nextPacketId();
        open.put(packetId, message);
        publish(socket, packetId, message, false);
        return true;
    }

    private int nextPacketId() {
        do {
            lastPacketId = lastPacketId % PACKET_IDS + 1;
        } while (open.containsKey(lastPacketId));
        return lastPacketId;
    }

    private void publish(MqttSocket socket, int packetId, Message message, boolean dup) throws IOException {
        int flags = (message.qos << 1) | (dup ? 8 : 0);
        byte[] payload = Integer.toString(message.number).getBytes(StandardCharsets.US_ASCII);
        if (payloadLength > 0) {
            payload = Arrays.copyOf(payload, payloadLength);
        }
        socket.send(
                Packets.publishFlags(version, flags, packetId, "d/" + name + "/" + message.qos, Packets.NONE, payload));
    }

    private void onPacket(MqttSocket socket, Packet packet) throws IOException {
        switch (packet.type()) {
            case Packet.PUBACK -> finish(packet, 1);
            case Packet.PUBREC -> {
                Message message = open.get(packet.packetId());
                if (message == null || message.qos != 2 || packet.reasonCode() >= 0x80) {
                    faults.add(name + ": unexpected " + packet);
                } else {
                    message.received = true;
                    socket.send(Packets.ack(Packet.PUBREL, packet.packetId()));
                }
            }
            case Packet.PUBCOMP -> finish(packet, 2);
            case Packet.DISCONNECT -> throw new IOException("disconnected: " + packet);
            default -> faults.add(name + ": unexpected " + packet);
        }
    }

    private void finish(Packet packet, int qos) {
        Message message = open.remove(packet.packetId());
        if (message == null || message.qos != qos || (qos == 2 && !message.received)) {
            faults.add(name + ": unexpected " + packet);
        } else if (qos == 1 && packet.reasonCode() >= 0x80) {
            faults.add(name + ": refused " + packet);
        } else {
            acknowledged[qos]++;
            progress.incrementAndGet();
        }
    }
}
