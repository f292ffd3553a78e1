package io.holdfast.proxy.guard;

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
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** DESIGN section 7: what a device may not do, and that nobody else notices. */
class GuardsOfAListenerTest {
    private static final int TOPIC_ALIAS = 0x23;
    private static final int PACKET_LIMIT = 300_000;

    @TempDir
    Path directory;

    private LinkAndUplinkBroker broker;
    private ProxyUnderTest proxy;

    @BeforeEach
    void startBroker() {
        broker = LinkAndUplinkBroker.start();
    }

    private void startProxy(String... flags) {
        List<String> all = new ArrayList<>(List.of(
                LinkAndUplinkBroker.UPLINK_FLAG,
                LinkAndUplinkBroker.UPLINK,
                "--route",
                "hold h/#",
                "--route",
                "outbox #",
                "--max-packet-size",
                "" + PACKET_LIMIT,
                "--max-payload",
                "1KiB"));
        all.addAll(Arrays.asList(flags));
        proxy = ProxyUnderTest.start(broker.url(), directory, all.toArray(new String[0]));
    }

    @AfterEach
    void stop() {
        proxy.close();
        broker.close();
    }

    private RawMqttClient connect(int version) {
        return RawMqttClient.connect(proxy.port(), version, "d", true);
    }

    @Test
    void aConnectThatDoesNotComeOrComesInDribsIsNotWaitedFor() {
        startProxy("--connect-deadline", "700ms");
        try (RawMqttClient silent = RawMqttClient.open(proxy.port());
                RawMqttClient slow = RawMqttClient.open(proxy.port());
                RawMqttClient quick = connect(Packets.V5)) {
            byte[] connect = Packets.connect(Packets.V5, "slow", true);
            slow.send(Arrays.copyOf(connect, connect.length - 1));
            silent.expectClosed(Duration.ofSeconds(5));
            slow.expectClosed(Duration.ofSeconds(5));
            assertEquals(2, proxy.count(Meter.CONNECT_DEADLINE));
            quick.send(Packets.pingreq());
            quick.expect(Packet.PINGRESP);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Packets.V311, Packets.V5})
    void aPacketOverTheLimitIsRefusedBeforeItsBodyHasCome(int version) {
        startProxy();
        try (RawMqttClient device = RawMqttClient.open(proxy.port());
                RawMqttClient other = RawMqttClient.connect(proxy.port(), version, "other", true)) {
            device.send(Packets.connect(version, "d", true));
            Packet connack = device.expect(Packet.CONNACK);
            if (version == Packets.V5) {
                assertTrue(connack.hex().contains(String.format("27%08x", PACKET_LIMIT)), connack::toString);
            }
            byte[] whole = Packets.publishFlags(version, 2, 1, "t", Packets.NONE, new byte[PACKET_LIMIT - 12]);
            assertTrue(whole.length <= PACKET_LIMIT);
            device.send(whole); // within the packet limit, over the payload cap
            device.expect(Packet.PUBACK, 1);
            byte[] over = Packets.publishFlags(version, 2, 2, "t", Packets.NONE, new byte[PACKET_LIMIT]);
            device.send(Arrays.copyOf(over, 4));
            if (version == Packets.V5) {
                assertEquals("e00195", device.expect(Packet.DISCONNECT).hex());
            }
            device.expectClosed(RawMqttClient.PATIENCE);
            other.send(Packets.pingreq());
            other.expect(Packet.PINGRESP);
        }
    }

    @ParameterizedTest
    @CsvSource({"4, t", "5, t", "4, h/1", "5, h/1"})
    void aPayloadOverTheCapIsAcknowledgedDroppedAndCounted(int version, String topic) {
        startProxy();
        try (RawMqttClient device = connect(version)) {
            byte[] tooMuch = new byte[1025];
            device.send(Packets.publishFlags(version, 0, 0, topic, Packets.NONE, tooMuch));
            device.send(Packets.publishFlags(version, 2, 1, topic, Packets.NONE, tooMuch));
            device.expect(Packet.PUBACK, 1);
            device.send(Packets.publishFlags(version, 4, 2, topic, Packets.NONE, tooMuch));
            assertEquals("50020002", device.expect(Packet.PUBREC).hex());
            device.send(Packets.publishFlags(version, 12, 2, topic, Packets.NONE, tooMuch));
            assertEquals("50020002", device.expect(Packet.PUBREC).hex());
            device.send(Packets.ack(Packet.PUBREL, 2));
            assertEquals("70020002", device.expect(Packet.PUBCOMP).hex());
            device.send(Packets.publishFlags(version, 2, 3, topic, Packets.NONE, new byte[1024]));
            device.expect(Packet.PUBACK, 3);
        }
        assertEquals(4, proxy.count(Meter.DROPPED_CAP_PAYLOAD));
        await().until(() -> sentToBroker().size() == 1);
        assertEquals(0, broker.linkReceived(Packet.PUBREL).size());
    }

