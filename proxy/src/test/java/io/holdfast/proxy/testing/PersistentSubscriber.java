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
import java.util.function.BooleanSupplier;

/**
 * Subscribes {@code d/#} at QoS 2 with a persistent session and keeps what {@link ResendingDevice}s sent, in order, per topic.
 * Comes back by itself when the broker does.
 */
public final class PersistentSubscriber implements AutoCloseable {
    private static final Duration TICK = Duration.ofMillis(200);

    private final int port;
    private final Map<String, List<Integer>> received = new HashMap<>();
    private final Set<Integer> open = new HashSet<>();
    private final Thread thread;
    private volatile boolean closing;
    private volatile boolean subscribed;
    private volatile long count;

    /** Connects to a broker on this loopback port and returns once the subscription is granted. */
    public PersistentSubscriber(int port) {
        this.port = port;
        thread = new Thread(this::run, "subscriber");
        thread.start();
        org.awaitility.Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> subscribed);
    }

    private void run() {
        while (!closing) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
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
        socket.send(new Packets.Connect(Packets.V311, "subscriber")
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
            socket.send(Packets.subscribe(Packets.V311, 1, "d/#", 2));
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
    public long count() {
        return count;
    }

    /** Waits until nothing has come for {@code quiet}, while {@code complete} says that nothing more is due. */
    public void awaitQuiet(BooleanSupplier complete, Duration quiet, Duration atMost) {
        org.awaitility.Awaitility.await()
                .atMost(atMost)
                .pollInterval(quiet)
                .until(new java.util.concurrent.Callable<>() {
                    private long before = -1;

                    @Override
                    public Boolean call() {
                        long now = count;
                        boolean still = now == before && complete.getAsBoolean();
                        before = now;
                        return still;
                    }
                });
    }

    /** Payloads of a topic in the order in which they came. */
    public List<Integer> received(String topic) {
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
