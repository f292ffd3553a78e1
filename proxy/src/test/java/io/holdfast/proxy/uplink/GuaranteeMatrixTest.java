package io.holdfast.proxy.uplink;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.FreePorts;
import io.holdfast.proxy.testing.HoldfastProcess;
import io.holdfast.proxy.testing.LinkAndUplinkBroker;
import io.holdfast.proxy.testing.MetricsPage;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The rows of docs/GUARANTEES.md, by their names there. */
class GuaranteeMatrixTest {
    private static final String[] HOLD = {"--route", "hold h/#", "--route", "outbox #"};

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void holdResumedWithinTheSession(int qos) {
        try (UplinkFixture fixture = new UplinkFixture(Packets.V5, directory, HOLD);
                RawMqttClient device = RawMqttClient.open(fixture.proxy.port())) {
            device.send(new Packets.Connect(Packets.V5, "d")
                    .cleanStart(false)
                    .properties(Packets.property32(0x11, 100))
                    .bytes());
            device.expect(Packet.CONNACK);
            fixture.broker.link().sessionPresent(true).swallow(Packet.PUBLISH);
            device.send(Packets.publish(Packets.V5, qos, 1, "h/1", "m"));
            fixture.broker.awaitLink(Packet.PUBLISH, 1);
            device.expectSilence(Duration.ofMillis(200)); // not acknowledged: the broker has not
            fixture.broker.link().on(Packet.PUBLISH, (connection, publish) -> null);
            fixture.broker.cutLinks();
            device.expect(qos == 1 ? Packet.PUBACK : Packet.PUBREC, 1);
            List<Packet> sent = fixture.broker.linkReceived(Packet.PUBLISH);
            assertEquals(2, sent.size());
            assertTrue(sent.get(1).dup());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void holdAndTheProxyKilled(int qos) {
        int port = FreePorts.next();
        try (LinkAndUplinkBroker broker = LinkAndUplinkBroker.start();
                HoldfastProcess proxy =
                        process(broker, port, FreePorts.next(), HOLD).start()) {
            broker.link().sessionPresent(true).swallow(Packet.PUBLISH);
            try (RawMqttClient device = RawMqttClient.connect(port, Packets.V311, "d", false)) {
                device.send(Packets.publish(Packets.V311, qos, 1, "h/1", "m"));
                broker.awaitLink(Packet.PUBLISH, 1);
                proxy.kill9(); // the broker has it, its answer is lost
                device.expectClosed(Duration.ofSeconds(10));
            }
            broker.link().on(Packet.PUBLISH, (connection, publish) -> null);
            proxy.start();
            try (RawMqttClient device = RawMqttClient.connect(port, Packets.V311, "d", false)) {
                byte[] again = "m".getBytes(StandardCharsets.UTF_8);
                device.send(Packets.publishFlags(Packets.V311, qos << 1 | 8, 1, "h/1", Packets.NONE, again));
                device.expect(qos == 1 ? Packet.PUBACK : Packet.PUBREC, 1);
            }
            List<Packet> sent = broker.linkReceived(Packet.PUBLISH);
            assertEquals(List.of(1, 1), UplinkFixture.ids(sent), "the device's own packet id, both times");
            assertTrue(sent.get(1).dup());
        }
    }

    @Test
    void holdRefusedByTheBroker() {
        try (UplinkFixture fixture = new UplinkFixture(Packets.V5, directory, HOLD);
                RawMqttClient device = RawMqttClient.connect(fixture.proxy.port(), Packets.V5, "d", false)) {
            fixture.broker
                    .link()
                    .on(Packet.PUBLISH, (connection, publish) -> Packets.ack(Packet.PUBACK, publish.packetId(), 0x87));
            device.send(Packets.publish(Packets.V5, 1, 1, "h/1", "m"));
            assertEquals(0x87, device.expect(Packet.PUBACK, 1).reasonCode(), "the device itself hears it");
            assertEquals(0, fixture.proxy.ledgerTotal("dead_lettered"));
            assertEquals(1, fixture.proxy.count(Meter.HOLD_REJECTED));
        }
    }

    @Test
    void qos0ByHoldOrForwarded() {
        try (UplinkFixture fixture = new UplinkFixture(Packets.V5, directory, HOLD);
                RawMqttClient device = RawMqttClient.connect(fixture.proxy.port(), Packets.V5, "d", false)) {
            device.send(Packets.publish(Packets.V5, 0, 0, "h/1", "m"));
            device.send(Packets.publish(Packets.V5, 0, 0, "o/1", "m"));
            fixture.broker.awaitLink(Packet.PUBLISH, 2);
            fixture.broker.broker().stopListening();
            fixture.broker.cutLinks();
            await().until(() -> fixture.proxy.count(Meter.LINK_LOST) == 1);
            device.send(Packets.publish(Packets.V5, 0, 0, "o/1", "lost"));
            await().until(() -> fixture.proxy.count(Meter.DROPPED_QOS0_OFFLINE) == 1);
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 4", "2, 4", "1, 5", "2, 5"})
    void outboxPersistedThenEverythingElseGone(int qos, int version) {
        int port = FreePorts.next();
        int adminPort = FreePorts.next();
        try (LinkAndUplinkBroker broker = LinkAndUplinkBroker.start();
                HoldfastProcess proxy = process(broker, port, adminPort).start()) {
            broker.refuseUplink();
            broker.cutUplink();
            try (RawMqttClient device = RawMqttClient.connect(port, version, "gone", true)) {
                for (int id = 1; id <= 20; id++) {
                    device.send(Packets.publish(version, qos, id, "t", "m" + id));
                    device.expect(qos == 1 ? Packet.PUBACK : Packet.PUBREC, id);
                }
            } // never comes back; its session was clean
            proxy.kill9();
            broker.acceptUplink();
            proxy.start();
            awaitDelivered(adminPort, 20);
            List<String> arrived = broker.uplinkReceived(Packet.PUBLISH).stream()
                    .map(packet -> packet.text(Packets.V5))
                    .distinct()
                    .toList();
            assertEquals(messages(1, 20), arrived);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void outboxCrashBeforeItIsPersisted(int qos) {
        int port = FreePorts.next();
        int adminPort = FreePorts.next();
        try (LinkAndUplinkBroker broker = LinkAndUplinkBroker.start();
                HoldfastProcess proxy = process(broker, port, adminPort).start()) {
            broker.link().sessionPresent(true);
            try (RawMqttClient device = RawMqttClient.connect(port, Packets.V5, "d", false)) {
                device.send(Packets.publish(Packets.V5, qos, 1, "t", "m1"));
                proxy.kill9(); // before it could answer, or just after: the device cannot know
            }
            proxy.start();
            try (RawMqttClient device = RawMqttClient.connect(port, Packets.V5, "d", false)) {
                device.send(Packets.publishFlags(
                        Packets.V5, qos << 1 | 8, 1, "t", Packets.NONE, "m1".getBytes(StandardCharsets.UTF_8)));
                device.expect(qos == 1 ? Packet.PUBACK : Packet.PUBREC, 1);
                if (qos == 2) {
                    device.send(Packets.ack(Packet.PUBREL, 1));
                    device.expect(Packet.PUBCOMP, 1);
                }
            }
            await().atMost(UplinkFixture.SOON).until(() -> pending(adminPort) == 0);
            long came = total(adminPort, "holdfast_outbox_delivered_total");
            assertTrue(qos == 2 ? came == 1 : came >= 1 && came <= 2, () -> came + " came");
        }
    }

    @Test
    void pageCacheDurabilitySurvivesAKill() {
        int port = FreePorts.next();
        int adminPort = FreePorts.next();
        try (LinkAndUplinkBroker broker = LinkAndUplinkBroker.start();
                HoldfastProcess proxy = process(broker, port, adminPort, "--durability", "page-cache")
                        .start()) {
            broker.refuseUplink();
            broker.cutUplink();
            try (RawMqttClient device = RawMqttClient.connect(port, Packets.V5, "d", true)) {
                for (int id = 1; id <= 20; id++) {
                    device.send(Packets.publish(Packets.V5, 1, id, "t", "m" + id));
                    device.expect(Packet.PUBACK, id);
                }
            }
            proxy.kill9();
            broker.acceptUplink();
            proxy.start();
            awaitDelivered(adminPort, 20);
        }
    }

    /** Nothing is inferred from equal content. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void withoutProducerIdentityEqualMessagesBothFlow(int qos) {
        try (UplinkFixture fixture = new UplinkFixture(Packets.V5, directory);
                RawMqttClient device = RawMqttClient.connect(fixture.proxy.port(), Packets.V5, "d", true)) {
            for (int id = 1; id <= 2; id++) {
                device.send(Packets.publish(Packets.V5, qos, id, "t", "21.5"));
                device.expect(qos == 1 ? Packet.PUBACK : Packet.PUBREC, id);
            }
            fixture.awaitDelivered(2);
        }
    }

    @Test
    void attemptsAndBudgetUsedUp() {
        try (UplinkFixture fixture =
                new UplinkFixture(Packets.V5, directory, "--max-replay-attempts", "2", "--replay-budget", "500ms")) {
            fixture.broker
                    .uplink()
                    .on(Packet.PUBLISH, (connection, publish) -> Packets.ack(Packet.PUBACK, publish.packetId(), 0x97));
            fixture.publish(1, 0, 1);
            await().atMost(UplinkFixture.SOON).until(() -> fixture.proxy.ledgerTotal("dead_lettered") == 1);
        }
    }

    @Test
    void expiryComesBeforeTheBudget() {
        try (UplinkFixture fixture = UplinkFixture.refused(directory);
                RawMqttClient device = RawMqttClient.connect(fixture.proxy.port(), Packets.V5, "d", true)) {
            device.send(Packets.publishFlags(Packets.V5, 2, 1, "t", Packets.property32(0x02, 1), new byte[] {1}));
            device.expect(Packet.PUBACK, 1);
            await().atMost(UplinkFixture.SOON).until(() -> fixture.proxy.ledgerTotal("dead_lettered") == 1);
        }
    }

    /** The record stays pending until its dead letter is written; nothing is dropped in silence. */
    @Test
    void deadLetterCannotBeWritten() throws IOException {
        try (UplinkFixture fixture = new UplinkFixture(Packets.V5, directory)) {
            Path dlq = directory.resolve("dlq");
            Path away = directory.resolve("away");
            Files.move(dlq, away);
            fixture.broker
                    .uplink()
                    .on(
                            Packet.PUBLISH,
                            (connection, publish) -> publish.text(Packets.V5).equals("m1")
                                    ? Packets.ack(Packet.PUBACK, publish.packetId(), 0x87)
                                    : null);
            fixture.publish(1, 0, 3);
            await().until(() -> fixture.proxy.count(Meter.DEAD_LETTER_FAILED) > 0);
            assertEquals(0, fixture.proxy.ledgerTotal("dead_lettered"));
            assertTrue(fixture.proxy.ledgerTotal("pending") >= 1);
            Files.move(away, dlq);
            await().atMost(UplinkFixture.SOON).until(() -> fixture.proxy.ledgerTotal("pending") == 0);
            assertEquals(1, fixture.proxy.ledgerTotal("dead_lettered"));
            assertEquals(2, fixture.proxy.ledgerTotal("delivered"));
        }
    }

    /** The broker took it, its answer was lost: at QoS 1 it comes twice, with DUP; at QoS 2 once. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void acceptedAndTheAnswerLost(int qos) {
        try (UplinkFixture fixture = new UplinkFixture(Packets.V5, directory)) {
            AtomicInteger answers = new AtomicInteger();
            fixture.broker.uplink().sessionPresent(true).on(Packet.PUBLISH, (connection, publish) -> {
                if (answers.getAndIncrement() == 0) {
                    connection.reset();
                    return Packets.NONE;
                }
                return null;
            });
            fixture.publish(qos, 0, 1);
            fixture.awaitDelivered(1);
            List<Packet> sent = fixture.broker.uplinkReceived(Packet.PUBLISH);
            assertEquals(2, sent.size());
            assertFalse(sent.get(0).dup());
            assertTrue(sent.get(1).dup());
            assertEquals(sent.get(0).packetId(), sent.get(1).packetId(), "the broker knows it by that");
        }
    }

    private HoldfastProcess process(LinkAndUplinkBroker broker, int port, int adminPort, String... flags) {
        return HoldfastProcess.proxy(broker.url(), port, adminPort, directory.resolve("data"), flags)
                .with(LinkAndUplinkBroker.UPLINK_FLAG, LinkAndUplinkBroker.UPLINK);
    }

    private static void awaitDelivered(int adminPort, long count) {
        await().atMost(UplinkFixture.SOON)
                .until(() -> total(adminPort, "holdfast_outbox_delivered_total") == count && pending(adminPort) == 0);
    }

    private static long pending(int adminPort) {
        return total(adminPort, "holdfast_outbox_pending");
    }

    private static long total(int adminPort, String name) {
        return (long) new MetricsPage(adminPort)
                .text()
                .lines()
                .filter(line -> line.startsWith(name + "{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    private static List<String> messages(int from, int to) {
        return UplinkFixture.messages(from, to + 1);
    }
}