    private List<Packet> sentToBroker() {
        List<Packet> all = new ArrayList<>(broker.uplinkReceived(Packet.PUBLISH));
        all.addAll(broker.linkReceived(Packet.PUBLISH));
        return all;
    }

    @ParameterizedTest
    @ValueSource(strings = {"t", "h/1"})
    void userPropertiesOverTheCapAreAcknowledgedDroppedAndCounted(String topic) {
        startProxy();
        try (RawMqttClient device = connect(Packets.V5)) {
            int id = 0;
            for (int count : new int[] {129, 30_000, 128}) {
                byte[] properties = Packets.concat(Collections.nCopies(count, Packets.userProperty("k", "v"))
                        .toArray(new byte[0][]));
                device.send(Packets.publishFlags(Packets.V5, 2, ++id, topic, properties, new byte[1]));
                device.expect(Packet.PUBACK, id);
            }
        }
        assertEquals(2, proxy.count(Meter.DROPPED_CAP_USER_PROPERTIES));
        await().until(() -> sentToBroker().size() == 1);
        assertEquals(128 * 7, sentToBroker().get(0).publishProperties().length);
    }

    @Test
    void metadataOverTheCapIsAcknowledgedDroppedAndCounted() {
        startProxy();
        try (RawMqttClient device = connect(Packets.V5)) {
            byte[] large = Packets.userProperty("k", "v".repeat(65_000));
            device.send(Packets.publishFlags(Packets.V5, 2, 1, "t", Packets.concat(large, large, large), new byte[1]));
            device.expect(Packet.PUBACK, 1);
        }
        assertEquals(1, proxy.count(Meter.DROPPED_CAP_METADATA));
        assertEquals(0, proxy.ledgerTotal("accepted"));
    }

    @ParameterizedTest
    @CsvSource({"1, h/1", "2, h/1", "2, t"})
    void aV5DeviceOverItsReceiveMaximumIsClosed(int qos, String topic) {
        startProxy("--receive-maximum", "5");
        broker.link().swallow(Packet.PUBLISH);
        try (RawMqttClient device = connect(Packets.V5)) {
            for (int id = 1; id <= 5; id++) {
                device.send(Packets.publish(Packets.V5, qos, id, topic, "m"));
            }
            if (topic.equals("t")) { // received, but not released: they still count
                for (int id = 1; id <= 5; id++) {
                    device.expect(Packet.PUBREC, id);
                }
            }
            device.send(Packets.publish(Packets.V5, qos, 6, topic, "one too many"));
            assertEquals("e00193", device.expect(Packet.DISCONNECT).hex());
            device.expectClosed(RawMqttClient.PATIENCE);
        }
    }

    @Test
    void a311DeviceOverItsWindowIsNotReadUntilThereIsRoom() {
        startProxy("--receive-maximum", "5");
        broker.link().keepBack(Packet.PUBLISH);
        try (RawMqttClient device = connect(Packets.V311)) {
            for (int id = 1; id <= 12; id++) {
                device.send(Packets.publish(Packets.V311, 1, id, "h/1", "m"));
            }
            device.send(Packets.pingreq());
            await().until(() -> broker.link().heldCount() == 5);
            device.expectSilence(Duration.ofMillis(300));
            assertEquals(5, broker.link().heldCount());
            assertTrue(proxy.count(Meter.DEVICE_PAUSED) > 0);
            broker.link().letThrough(Packet.PUBLISH).releaseAll();
            for (int id = 1; id <= 12; id++) {
                Packet packet = device.readPacket(RawMqttClient.PATIENCE);
                if (packet.type() == Packet.PINGRESP) {
                    id--;
                } else {
                    assertEquals(id, packet.packetId());
                }
            }
            device.send(Packets.pingreq());
            device.expect(Packet.PINGRESP);
        }
    }

    @Test
    void theKeepAliveDeadlineStandsStillWhileADeviceIsNotRead() {
        startProxy("--receive-maximum", "5");
        broker.link().keepBack(Packet.PUBLISH);
        try (RawMqttClient device = RawMqttClient.open(proxy.port())) {
            device.send(new Packets.Connect(Packets.V311, "d").keepAlive(1).bytes());
            device.expect(Packet.CONNACK);
            for (int id = 1; id <= 6; id++) {
                device.send(Packets.publish(Packets.V311, 1, id, "h/1", "m"));
            }
            await().until(() -> proxy.count(Meter.DEVICE_PAUSED) > 0);
            device.expectSilence(Duration.ofMillis(2_500));
            broker.link().letThrough(Packet.PUBLISH).releaseAll();
            for (int id = 1; id <= 6; id++) {
                device.expect(Packet.PUBACK, id);
            }
            device.expectClosed(Duration.ofSeconds(5)); // and runs again once it is read
            assertEquals(1, proxy.count(Meter.CLOSED_KEEP_ALIVE));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Packets.V311, Packets.V5})
    void pubrelsWithoutEndAreNotKeptWithoutEnd(int version) {
        startProxy("--receive-maximum", "5");
        broker.link().swallow(Packet.PUBREL);
        try (RawMqttClient device = connect(version)) {
            for (int i = 0; i < 100; i++) {
                device.send(Packets.ack(Packet.PUBREL, 7));
            }
            await().until(() -> proxy.count(Meter.DEVICE_PAUSED) > 0);
            assertTrue(broker.linkReceived(Packet.PUBREL).size() <= 10);
        }
    }

