package io.holdfast.proxy.link;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.metrics.Meter;
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
import org.junit.jupiter.params.provider.ValueSource;

/** DESIGN "link lost": the device stays, and what the redial carries. */
class LinkBreaksWhileTheDeviceStaysTest {
    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(ints = {Packets.V311, Packets.V5})
    void outboxGoesOnInTheOutageAndTheRestIsAnsweredAfterIt(int version) {
        try (LinkFixture fixture = new LinkFixture(directory);
                RawMqttClient device = fixture.connect(version, true)) {
            fixture.broker.link().sessionPresent(true);
            fixture.brokerGoesAway();
            await().until(() -> fixture.proxy.count(Meter.LINK_LOST) == 1);
            for (int id = 1; id <= 100; id++) {
                device.send(Packets.publish(version, 1, id, "o/1", "m" + id));
                device.expect(Packet.PUBACK, id);
            }
            device.send(Packets.subscribe(version, 200, "s/#", 1));
            device.send(Packets.publish(version, 1, 101, "h/1", "held"));
            device.send(Packets.unsubscribe(version, 201, "s/#"));
            device.send(Packets.publish(version, 1, 102, "o/1", "behind"));
            device.send(Packets.pingreq());
            device.expect(Packet.PINGRESP);
            device.expectSilence(Duration.ofMillis(500));

            fixture.brokerComesBack();
            device.expect(Packet.SUBACK, 200);
            List<Packet> answers = List.of(
                    device.readPacket(LinkFixture.SOON),
                    device.readPacket(LinkFixture.SOON),
                    device.readPacket(LinkFixture.SOON));
            assertEquals(
                    List.of(101, 102),
                    answers.stream()
                            .filter(packet -> packet.type() == Packet.PUBACK)
                            .map(Packet::packetId)
                            .toList());
            assertTrue(answers.stream().anyMatch(packet -> packet.type() == Packet.UNSUBACK), answers::toString);
            List<Packet> redialled = fixture.latestLink();
            assertFalse(redialled.get(0).cleanStart());
            assertEquals(
                    List.of(Packet.SUBSCRIBE, Packet.PUBLISH, Packet.UNSUBSCRIBE),
                    redialled.subList(1, 4).stream().map(Packet::type).toList());
            assertFalse(redialled.get(2).dup(), "it had never been sent");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Packets.V311, Packets.V5})
    void whatTheBrokerMayHaveGoesAgainWithDupInTheOldOrder(int version) {
        try (LinkFixture fixture = new LinkFixture(directory);
                RawMqttClient device = fixture.connect(version, true)) {
            fixture.broker.link().sessionPresent(true);
            device.send(Packets.publish(version, 2, 1, "h/1", "two"));
            device.expect(Packet.PUBREC, 1);
            fixture.broker.link().swallow(Packet.PUBLISH).swallow(Packet.PUBREL);
            device.send(Packets.publish(version, 1, 2, "h/1", "one"));
            device.send(Packets.ack(Packet.PUBREL, 1));
            device.send(Packets.publish(version, 2, 3, "h/1", "three"));
            fixture.broker.awaitLink(Packet.PUBLISH, 3);
            fixture.broker
                    .link()
                    .on(Packet.PUBLISH, (connection, p) -> null)
                    .on(Packet.PUBREL, (connection, p) -> null);
            fixture.broker.cutLinks();
            device.expect(Packet.PUBACK, 2);
            List<Packet> redialled = fixture.latestLink();
            assertEquals(
                    List.of("PUBLISH 2 true", "PUBREL 1", "PUBLISH 3 true"),
                    redialled.subList(1, 4).stream()
                            .map(packet -> packet.type() == Packet.PUBREL
                                    ? "PUBREL " + packet.packetId()
                                    : "PUBLISH " + packet.packetId() + " " + packet.dup())
                            .toList());
            List<Packet> rest = List.of(device.readPacket(LinkFixture.SOON), device.readPacket(LinkFixture.SOON));
            assertEquals(
                    1,
                    rest.stream()
                            .filter(packet -> packet.type() == Packet.PUBCOMP)
                            .count());
            assertEquals(
                    1,
                    rest.stream()
                            .filter(packet -> packet.type() == Packet.PUBREC)
                            .count());
        }
    }

