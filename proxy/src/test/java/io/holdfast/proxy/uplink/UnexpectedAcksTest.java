package io.holdfast.proxy.uplink;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.AutoAnswers;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** QOS-09, QOS-12, COD-11: acknowledgements that come twice, fit nothing, come too early, or refuse. */
class UnexpectedAcksTest {
    private static final int NEVER_USED = 30_000;

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(ints = {Packets.V311, Packets.V5})
    void doubleAndUnknownAcksDoNotWidenTheWindow(int version) {
        try (UplinkFixture fixture = new UplinkFixture(version, directory, "--uplink-window", "5")) {
            AutoAnswers uplink = fixture.broker.uplink();
            AtomicInteger mostOpen = new AtomicInteger();
            uplink.keepBack(Packet.PUBLISH)
                    .on(
                            Packet.PUBLISH,
                            (connection, publish) -> Packets.concat(
                                    Packets.ack(Packet.PUBACK, publish.packetId()),
                                    Packets.ack(Packet.PUBACK, publish.packetId()),
                                    Packets.ack(Packet.PUBACK, NEVER_USED)));
            fixture.publish(1, 0, 100);
            for (int answered = 0; answered < 100; answered++) {
                await().pollDelay(Duration.ZERO)
                        .pollInterval(Duration.ofMillis(1))
                        .until(() -> uplink.heldCount() > 0);
                mostOpen.accumulateAndGet(uplink.heldCount(), Math::max);
                uplink.release(0);
            }
            fixture.awaitDelivered(100);
            assertTrue(mostOpen.get() <= 5, () -> "open at once: " + mostOpen);
            assertEquals(200, fixture.proxy.count(Meter.UPLINK_UNEXPECTED_ACK));
            assertEquals(0, fixture.proxy.count(Meter.UPLINK_LOST));
            assertEquals(
                    UplinkFixture.messages(0, 100),
                    UplinkFixture.payloads(fixture.broker.uplinkReceived(Packet.PUBLISH), version));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Packets.V311, Packets.V5})
    void pubrecForAnUnknownIdIsAnsweredSoThatTheBrokerForgetsIt(int version) {
        try (UplinkFixture fixture = new UplinkFixture(version, directory)) {
            fixture.broker
                    .uplink()
                    .on(
                            Packet.PUBLISH,
                            (connection, publish) -> Packets.concat(
                                    Packets.ack(Packet.PUBREC, NEVER_USED),
                                    Packets.ack(Packet.PUBACK, publish.packetId())));
            fixture.publish(1, 0, 1);
            Packet pubrel = fixture.broker.awaitUplink(Packet.PUBREL, 1).get(0);
            assertEquals(version == Packets.V5 ? "6203753092" : "62027530", pubrel.hex());
            fixture.awaitDelivered(1);
        }
    }

    @Test
    void aRefusingPubrecEndsTheFlowWithoutPubrel() {
        try (UplinkFixture fixture = new UplinkFixture(Packets.V5, directory)) {
            fixture.broker
                    .uplink()
                    .on(
                            Packet.PUBLISH,
                            (connection, publish) -> publish.text(Packets.V5).equals("m1")
                                    ? Packets.ack(
                                            publish.qos() == 2 ? Packet.PUBREC : Packet.PUBACK,
                                            publish.packetId(),
                                            0x87)
                                    : null);
            fixture.publish(2, 0, 3);
            await().until(() -> fixture.proxy.ledgerTotal("delivered") == 2);
            fixture.publish(1, 0, 3);
            await().until(() -> fixture.proxy.ledgerTotal("delivered") == 4);
            assertEquals(2, fixture.proxy.ledgerTotal("dead_lettered"));
            assertEquals(0, fixture.proxy.ledgerTotal("pending"));
            List<Integer> released = UplinkFixture.ids(fixture.broker.uplinkReceived(Packet.PUBREL));
            assertEquals(List.of(1, 3), released);
            assertEquals(1, fixture.broker.uplinkConnections().size(), "the connection stays");
        }
    }

    @Test
    void whatIsRefusedForATimeIsSentAgainAndNothingOvertakesItForGood() {
        try (UplinkFixture fixture = new UplinkFixture(Packets.V5, directory)) {
            AtomicInteger refusals = new AtomicInteger();
            fixture.broker
                    .uplink()
                    .on(
                            Packet.PUBLISH,
                            (connection, publish) ->
                                    publish.text(Packets.V5).equals("m0") && refusals.incrementAndGet() <= 3
                                            ? Packets.ack(Packet.PUBACK, publish.packetId(), 0x97)
                                            : null);
            fixture.publish(1, 0, 10);
            fixture.awaitDelivered(10);
            assertEquals(1, fixture.broker.uplinkConnections().size());
            List<Packet> ofM0 = fixture.broker.uplinkReceived(Packet.PUBLISH).stream()
                    .filter(publish -> publish.text(Packets.V5).equals("m0"))
                    .toList();
            assertEquals(4, ofM0.size());
            assertTrue(ofM0.stream().noneMatch(Packet::dup), "the refused flow has ended: each is a new one");
        }
    }

    @Test
    void anAckBeforeConnackIsNoAck() {
        try (UplinkFixture fixture = new UplinkFixture(Packets.V5, directory)) {
            AutoAnswers uplink = fixture.broker.uplink();
            uplink.keepBack(Packet.PUBLISH).sessionPresent(true);
            fixture.publish(1, 0, 1);
            await().until(() -> uplink.heldCount() == 1);
            uplink.dropHeld();
            AtomicInteger dials = new AtomicInteger();
            uplink.on(
                    Packet.CONNECT,
                    (connection, connect) -> dials.incrementAndGet() == 1
                            ? Packets.concat(
                                    Packets.ack(Packet.PUBACK, 1),
                                    Packets.ack(Packet.PUBREC, NEVER_USED),
                                    Packets.connack(Packets.V5, true, Packets.NONE))
                            : null);
            fixture.broker.cutUplink();
            await().atMost(UplinkFixture.SOON).until(() -> uplink.heldCount() == 1);
            assertEquals(0, fixture.proxy.ledgerTotal("delivered"));
            uplink.releaseAll();
            fixture.awaitDelivered(1);
        }
    }

    @Test
    void anAckWithIdZeroEndsTheConnectionAndLosesNothing() {
        try (UplinkFixture fixture = new UplinkFixture(Packets.V5, directory)) {
            AtomicInteger sent = new AtomicInteger();
            fixture.broker
                    .uplink()
                    .sessionPresent(true)
                    .on(
                            Packet.PUBLISH,
                            (connection, publish) -> sent.incrementAndGet() == 1 ? Packets.hex("40020000") : null);
            fixture.publish(1, 0, 2);
            fixture.awaitDelivered(2);
            assertEquals(1, fixture.proxy.count(Meter.BROKER_PROTOCOL_ERRORS));
        }
    }
}
