package io.holdfast.proxy.admission;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.LinkAndUplinkBroker;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ProxyUnderTest;
import io.holdfast.proxy.testing.RawMqttClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** QOS-02, -15, -19, -20: QoS 2 flows of a device that repeats itself, is cut, or releases what nobody knows. */
class Qos2FlowsOfDevicesTest {
    private static final int SESSION_EXPIRY = 0x11;
    private static final String HOLD_THEN_OUTBOX = "hold h/#";

    @TempDir
    Path directory;

    private LinkAndUplinkBroker broker;
    private ProxyUnderTest proxy;

    @BeforeEach
    void startBroker() {
        broker = LinkAndUplinkBroker.start();
    }

    @AfterEach
    void stop() {
        if (proxy != null) {
            proxy.close();
        }
        broker.close();
    }

    private void startProxy(String... routes) {
        List<String> flags = new ArrayList<>(List.of(LinkAndUplinkBroker.UPLINK_FLAG, LinkAndUplinkBroker.UPLINK));
        for (String route : routes) {
            flags.addAll(List.of("--route", route));
        }
        proxy = ProxyUnderTest.start(broker.url(), directory, flags.toArray(new String[0]));
    }

    private RawMqttClient connectWithSession(int version) {
        RawMqttClient device = RawMqttClient.open(proxy.port());
        device.send(new Packets.Connect(version, "d")
                .cleanStart(false)
                .properties(Packets.property32(SESSION_EXPIRY, 1000))
                .bytes());
        assertEquals(0, device.expect(Packet.CONNACK).reasonCode());
        return device;
    }

