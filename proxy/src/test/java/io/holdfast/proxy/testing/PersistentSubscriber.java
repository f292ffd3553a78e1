package io.holdfast.proxy.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;

/**
 * Subscribes what one {@link ResendingDevice} sends, at QoS 2 with a persistent session, and keeps it in order, per topic. Comes
 * back by itself when the broker does. One subscriber per device: a single one for all would fall behind by more messages than
 * there are packet ids, which Mosquitto without a limit in flight gives out twice.
 */
final class PersistentSubscriber implements AutoCloseable {
    private static final Duration TICK = Duration.ofMillis(200);

    private final int port;
    private final Sockets sockets;
    private final String device;
    private final Map<String, List<Integer>> received = new HashMap<>();
    private final Set<Integer> open = new HashSet<>();
    private final Thread thread;
    private volatile boolean closing;
    private volatile boolean subscribed;
    private volatile long count;

    /** Connects to a broker on this loopback port and returns once the subscription is granted. */
    PersistentSubscriber(int port, Sockets sockets, String device) {
        this.port = port;
        this.sockets = sockets;
        this.device = device;
        thread = new Thread(this::run, "subscriber-" + device);
        thread.start();
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> subscribed);
    }

    private void run() {
        while (!closing) {
            try (Socket socket = sockets.open(InetAddress.getLoopbackAddress(), port)) {
                converse(new MqttSocket(socket));
            } catch (IOException e) {
                pause();
            }
        }
    }

    private static void pause() {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
    }

    private void converse(MqttSocket socket) throws IOException {
        socket.send(new Packets.Connect(Packets.V311, "subscriber-" + device)
                .cleanStart(false)
                .keepAlive(0)
                .bytes());
        Packet connack = socket.read(Duration.ofSeconds(10));
        if (connack == null || connack.reasonCode() != 0) {
            pause();
            return;
        }
        if (!connack.sessionPresent()) {
            open.clear();
            socket.send(Packets.subscribe(Packets.V311, 1, "d/" + device + "/#", 2));
        }
        while (!closing) {
            Packet packet;
            try {
                packet = socket.read(TICK);
            } catch (SocketTimeoutException e) {
                continue;
            }
            if (packet == null) {
                throw new IOException("closed");
            }
            onPacket(socket, packet);
        }
    }

    private void onPacket(MqttSocket socket, Packet packet) throws IOException {
        switch (packet.type()) {
            case Packet.SUBACK -> subscribed = true;
            case Packet.PUBLISH -> onPublish(socket, packet);
            case Packet.PUBREL -> {
                open.remove(packet.packetId());
                socket.send(Packets.ack(Packet.PUBCOMP, packet.packetId()));
            }
            default -> throw new IOException("unexpected " + packet);
        }
    }

    private void onPublish(MqttSocket socket, Packet packet) throws IOException {
        if (packet.qos() == 2 && !open.add(packet.packetId())) {
            socket.send(Packets.ack(Packet.PUBREC, packet.packetId()));
            return;
        }
        synchronized (received) {
            received.computeIfAbsent(packet.topic(), topic -> new ArrayList<>())
                    .add(Integer.parseInt(packet.text(Packets.V311)));
            count++;
        }
        if (packet.qos() == 1) {
            socket.send(Packets.ack(Packet.PUBACK, packet.packetId()));
        } else if (packet.qos() == 2) {
            socket.send(Packets.ack(Packet.PUBREC, packet.packetId()));
        }
    }

    /** Messages received, duplicates included. */
    long count() {
        return count;
    }

    /** Payloads of a topic in the order in which they came. */
    List<Integer> received(String topic) {
        synchronized (received) {
            return List.copyOf(received.getOrDefault(topic, List.of()));
        }
    }

    @Override
    public void close() {
        closing = true;
        try {
            thread.join(Duration.ofSeconds(10).toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
