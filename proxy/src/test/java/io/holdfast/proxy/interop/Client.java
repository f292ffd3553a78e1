package io.holdfast.proxy.interop;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A connected client of some library: as much of it as the tests need, every call waiting for its answer. */
abstract class Client implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final List<Message> received = new CopyOnWriteArrayList<>();

    /** From CONNACK; of a 3.1 client always false. */
    abstract boolean sessionPresent();

    /** Subscribes and expects just this QoS to be granted. */
    abstract void subscribe(String filter, int qos);

    abstract void unsubscribe(String filter);

    /** Returns when the broker's side has finally acknowledged it; at QoS 0 when it was sent. */
    abstract void publish(Message message);

    abstract boolean isConnected();

    /** DISCONNECT; what the broker keeps of the session stays. */
    @Override
    public abstract void close();

    final void arrived(Message message) {
        received.add(message);
    }

    final List<Message> received() {
        return received;
    }

    /** What came with this topic and QoS, in its order. */
    final List<Message> received(String topic, int qos) {
        return received.stream()
                .filter(message -> message.topic().equals(topic) && message.qos() == qos)
                .toList();
    }

    final void awaitCount(int count) {
        await().atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(5))
                .untilAsserted(() -> assertEquals(count, received.size(), received::toString));
    }

    /** Waits for as many messages, and then they must be these, in this order, and no others. */
    final void expect(Message... wanted) {
        awaitCount(wanted.length);
        assertEquals(List.of(wanted), received);
    }
}