    @Test
    void anEmptySessionOfARedialIsEndedBeforeTheV5DeviceIsClosed() {
        try (LinkFixture fixture = new LinkFixture(directory);
                RawMqttClient device = fixture.connect(Packets.V5, true)) {
            fixture.broker.cutLinks();
            Packet disconnect = device.readPacket(LinkFixture.SOON);
            assertEquals(Packet.DISCONNECT, disconnect.type());
            device.expectClosed(LinkFixture.SOON);
            List<Packet> redialled = fixture.latestLink();
            assertFalse(redialled.get(0).cleanStart());
            assertEquals("e00700051100000000", redialled.get(1).hex(), "Session Expiry Interval 0");
            assertEquals(1, fixture.proxy.count(Meter.LINK_SESSION_LOST));
        }
    }

    @Test
    void anEmptySessionOfARedialIsErasedBeforeThe311DeviceIsClosed() {
        try (LinkFixture fixture = new LinkFixture(directory);
                RawMqttClient device = fixture.connect(Packets.V311, true)) {
            fixture.broker.cutLinks();
            device.expectClosed(LinkFixture.SOON);
            List<Packet> redialled = fixture.broker.linkConnections().get(1);
            assertFalse(redialled.get(0).cleanStart());
            assertEquals("e000", redialled.get(1).hex());
            await().until(() -> fixture.broker.linkConnections().size() == 3
                    && fixture.latestLink().size() == 2);
            assertTrue(fixture.latestLink().get(0).cleanStart());
            assertEquals("e000", fixture.latestLink().get(1).hex());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Packets.V311, Packets.V5})
    void withoutASessionTheSubscriptionsAreMadeAgain(int version) {
        try (LinkFixture fixture = new LinkFixture(directory);
                RawMqttClient device = fixture.connect(version, false)) {
            fixture.broker
                    .link()
                    .on(
                            Packet.SUBSCRIBE,
                            (connection, subscribe) ->
                                    subscribe.packetId() == 3 ? Packets.suback(version, Packet.SUBACK, 3, 0x80) : null);
            device.send(Packets.subscribe(version, 1, "a/#", 1));
            device.send(Packets.subscribe(version, 2, "gone/#", 1));
            device.send(Packets.subscribe(version, 3, "refused/#", 1));
            device.expect(Packet.SUBACK, 1);
            device.expect(Packet.SUBACK, 2);
            device.expect(Packet.SUBACK, 3);
            device.send(Packets.unsubscribe(version, 4, "gone/#"));
            device.expect(Packet.UNSUBACK, 4);
            fixture.broker.link().swallow(Packet.PUBLISH);
            device.send(Packets.publish(version, 1, 5, "h/1", "held"));
            fixture.broker.awaitLink(Packet.PUBLISH, 1);
            fixture.broker.link().on(Packet.PUBLISH, (connection, publish) -> null);
            fixture.broker.cutLinks();

            device.expect(Packet.PUBACK, 5);
            List<Packet> redialled = fixture.latestLink();
            assertTrue(redialled.get(0).cleanStart());
            assertEquals(Packet.SUBSCRIBE, redialled.get(1).type());
            assertTrue(redialled.get(1).hex().contains("0003612f23"), "a/#: " + redialled.get(1));
            assertFalse(redialled.get(1).hex().contains("676f6e65"), "gone/# was unsubscribed: " + redialled.get(1));
            assertFalse(redialled.get(1).hex().contains("72656675"), "refused/# was refused: " + redialled.get(1));
            assertEquals(Packet.PUBLISH, redialled.get(2).type());
            assertFalse(redialled.get(2).dup(), "the broker has no session that knows it");
            device.send(Packets.pingreq());
            assertEquals(Packet.PINGRESP, device.readPacket(LinkFixture.SOON).type(), "no SUBACK for the device");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Packets.V311, Packets.V5})
    void aDeviceWithQos2AtTheBrokerIsClosedWhenItsStateIsLost(int version) {
        try (LinkFixture fixture = new LinkFixture(directory);
                RawMqttClient device = fixture.connect(version, false)) {
            device.send(Packets.publish(version, 2, 1, "h/1", "two"));
            device.expect(Packet.PUBREC, 1);
            fixture.broker.cutLinks();
            if (version == Packets.V5) {
                device.expect(Packet.DISCONNECT);
            }
            device.expectClosed(LinkFixture.SOON);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Packets.V311, Packets.V5})
    void withHoldRoutesOnlyTheDeviceIsClosedWithItsLink(int version) {
        try (LinkFixture fixture = new LinkFixture(directory, "--route", "hold #");
                RawMqttClient device = fixture.connect(version, true)) {
            fixture.broker.cutLinks();
            if (version == Packets.V5) {
                device.expect(Packet.DISCONNECT);
            }
            device.expectClosed(LinkFixture.SOON);
            assertEquals(1, fixture.broker.linkConnections().size());
        }
    }

