package io.holdfast.proxy.uplink;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.AutoAnswers;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** QOS-10, BRG-03: late and swallowed acknowledgements. On a live connection nothing is sent again [MQTT-4.4.0-1]. */
class MissingAckStallsTheUplinkTest {
    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({"1, 4", "1, 5", "2, 5"})
    void aSwallowedAckIsCuredByANewConnection(int qos, int version) {
        try (UplinkFixture fixture =
                new UplinkFixture(version, directory, "--uplink-window", "1", "--ack-timeout", "700ms")) {
            AtomicInteger publishes = new AtomicInteger();
            fixture.broker
                    .uplink()
                    .sessionPresent(true)
                    .on(
                            Packet.PUBLISH,
                            (connection, publish) -> publishes.incrementAndGet() == 51 ? Packets.NONE : null);
            fixture.publish(qos, 0, 60);
            fixture.awaitDelivered(60);
            assertEquals(1, fixture.proxy.count(Meter.UPLINK_RECYCLED));
            int connections = fixture.broker.uplinkConnections().size();
            assertEquals(
                    UplinkFixture.messages(0, 51),
                    UplinkFixture.payloads(fixture.onConnection(connections - 2, Packet.PUBLISH), version));
            List<Packet> after = fixture.onConnection(connections - 1, Packet.PUBLISH);
            assertEquals(UplinkFixture.messages(50, 60), UplinkFixture.payloads(after, version));
            assertTrue(after.get(0).dup());
            assertTrue(after.stream().skip(1).noneMatch(Packet::dup));
        }
    }

    /** [MQTT-4.3.3-7]: expiry does not touch what the broker may have; it is told the shortest time that there is. */
    @Test
    void whatExpiresInFlightIsSentAgain() {
        try (UplinkFixture fixture = new UplinkFixture(Packets.V5, directory, "--ack-timeout", "1500ms");
                RawMqttClient device = RawMqttClient.connect(fixture.proxy.port(), Packets.V5, "d", true)) {
            AtomicInteger publishes = new AtomicInteger();
            fixture.broker
                    .uplink()
                    .sessionPresent(true)
                    .on(
                            Packet.PUBLISH,
                            (connection, publish) -> publishes.incrementAndGet() == 1 ? Packets.NONE : null);
            byte[] oneSecond = Packets.property32(0x02, 1);
            device.send(Packets.publishFlags(Packets.V5, 4, 1, "t", oneSecond, new byte[1]));
            device.expect(Packet.PUBREC, 1);
            fixture.awaitDelivered(1);
            List<Packet> sent = fixture.broker.uplinkReceived(Packet.PUBLISH);
            assertEquals(2, sent.size());
            assertTrue(sent.get(1).dup());
            assertArrayEquals(oneSecond, sent.get(1).publishProperties());
        }
    }

    @ParameterizedTest
    @CsvSource({"6", "7"})
    void aSwallowedPubcompIsCuredByANewConnection(int swallowed) {
        try (UplinkFixture fixture = new UplinkFixture(Packets.V5, directory, "--ack-timeout", "700ms")) {
            AtomicInteger pubrels = new AtomicInteger();
            fixture.broker
                    .uplink()
                    .sessionPresent(true)
                    .on(
                            Packet.PUBREL,
                            (connection, pubrel) -> pubrels.incrementAndGet() == swallowed ? Packets.NONE : null);
            fixture.publish(2, 0, 10);
            fixture.awaitDelivered(10);
            assertEquals(1, fixture.proxy.count(Meter.UPLINK_RECYCLED));
            assertEquals(
                    UplinkFixture.messages(0, 10),
                    UplinkFixture.payloads(fixture.broker.uplinkReceived(Packet.PUBLISH), Packets.V5));
            assertEquals(11, fixture.broker.uplinkReceived(Packet.PUBREL).size());
        }
    }

    @Test
    void lateAcksAreAcceptedAndNothingIsSentTwice() {
        try (UplinkFixture fixture = new UplinkFixture(Packets.V5, directory, "--ack-timeout", "30s")) {
            AutoAnswers uplink = fixture.broker.uplink();
            uplink.keepBack(Packet.PUBLISH);
            fixture.publish(1, 0, 50);
            await().until(() -> uplink.heldCount() == 50);
            await().during(Duration.ofMillis(1_500)).until(() -> uplink.heldCount() == 50);
            uplink.releaseAll();
            fixture.awaitDelivered(50);
            assertEquals(50, fixture.broker.uplinkReceived(Packet.PUBLISH).size());
            assertEquals(0, fixture.proxy.count(Meter.UPLINK_UNEXPECTED_ACK));
            assertFalse(fixture.broker.uplinkConnections().size() > 1);
        }
    }
}