    @Test
    void anAliasDefinedOnAStoredPublishMeansTheSameOnAForwardedOne() {
        startProxy();
        try (RawMqttClient device = connect(Packets.V5)) {
            byte[] alias = Packets.property16(TOPIC_ALIAS, 1);
            byte[] kept = Packets.userProperty("k", "v");
            device.send(Packets.publishFlags(
                    Packets.V5, 2, 1, "a/b", Packets.concat(kept, alias), "stored".getBytes(StandardCharsets.UTF_8)));
            device.send(
                    Packets.publishFlags(Packets.V5, 2, 2, "", alias, "stored too".getBytes(StandardCharsets.UTF_8)));
            device.send(Packets.publishFlags(
                    Packets.V5, 0, 0, "", Packets.concat(alias, kept), "forwarded".getBytes(StandardCharsets.UTF_8)));
            device.expect(Packet.PUBACK, 1);
            device.expect(Packet.PUBACK, 2);
            Packet forwarded = broker.awaitLink(Packet.PUBLISH, 1).get(0);
            assertEquals("a/b forwarded", forwarded.topic() + " " + forwarded.text(Packets.V5));
            assertEquals(kept.length, forwarded.publishProperties().length, "the alias is gone, the rest is there");
            List<Packet> stored = broker.awaitUplink(Packet.PUBLISH, 2);
            assertEquals("a/b", stored.get(0).topic());
            assertEquals("a/b", stored.get(1).topic());
            assertEquals(kept.length, stored.get(0).publishProperties().length);

            device.send(
                    Packets.publishFlags(Packets.V5, 2, 3, "h/x", alias, "redefined".getBytes(StandardCharsets.UTF_8)));
            device.send(Packets.publishFlags(Packets.V5, 2, 4, "", alias, "by hold".getBytes(StandardCharsets.UTF_8)));
            device.expect(Packet.PUBACK, 3);
            device.expect(Packet.PUBACK, 4);
            assertEquals("h/x", broker.awaitLink(Packet.PUBLISH, 3).get(2).topic());
        }
    }

    @ParameterizedTest
    @CsvSource({"0, t, e00194", "65, t, e00194", "3, '', e00182"})
    void anAliasOutOfRangeOrUnknownClosesTheDevice(int alias, String topic, String disconnect) {
        startProxy();
        try (RawMqttClient device = connect(Packets.V5)) {
            device.send(
                    Packets.publishFlags(Packets.V5, 2, 1, topic, Packets.property16(TOPIC_ALIAS, alias), new byte[1]));
            assertEquals(disconnect, device.expect(Packet.DISCONNECT).hex());
            device.expectClosed(RawMqttClient.PATIENCE);
        }
        assertEquals(0, proxy.ledgerTotal("accepted"));
    }

    @Test
    void oneDeviceOverItsBytesIsNotReadWhileAnotherIsServed() {
        startProxy("--ingress-memory-budget", "1MiB");
        broker.link().keepBack(Packet.PUBLISH);
        try (RawMqttClient hog = RawMqttClient.connect(proxy.port(), Packets.V5, "hog", true);
                RawMqttClient second = RawMqttClient.connect(proxy.port(), Packets.V5, "second", true);
                RawMqttClient other = RawMqttClient.connect(proxy.port(), Packets.V311, "other", true)) {
            int count = 600;
            for (int id = 1; id <= count; id++) {
                hog.send(Packets.publishFlags(Packets.V5, 2, id, "h/1", Packets.NONE, new byte[1000]));
            }
            await().until(() -> proxy.count(Meter.DEVICE_PAUSED) > 0);
            long paused = proxy.count(Meter.DEVICE_PAUSED);
            for (int id = 1; id <= count; id++) { // what one device may have, and more: no room for anybody's hold
                second.send(Packets.publishFlags(Packets.V5, 2, id, "h/1", Packets.NONE, new byte[1000]));
            }
            await().until(() -> proxy.count(Meter.DEVICE_PAUSED) > paused);
            int open = broker.link().heldCount();
            assertTrue(open < 2 * count, () -> "all " + open + " were taken in");
            for (int id = 1; id <= 200; id++) {
                other.send(Packets.publish(Packets.V311, 1, id, "t", "m"));
                other.expect(Packet.PUBACK, id);
            }
            broker.link().letThrough(Packet.PUBLISH).releaseAll();
            for (int id = 1; id <= count; id++) {
                hog.expect(Packet.PUBACK, id);
                second.expect(Packet.PUBACK, id);
            }
        }
    }
}
