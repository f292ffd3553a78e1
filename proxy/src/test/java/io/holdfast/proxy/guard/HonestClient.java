package io.holdfast.proxy.guard;

import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** PINGREQ and a QoS 1 PUBLISH to each topic, five times a second, on one connection; remembers the longest wait. */
final class HonestClient implements AutoCloseable {
    private static final int PERIOD_MS = 200;

    private final RawMqttClient client;
    private final int version;
    private final List<String> topics;
    private final Thread thread;
    private final CountDownLatch over = new CountDownLatch(1);
    private volatile Throwable failure;
    private volatile long longestMs;
    private final AtomicInteger rounds = new AtomicInteger();

    HonestClient(int port, int version, String clientId, List<String> topics) {
        this.version = version;
        this.topics = topics;
        this.client = RawMqttClient.connect(port, version, clientId, true);
        this.thread = new Thread(this::run, "honest-" + clientId);
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        try {
            while (!over.await(PERIOD_MS, TimeUnit.MILLISECONDS)) {
                round();
                rounds.incrementAndGet();
            }
        } catch (InterruptedException | RuntimeException | AssertionError e) {
            failure = e;
        }
    }

    private void round() {
        long begin = System.nanoTime();
        client.send(Packets.pingreq());
        int id = 0;
        for (String topic : topics) {
            client.send(Packets.publish(version, 1, ++id, topic, "m"));
        }
        boolean ponged = false;
        int acks = 0;
        while (!ponged || acks < topics.size()) {
            Packet packet = client.readPacket(RawMqttClient.PATIENCE);
            if (packet.type() == Packet.PINGRESP) {
                ponged = true;
            } else if (packet.type() != Packet.PUBACK || packet.packetId() != ++acks || packet.reasonCode() >= 0x80) {
                throw new AssertionError("unexpected " + packet);
            }
        }
        longestMs = Math.max(longestMs, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin));
    }

    /** From sending a round to its last answer, the longest since the last call; fails if a round failed. */
    long takeLongestMs() {
        if (failure != null) {
            throw new AssertionError(thread.getName() + " was not served after " + rounds + " rounds", failure);
        }
        long longest = longestMs;
        longestMs = 0;
        return longest;
    }

    int rounds() {
        return rounds.get();
    }

    @Override
    public void close() {
        over.countDown();
        try {
            thread.join(RawMqttClient.PATIENCE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        client.close();
    }
}