    @ParameterizedTest
    @CsvSource({"4, 20020003", "5, 2003008800", "5, 2003009700"})
    void aRedialRefusedForATimeIsTriedAgain(int version, String refusal) {
        try (LinkFixture fixture = new LinkFixture(directory);
                RawMqttClient device = fixture.connect(version, true)) {
            AtomicInteger dials = new AtomicInteger();
            fixture.broker
                    .link()
                    .sessionPresent(true)
                    .on(
                            Packet.CONNECT,
                            (connection, connect) -> dials.incrementAndGet() <= 2 ? Packets.hex(refusal) : null);
            fixture.broker.cutLinks();
            device.send(Packets.publish(version, 1, 1, "h/1", "held"));
            device.expect(Packet.PUBACK, 1);
            assertEquals(4, fixture.broker.linkConnections().size());
        }
    }

    @ParameterizedTest
    @CsvSource({"4, 20020005", "5, 2003008700"})
    void aRedialRefusedForGoodClosesTheDevice(int version, String refusal) {
        try (LinkFixture fixture = new LinkFixture(directory);
                RawMqttClient device = fixture.connect(version, true)) {
            fixture.broker.link().on(Packet.CONNECT, (connection, connect) -> Packets.hex(refusal));
            fixture.broker.cutLinks();
            if (version == Packets.V5) {
                assertEquals(
                        Packet.DISCONNECT, device.readPacket(LinkFixture.SOON).type());
            }
            device.expectClosed(LinkFixture.SOON);
            assertEquals(2, fixture.broker.linkConnections().size());
            assertEquals(0, fixture.proxy.count(Meter.LINK_SESSION_LOST));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0x8B, 0x88, 0x89})
    void aDisconnectForTheBrokersOwnTroubleIsRedialled(int reason) {
        try (LinkFixture fixture = new LinkFixture(directory);
                RawMqttClient device = fixture.connect(Packets.V5, true)) {
            fixture.broker.link().sessionPresent(true).on(Packet.PUBLISH, (connection, publish) -> {
                connection.send(Packets.disconnect(reason));
                connection.close();
                return Packets.NONE;
            });
            device.send(Packets.publish(Packets.V5, 1, 1, "h/1", "held"));
            fixture.broker.awaitLink(Packet.PUBLISH, 1);
            fixture.broker.link().on(Packet.PUBLISH, (connection, publish) -> null);
            device.expect(Packet.PUBACK, 1);
        }
    }

    @ParameterizedTest
    @CsvSource({"8E, e0018e", "98, e00198", "87, e00187"})
    void aKickPassesToTheDeviceAndIsNotRedialled(String reason, String hex) {
        try (LinkFixture fixture = new LinkFixture(directory);
                RawMqttClient device = fixture.connect(Packets.V5, true)) {
            fixture.broker
                    .link()
                    .on(Packet.PUBLISH, (connection, publish) -> Packets.disconnect(Integer.parseInt(reason, 16)));
            device.send(Packets.publish(Packets.V5, 0, 0, "q", "kick me"));
            assertEquals(hex, device.expect(Packet.DISCONNECT).hex());
            device.expectClosed(LinkFixture.SOON);
            assertEquals(1, fixture.broker.linkConnections().size());
        }
    }
}