    private static byte[] publish(int version, int id, boolean dup) {
        return Packets.publishFlags(
                version, dup ? 0x0C : 0x04, id, "a", Packets.NONE, ("m" + id).getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @ValueSource(ints = {Packets.V31, Packets.V311, Packets.V5})
    void copiesBeforePubrelAreAnsweredAndStoredOnce(int version) {
        startProxy();
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), version, "d", true)) {
            for (int copy = 0; copy < 6; copy++) {
                device.send(publish(version, 7, copy > 0));
            }
            for (int copy = 0; copy < 6; copy++) {
                assertEquals("50020007", device.expect(Packet.PUBREC).hex());
            }
            device.send(Packets.ack(Packet.PUBREL, 7));
            assertEquals("70020007", device.expect(Packet.PUBCOMP).hex());
            device.send(publish(version, 7, false)); // the id is free again: a new message
            device.expect(Packet.PUBREC, 7);
        }
        await().untilAsserted(() -> assertEquals(2, proxy.ledgerTotal("delivered")));
        assertEquals(2, proxy.ledgerTotal("accepted"));
        assertEquals(5, proxy.count(Meter.PUBLISH_DUPLICATE));
    }

    @ParameterizedTest
    @ValueSource(ints = {Packets.V311, Packets.V5})
    void copiesOnAHoldRoutePassAndNeitherLeakTheBrokersWindow(int version) {
        broker.link().connackProperties(Packets.property16(0x21, 3));
        startProxy("hold #");
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), version, "d", true)) {
            for (int round = 0; round < 5; round++) {
                device.send(publish(version, 7, false));
                device.expect(Packet.PUBREC, 7);
                device.send(publish(version, 7, true));
                device.expect(Packet.PUBREC, 7);
                device.send(Packets.ack(Packet.PUBREL, 7));
                device.expect(Packet.PUBCOMP, 7);
            }
            for (int id = 1; id <= 10; id++) {
                device.send(Packets.publish(version, 1, id, "a", "q1"));
                device.expect(Packet.PUBACK, id);
            }
            assertEquals(20, broker.awaitLink(Packet.PUBLISH, 20).size());
        }
    }

    @ParameterizedTest
    @CsvSource({"4, false", "4, true", "5, false", "5, true"})
    void whatWasReceivedBeforeACutIsReleasedAfterIt(int version, boolean restart) {
        broker.link().sessionPresent(true);
        broker.uplink().sessionPresent(true);
        startProxy();
        int count = 200;
        try (RawMqttClient device = connectWithSession(version)) {
            for (int id = 1; id <= count; id++) {
                device.send(publish(version, id, false));
            }
            for (int id = 1; id <= count; id++) {
                device.expect(Packet.PUBREC, id);
            }
            device.reset();
        }
        if (restart) {
            proxy.close();
            startProxy();
        }
        try (RawMqttClient device = connectWithSession(version)) {
            device.send(publish(version, 5, false)); // as one that sends again without DUP
            device.expect(Packet.PUBREC, 5);
            for (int id = 1; id <= count; id++) {
                device.send(Packets.ack(Packet.PUBREL, id));
            }
            for (int id = 1; id <= count; id++) {
                assertEquals(
                        String.format("7002%04x", id),
                        device.expect(Packet.PUBCOMP).hex());
            }
        }
        await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> assertEquals(count, proxy.ledgerTotal("delivered")));
        assertEquals(count, proxy.ledgerTotal("accepted"));
        assertEquals(
                count,
                broker.uplinkReceived(Packet.PUBLISH).stream()
                        .map(packet -> packet.text(Packets.V5))
                        .distinct()
                        .count());
    }

    @ParameterizedTest
    @ValueSource(ints = {Packets.V311, Packets.V5})
    void theReceivedIdsEndWithTheSession(int version) {
        broker.link().sessionPresent(true);
        startProxy();
        try (RawMqttClient device = connectWithSession(version)) {
            device.send(publish(version, 7, false));
            device.expect(Packet.PUBREC, 7);
            device.reset();
        }
        broker.link().sessionPresent(false);
        try (RawMqttClient device = connectWithSession(version)) {
            device.send(publish(version, 7, true)); // to a broker without that session it is a new message
            device.expect(Packet.PUBREC, 7);
            device.reset();
        }
        proxy.close();
        startProxy();
        broker.link().sessionPresent(true);
        try (RawMqttClient device = connectWithSession(version)) {
            device.send(publish(version, 7, true)); // and this a copy of the second one
            device.expect(Packet.PUBREC, 7);
            device.send(Packets.ack(Packet.PUBREL, 7));
            device.expect(Packet.PUBCOMP, 7);
        }
        await().untilAsserted(() -> assertEquals(2, proxy.ledgerTotal("accepted")));
    }

    @ParameterizedTest
    @CsvSource({"4, 70020007, 70020007", "5, 7003000792, 70020007"})
    void pubrelOfAnUnknownIdIsAnsweredHereWhenNoRouteIsHold(int version, String unknown, String known) {
        startProxy();
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), version, "d", true)) {
            device.send(Packets.ack(Packet.PUBREL, 7));
            assertEquals(unknown, device.expect(Packet.PUBCOMP).hex());
            device.send(publish(version, 7, false));
            device.expect(Packet.PUBREC, 7);
            device.send(Packets.concat(Packets.ack(Packet.PUBREL, 7), Packets.ack(Packet.PUBREL, 7)));
            assertEquals(known, device.expect(Packet.PUBCOMP).hex());
            assertEquals(unknown, device.expect(Packet.PUBCOMP).hex());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Packets.V311, Packets.V5})
    void pubrelOfAnUnknownIdIsTheBrokersWhenARouteIsHold(int version) {
        startProxy(HOLD_THEN_OUTBOX, "outbox #");
        byte[] answer = version == Packets.V5 ? Packets.ack(Packet.PUBCOMP, 9, 0x92) : Packets.ack(Packet.PUBCOMP, 9);
        broker.link().on(Packet.PUBREL, (connection, pubrel) -> answer);
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), version, "d", true)) {
            device.send(Packets.ack(Packet.PUBREL, 9));
            assertEquals(
                    Packets.concat(answer).length,
                    device.expect(Packet.PUBCOMP, 9).bytes().length);
            assertEquals(1, broker.linkReceived(Packet.PUBREL).size());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Packets.V311, Packets.V5})
    void qos1CopiesWithoutDupAreAcknowledgedEach(int version) {
        startProxy(HOLD_THEN_OUTBOX, "outbox #");
        broker.link().keepBack(Packet.PUBLISH);
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), version, "d", true)) {
            for (String topic : List.of("o", "h/1")) {
                device.send(Packets.publish(version, 1, 5, topic, "m"));
                device.send(Packets.publish(version, 1, 5, topic, "m"));
            }
            await().until(() -> broker.link().heldCount() == 2);
            broker.link().releaseAll();
            for (int i = 0; i < 4; i++) {
                device.expect(Packet.PUBACK, 5);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Packets.V311, Packets.V5})
    void holdPassesDupAndTheRefusalOfPubrecAsTheyAre(int version) {
        startProxy("hold #");
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), version, "d", true)) {
            byte[] dup = publish(version, 7, true);
            device.send(dup);
            device.expect(Packet.PUBREC, 7);
            assertTrue(broker.awaitLink(Packet.PUBLISH, 1).get(0).dup(), "end to end, the id is the device's own");
            if (version == Packets.V5) {
                broker.link().on(Packet.PUBLISH, (connection, publish) -> Packets.ack(Packet.PUBREC, 8, 0x87));
                device.send(publish(version, 8, false));
                assertEquals("5003000887", device.expect(Packet.PUBREC).hex());
                broker.link().on(Packet.PUBLISH, (connection, publish) -> null);
                device.send(publish(version, 8, false));
                device.expect(Packet.PUBREC, 8);
            }
        }
    }
}
