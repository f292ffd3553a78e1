package io.holdfast.proxy.uplink;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** STO-10: with drop-oldest devices are served on, the disk stays bounded, and exactly the newest remain. */
class DropOldestTest {
    private static final int COUNT = 400;
    private static final int PAYLOAD = 8_000;

    @TempDir
    Path directory;

    private String[] flags(String route) {
        return new String[] {
            "--route=" + route,
            "--segment-bytes",
            "256KiB",
            "--outbox-max-bytes=2MiB",
            "--max-packet-size=16KiB",
            "--max-payload=9KiB",
            "--max-metadata=1KiB"
        };
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void theNewestRemain(int qos) {
        try (UplinkFixture fixture = UplinkFixture.refused(directory, flags("outbox:when-full=drop-oldest #"))) {
            publish(fixture, qos, COUNT);
            assertDrainsToTheNewest(fixture);
        }
    }

    /** What the broker's session may have stands at the head of the log: the session is given up, or nothing could go. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void whatWasInFlightAtTheOutageIsNoObstacle(int qos) {
        try (UplinkFixture fixture =
                new UplinkFixture(Packets.V5, directory, flags("outbox:when-full=drop-oldest #"))) {
            fixture.broker.uplink().sessionPresent(true).swallow(Packet.PUBLISH);
            fixture.publish(qos, 0, 3);
            fixture.broker.awaitUplink(Packet.PUBLISH, 3);
            fixture.broker.refuseUplink();
            fixture.broker.cutUplink();
            publish(fixture, qos, COUNT);
            fixture.broker.uplink().on(Packet.PUBLISH, (connection, publish) -> null);
            assertDrainsToTheNewest(fixture);
            assertTrue(
                    fixture.broker.uplinkReceived(Packet.PUBLISH).stream()
                            .skip(3)
                            .noneMatch(Packet::dup),
                    "a new session knows no packet id");
        }
    }

    @Test
    void dropNewKeepsTheOldest() {
        try (UplinkFixture fixture = UplinkFixture.refused(directory, flags("outbox:when-full=drop-new #"))) {
            publish(fixture, 2, COUNT);
            long stored = fixture.proxy.ledgerTotal("pending");
            assertTrue(stored > 10 && stored < COUNT, () -> stored + " stored");
            assertEquals(COUNT - stored, fixture.proxy.ledgerTotal("new"));
            fixture.broker.acceptUplink();
            fixture.awaitDelivered(stored);
            List<Integer> numbers = numbers(fixture);
            assertEquals(0, numbers.get(0));
            assertEquals(stored - 1, (long) numbers.get(numbers.size() - 1));
        }
    }

    private static void assertDrainsToTheNewest(UplinkFixture fixture) {
        fixture.broker.acceptUplink();
        await().atMost(UplinkFixture.SOON).until(() -> fixture.proxy.ledgerTotal("pending") == 0);
        long delivered = fixture.proxy.ledgerTotal("delivered");
        long dropped = fixture.proxy.ledgerTotal("oldest");
        assertTrue(delivered > 20, () -> delivered + " remained");
        assertEquals(fixture.proxy.ledgerTotal("accepted"), delivered + dropped);
        List<Integer> numbers = numbers(fixture);
        for (int i = 1; i <= delivered; i++) {
            assertEquals(COUNT - i, numbers.get(numbers.size() - i), "the newest, in order");
        }
    }

    private static List<Integer> numbers(UplinkFixture fixture) {
        return fixture.broker.uplinkReceived(Packet.PUBLISH).stream()
                .map(packet -> packet.text(Packets.V5).trim())
                .filter(text -> !text.startsWith("m"))
                .map(Integer::valueOf)
                .toList();
    }

    /** Each is acknowledged, although there is room for a tenth of them. */
    private static void publish(UplinkFixture fixture, int qos, int count) {
        try (RawMqttClient device = RawMqttClient.connect(fixture.proxy.port(), Packets.V311, "dev", true)) {
            for (int i = 0; i < count; i++) {
                int id = 1 + i % 60_000;
                String payload = i + " ".repeat(PAYLOAD);
                device.send(Packets.publish(Packets.V311, qos, id, "t", payload));
                device.expect(qos == 1 ? Packet.PUBACK : Packet.PUBREC, id);
                if (qos == 2) {
                    device.send(Packets.ack(Packet.PUBREL, id));
                    device.expect(Packet.PUBCOMP, id);
                }
            }
        }
    }
}
