package io.holdfast.proxy.interop;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.testing.ContainerBroker;
import io.holdfast.proxy.testing.ContainerEngine;
import io.holdfast.proxy.testing.ProxyUnderTest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The main job and its outages in front of brokers as their makers ship them. Skipped without a container engine or without
 * the image on it; {@code -Dholdfast.image.mosquitto=…} and {@code -Dholdfast.image.emqx=…} name other images.
 */
@Tag("docker")
@Timeout(value = 180, unit = TimeUnit.SECONDS)
class BrokerInAContainerTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int COUNT = 100;
    private static final String STORED = "stored/a";
    private static final String HELD = "held/a";
    private static final String SUBSCRIBER = "subscriber";

    @TempDir
    Path directory;

    private enum Image {
        MOSQUITTO("holdfast.image.mosquitto", "eclipse-mosquitto:2"),
        EMQX("holdfast.image.emqx", "emqx/emqx:5.8");

        private final String image;

        Image(String property, String usual) {
            this.image = System.getProperty(property, usual);
        }

        ContainerBroker start() {
            ContainerEngine.assumeImage(image);
            ContainerBroker broker = switch (this) {
                case MOSQUITTO -> ContainerBroker.mosquitto(image);
                case EMQX -> ContainerBroker.emqx(image);
            };
            broker.start();
            return broker;
        }
    }

    private ProxyUnderTest proxy(ContainerBroker broker) {
        return ProxyUnderTest.start(
                broker.url(),
                directory.resolve("data"),
                "--route",
                "hold held/#",
                "--route",
                "outbox #",
                "--ack-timeout",
                "20s",
                "--hold-timeout",
                "120s");
    }

    private static Client subscribe(ContainerBroker broker) {
        Client subscriber = Library.HIVEMQ_5.connect(broker.port(), SUBSCRIBER, true);
        subscriber.subscribe("stored/#", 2);
        subscriber.subscribe("held/#", 2);
        return subscriber;
    }

    /** Payloads of a topic and QoS: from, …, to. */
    private static List<Message> messages(String topic, int qos, int from, int to) {
        List<Message> messages = new ArrayList<>();
        for (int i = from; i <= to; i++) {
            messages.add(Message.of(topic, qos, "" + i));
        }
        return messages;
    }

    private static void publish(Client device, String topic, int qos, int from, int to) {
        messages(topic, qos, from, to).forEach(device::publish);
    }

    private static void expectSettled(ProxyUnderTest proxy, long accepted) {
        await().atMost(PATIENCE).until(() -> proxy.ledgerTotal("pending") == 0);
        assertEquals(accepted, proxy.ledgerTotal("accepted"));
        assertEquals(accepted, proxy.ledgerTotal("delivered"), () -> proxy.admin("/ledger"));
    }

    @ParameterizedTest
    @EnumSource(Image.class)
    void everyQosTakesBothRoutesAndTheLedgerAddsUp(Image image) {
        try (ContainerBroker broker = image.start();
                Client subscriber = subscribe(broker);
                ProxyUnderTest proxy = proxy(broker);
                Client device = Library.HIVEMQ_5.connect(proxy.port())) {
            for (int i = 1; i <= COUNT; i++) {
                for (int qos = 0; qos <= 2; qos++) {
                    device.publish(Message.of(STORED, qos, "" + i));
                    device.publish(Message.of(HELD, qos, "" + i));
                }
            }
            expectSettled(proxy, 2 * COUNT);
            await().atMost(PATIENCE)
                    .untilAsserted(
                            () -> assertEquals(6 * COUNT, subscriber.received().size()));
            for (int qos = 0; qos <= 2; qos++) {
                assertEquals(messages(STORED, qos, 1, COUNT), subscriber.received(STORED, qos));
                assertEquals(messages(HELD, qos, 1, COUNT), subscriber.received(HELD, qos));
            }
            device.subscribe("to/device", 2);
            for (int qos = 0; qos <= 2; qos++) {
                subscriber.publish(Message.of("to/device", qos, "hello"));
                device.awaitCount(qos + 1);
                assertEquals(List.of(Message.of("to/device", qos, "hello")), device.received("to/device", qos));
            }
        }
    }

    /** The container is frozen: nothing breaks, nothing is answered. */
    @ParameterizedTest
    @EnumSource(Image.class)
    void aBrokerThatIsPausedDelaysEverythingAndLosesNothing(Image image) throws Exception {
        try (ContainerBroker broker = image.start();
                Client subscriber = subscribe(broker);
                ProxyUnderTest proxy = proxy(broker);
                Client device = Library.HIVEMQ_5.connect(proxy.port());
                Client holding = Library.HIVEMQ_5.connect(proxy.port())) {
            device.publish(Message.of(STORED, 1, "1"));
            device.publish(Message.of(STORED, 2, "1"));
            expectSettled(proxy, 2);
            subscriber.awaitCount(2);
            broker.pause();
            CompletableFuture<Void> held = CompletableFuture.runAsync(() -> publish(holding, HELD, 1, 1, 3));
            publish(device, STORED, 1, 2, COUNT);
            publish(device, STORED, 2, 2, COUNT);
            assertEquals(2L * COUNT - 2, proxy.ledgerTotal("pending"), "nothing reached a broker that is frozen");
            assertFalse(held.isDone(), "a hold message is not acknowledged before the broker's own acknowledgement");
            assertEquals(2, subscriber.received().size());
            broker.unpause();
            held.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            expectSettled(proxy, 2 * COUNT);
            await().atMost(PATIENCE)
                    .untilAsserted(() ->
                            assertEquals(2 * COUNT + 3, subscriber.received().size()));
            assertEquals(messages(STORED, 1, 1, COUNT), subscriber.received(STORED, 1));
            assertEquals(messages(STORED, 2, 1, COUNT), subscriber.received(STORED, 2));
            assertEquals(messages(HELD, 1, 1, 3), subscriber.received(HELD, 1));
            assertTrue(device.isConnected());
            assertTrue(holding.isConnected());
        }
    }

    /** The container is stopped and started: every connection breaks, sessions are kept. */
    @ParameterizedTest
    @EnumSource(Image.class)
    void aBrokerThatIsStoppedAndStartedGetsTheBacklogFirstAndInOrder(Image image) throws Exception {
        try (ContainerBroker broker = image.start();
                Client before = subscribe(broker);
                ProxyUnderTest proxy = proxy(broker);
                Client device = Library.HIVEMQ_5.connect(proxy.port());
                // A session without expiry would end with its link, and with it what is held.
                Client holding = Library.HIVEMQ_5.connect(proxy.port(), Deployment.unique("h"), true)) {
            publish(device, STORED, 1, 1, 10);
            publish(device, STORED, 2, 1, 10);
            // Not every broker keeps the packet ids of open QoS 2 flows: none is open when it is stopped.
            expectSettled(proxy, 20);
            before.awaitCount(20);
            broker.stop();
            CompletableFuture<Void> held = CompletableFuture.runAsync(() -> publish(holding, HELD, 2, 1, 3));
            publish(device, STORED, 1, 11, COUNT);
            publish(device, STORED, 2, 11, COUNT);
            assertEquals(2L * COUNT - 20, proxy.ledgerTotal("pending"));
            assertFalse(held.isDone(), "a hold message is not acknowledged before the broker's own acknowledgement");
            broker.start();
            try (Client after = Library.HIVEMQ_5.connect(broker.port(), SUBSCRIBER, true)) {
                assertTrue(after.sessionPresent(), "the broker has kept the subscriber's session");
                publish(device, STORED, 1, COUNT + 1, COUNT + 10);
                held.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                expectSettled(proxy, 2 * COUNT + 10);
                await().atMost(PATIENCE)
                        .untilAsserted(() -> assertEquals(
                                2 * COUNT + 10 - 20 + 3, after.received().size()));
                assertEquals(messages(STORED, 1, 11, COUNT + 10), after.received(STORED, 1));
                assertEquals(messages(STORED, 2, 11, COUNT), after.received(STORED, 2));
                assertEquals(messages(HELD, 2, 1, 3), after.received(HELD, 2));
            }
            assertTrue(device.isConnected());
            assertTrue(holding.isConnected());
        }
    }
}
