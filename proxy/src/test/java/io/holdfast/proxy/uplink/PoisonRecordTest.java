package io.holdfast.proxy.uplink;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.MosquittoBroker;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ProxyUnderTest;
import io.holdfast.proxy.testing.RawMqttClient;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A broker that hangs up on one message must not stop a lane: the message goes to the dead letters, its neighbours arrive. */
class PoisonRecordTest {
    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({"4, 1", "4, 2", "5, 1", "5, 2"})
    void neighboursOfARecordThatTheBrokerHangsUpOnArriveInOrder(int version, int qos) {
        try (UplinkFixture fixture = new UplinkFixture(version, directory)) {
            hangUpOn(fixture, version, "m7");
            fixture.publish(qos, 0, 20);
            await().atMost(UplinkFixture.SOON).until(() -> fixture.proxy.ledgerTotal("pending") == 0);
            assertEquals(1, fixture.proxy.ledgerTotal("dead_lettered"));
            assertEquals(19, fixture.proxy.ledgerTotal("delivered"));
            assertTrue(fixture.proxy.count(Meter.UPLINK_HUNG_UP) >= 6, "suspected, then alone three times");
            List<String> arrived = fixture.broker.uplinkReceived(Packet.PUBLISH).stream()
                    .map(packet -> packet.text(version))
                    .filter(text -> !text.equals("m7"))
                    .distinct()
                    .toList();
            assertEquals(
                    IntStream.range(0, 20)
                            .filter(i -> i != 7)
                            .mapToObj(i -> "m" + i)
                            .toList(),
                    arrived);
            fixture.publish(qos, 20, 30);
            await().atMost(UplinkFixture.SOON).until(() -> fixture.proxy.ledgerTotal("delivered") == 29);
        }
    }

    @Test
    void aLoneHangUpCountsOnlyBehindAPingresp() {
        try (UplinkFixture fixture = new UplinkFixture(Packets.V311, directory)) {
            hangUpOn(fixture, Packets.V311, "m0");
            fixture.publish(1, 0, 1);
            await().atMost(UplinkFixture.SOON).until(() -> fixture.proxy.ledgerTotal("dead_lettered") == 1);
            List<List<Packet>> connections = fixture.broker.uplinkConnections();
            List<List<Packet>> withPublish = connections.stream()
                    .filter(packets -> packets.stream().anyMatch(packet -> packet.type() == Packet.PUBLISH))
                    .toList();
            assertEquals(6, withPublish.size());
            for (List<Packet> alone : withPublish.subList(3, 6)) {
                List<Integer> types = alone.stream().map(Packet::type).toList();
                assertTrue(types.indexOf(Packet.PINGREQ) >= 0, () -> "no PINGREQ: " + types);
                assertTrue(types.indexOf(Packet.PINGREQ) < types.indexOf(Packet.PUBLISH), types::toString);
            }
        }
    }

    /** QoS 2: the broker may know the packet id, which comes round again after 65,535: PUBREL and PUBCOMP end the flow. */
    @Test
    void theFlowOfADeadLetterIsEndedAtTheBroker() {
        try (UplinkFixture fixture = new UplinkFixture(Packets.V5, directory)) {
            fixture.broker.uplink().sessionPresent(true);
            hangUpOn(fixture, Packets.V5, "m0");
            fixture.publish(2, 0, 2);
            await().atMost(UplinkFixture.SOON).until(() -> fixture.proxy.ledgerTotal("pending") == 0);
            assertEquals(1, fixture.proxy.ledgerTotal("dead_lettered"));
            int poisonId = fixture.broker.uplinkReceived(Packet.PUBLISH).get(0).packetId();
            assertTrue(UplinkFixture.ids(fixture.broker.uplinkReceived(Packet.PUBREL))
                    .contains(poisonId));
        }
    }

    @Test
    void aBrokerThatGoesDownIsNotBlamedOnARecord() {
        try (UplinkFixture fixture = new UplinkFixture(Packets.V5, directory)) {
            fixture.broker.uplink().on(Packet.PUBLISH, (connection, publish) -> {
                connection.send(Packets.disconnect(0x8B)); // server shutting down
                connection.close();
                return Packets.NONE;
            });
            fixture.publish(1, 0, 1);
            await().atMost(UplinkFixture.SOON)
                    .until(() -> fixture.broker.uplinkConnections().size() > 8);
            assertEquals(0, fixture.proxy.count(Meter.UPLINK_HUNG_UP));
            assertEquals(1, fixture.proxy.ledgerTotal("pending"));
        }
    }

    /** Mosquitto hangs up on a control character in a topic; its max_packet_size it tells an uplink of MQTT 5. */
    @ParameterizedTest
    @CsvSource({"'a\u0002', 0, 1", "'a\u0002', 0, 2", "a, 3000, 1", "a, 3000, 2"})
    void whatMosquittoDoesNotTakeStopsNobody(String poisonTopic, int padding, int qos) {
        try (MosquittoBroker broker = MosquittoBroker.create(directory.resolve("broker"), "max_packet_size 2000")) {
            broker.start();
            try (ProxyUnderTest proxy = ProxyUnderTest.start(broker.url(), directory.resolve("data"));
                    RawMqttClient subscriber = RawMqttClient.connect(broker.port(), Packets.V311, "s", true);
                    RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V5, "d", true)) {
                subscriber.send(Packets.subscribe(Packets.V311, 1, "#", 0));
                subscriber.expect(Packet.SUBACK, 1);
                for (int id = 1; id <= 9; id++) {
                    String topic = id == 5 ? poisonTopic : "a";
                    device.send(Packets.publish(
                            Packets.V5, qos, id, topic, "m" + id + (id == 5 ? "x".repeat(padding) : "")));
                    device.expect(qos == 1 ? Packet.PUBACK : Packet.PUBREC, id);
                }
                await().atMost(UplinkFixture.SOON).until(() -> proxy.ledgerTotal("pending") == 0);
                assertEquals(1, proxy.ledgerTotal("dead_lettered"));
                assertEquals(8, proxy.ledgerTotal("delivered"));
                for (int i = 1; i <= 9; i++) {
                    if (i != 5) {
                        assertEquals("m" + i, nextNew(subscriber, "m" + (i - 1)));
                    }
                }
            }
        }
    }

    /** At QoS 1 what was in flight at a hang-up may come twice. */
    private static String nextNew(RawMqttClient subscriber, String before) {
        String text = subscriber.expect(Packet.PUBLISH).text(Packets.V311);
        while (number(text) <= number(before)) {
            text = subscriber.expect(Packet.PUBLISH).text(Packets.V311);
        }
        return text;
    }

    private static int number(String text) {
        return Integer.parseInt(text.substring(1));
    }

    private static void hangUpOn(UplinkFixture fixture, int version, String payload) {
        fixture.broker.uplink().on(Packet.PUBLISH, (connection, publish) -> {
            if (publish.text(version).equals(payload)) {
                connection.close();
                return Packets.NONE;
            }
            return null;
        });
    }
}
