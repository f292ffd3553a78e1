package io.holdfast.proxy.guard;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.holdfast.proxy.deadletter.OfflineDesk;
import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.LinkAndUplinkBroker;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ProxyUnderTest;
import io.holdfast.proxy.testing.RawMqttClient;
import io.holdfast.store.DeadLetter;
import io.holdfast.store.DeadLetterReason;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code --on-cap-violation dead-letter}. */
class CapViolationsCanBeKeptTest {
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final byte[] TOO_MUCH = new byte[1025];

    @TempDir
    Path directory;

    private LinkAndUplinkBroker broker;
    private ProxyUnderTest proxy;

    @BeforeEach
    void start() {
        broker = LinkAndUplinkBroker.start();
        proxy = startProxy();
    }

    private ProxyUnderTest startProxy() {
        return ProxyUnderTest.start(
                broker.url(),
                directory,
                LinkAndUplinkBroker.UPLINK_FLAG,
                LinkAndUplinkBroker.UPLINK,
                "--on-cap-violation",
                "dead-letter",
                "--max-payload",
                "1KiB",
                "--max-packet-size",
                "64KiB",
                "--route",
                "hold h/#",
                "--route",
                "outbox #");
    }

    @AfterEach
    void stop() {
        proxy.close();
        broker.close();
    }

    @ParameterizedTest
    @CsvSource({"4, 1", "4, 2", "5, 1", "5, 2"})
    void itIsAcknowledgedKeptAndNotSentUntilItIsReplayed(int version, int qos) throws Exception {
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), version, "d", true)) {
            send(device, version, qos, 1, "t", Packets.NONE, TOO_MUCH);
            send(device, version, qos, 2, "t", Packets.NONE, new byte[1024]);
        }
        await().atMost(SOON).until(() -> proxy.ledgerTotal("pending") == 0);
        assertEquals(1, proxy.ledgerTotal("dead_lettered"));
        assertEquals(1, proxy.ledgerTotal("delivered"));
        assertEquals(0, proxy.count(Meter.DROPPED_CAP_PAYLOAD));

        proxy.close();
        List<DeadLetter> kept = new ArrayList<>();
        try (OfflineDesk offline = OfflineDesk.open(directory)) {
            assertEquals(1, offline.desk().replay(kept::add, 10, false).replayed());
        }
        assertEquals(DeadLetterReason.CAP, kept.get(0).reason());
        assertEquals("a payload over --max-payload", kept.get(0).text());
        proxy = startProxy();
        await().atMost(SOON).until(() -> proxy.ledgerTotal("delivered") == 2);
        List<Packet> sent = broker.uplinkReceived(Packet.PUBLISH);
        assertArrayEquals(TOO_MUCH, sent.get(sent.size() - 1).payload(Packets.V5));
    }

    @Test
    void withTheBrokerAwayToo() {
        proxy.close();
        broker.refuseUplink();
        proxy = startProxy();
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V5, "d", true)) {
            send(device, Packets.V5, 2, 1, "t", userProperties(129), new byte[1]);
            await().atMost(SOON).until(() -> proxy.ledgerTotal("dead_lettered") == 1);
            send(device, Packets.V5, 2, 2, "t", userProperties(128), new byte[1]);
        }
        assertEquals(1, proxy.ledgerTotal("pending"));
    }

    /** There is no outbox behind them: acknowledged, dropped and counted. */
    @Test
    void qos0AndHoldRoutesAreAsBefore() {
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V5, "d", true)) {
            device.send(Packets.publishFlags(Packets.V5, 0, 0, "t", Packets.NONE, TOO_MUCH));
            send(device, Packets.V5, 1, 1, "h/1", Packets.NONE, TOO_MUCH);
            send(device, Packets.V5, 2, 2, "h/1", Packets.NONE, TOO_MUCH);
        }
        assertEquals(3, proxy.count(Meter.DROPPED_CAP_PAYLOAD));
        assertEquals(0, proxy.ledgerTotal("dead_lettered"));
        assertEquals(0, broker.linkReceived(Packet.PUBLISH).size());
    }

    private static void send(
            RawMqttClient device, int version, int qos, int id, String topic, byte[] properties, byte[] payload) {
        device.send(Packets.publishFlags(version, qos << 1, id, topic, properties, payload));
        assertEquals(
                0, device.expect(qos == 1 ? Packet.PUBACK : Packet.PUBREC, id).reasonCode());
        if (qos == 2) {
            device.send(Packets.ack(Packet.PUBREL, id));
            assertEquals(0, device.expect(Packet.PUBCOMP, id).reasonCode());
        }
    }

    private static byte[] userProperties(int count) {
        return Packets.concat(
                Collections.nCopies(count, Packets.userProperty("k", "v")).toArray(new byte[0][]));
    }
}
