package io.holdfast.proxy.outbox;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.LinkAndUplinkBroker;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ProxyUnderTest;
import io.holdfast.proxy.testing.RawMqttClient;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code --outbox-max-bytes} reached: hold and reject, and that it accepts again without a restart. */
class FullOutboxTest {
    private static final int PAYLOAD = 16 * 1024;

    @TempDir
    Path directory;

    private final LinkAndUplinkBroker broker = LinkAndUplinkBroker.start();
    private ProxyUnderTest proxy;

    private void startProxy(String... routes) {
        broker.refuseUplink();
        List<String> flags = new ArrayList<>(List.of(
                LinkAndUplinkBroker.UPLINK_FLAG,
                LinkAndUplinkBroker.UPLINK,
                "--segment-bytes",
                "512KiB",
                "--max-packet-size",
                "32KiB",
                "--outbox-max-bytes",
                "1400KiB"));
        for (String route : routes) {
            flags.addAll(List.of("--route", route));
        }
        proxy = ProxyUnderTest.start(broker.url(), directory, flags.toArray(new String[0]));
    }

    @AfterEach
    void stop() {
        proxy.close();
        broker.close();
    }

    private static byte[] publish(int version, int qos, int id) {
        byte[] payload = ByteBuffer.allocate(PAYLOAD).putInt(id).array();
        return Packets.publishFlags(version, qos << 1, id, "t", Packets.NONE, payload);
    }

    private static int number(Packet publish) {
        return ByteBuffer.wrap(publish.payload(Packets.V5)).getInt();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void rejectTellsAV5DeviceQuotaExceededAndTakesAgainOnceDrained(int qos) {
        startProxy("outbox:when-full=reject #");
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V5, "d", true)) {
            int stored = 0;
            Packet answer;
            int id = 0;
            do {
                device.send(publish(Packets.V5, qos, ++id));
                answer = device.expect(qos == 1 ? Packet.PUBACK : Packet.PUBREC, id);
                if (answer.reasonCode() == 0) {
                    stored++;
                }
                if (qos == 2 && answer.reasonCode() == 0) {
                    device.send(Packets.ack(Packet.PUBREL, id)); // PUBREL is taken also when it is full
                    assertEquals(0, device.expect(Packet.PUBCOMP, id).reasonCode());
                }
            } while (answer.reasonCode() == 0 && id < 1_000);
            assertEquals(0x97, answer.reasonCode());
            assertTrue(stored > 20, "stored only " + stored);
            assertEquals(stored, proxy.ledgerTotal("accepted"));
            assertEquals(1, proxy.count(Meter.REJECTED_FULL));

            broker.acceptUplink();
            int refusedId = id;
            await().atMost(Duration.ofSeconds(30)).until(() -> {
                device.send(publish(Packets.V5, qos, refusedId));
                return device.expect(qos == 1 ? Packet.PUBACK : Packet.PUBREC, refusedId)
                                .reasonCode()
                        == 0;
            });
            int total = stored + 1;
            await().atMost(Duration.ofSeconds(20)).until(() -> proxy.ledgerTotal("delivered") == total);
        }
        List<Integer> numbers = broker.uplinkReceived(Packet.PUBLISH).stream()
                .map(FullOutboxTest::number)
                .toList();
        assertEquals(IntStream.rangeClosed(1, numbers.size()).boxed().toList(), numbers);
    }

    @ParameterizedTest
    @ValueSource(ints = {Packets.V311, Packets.V5})
    void holdKeepsTheAcksBackAndGoesOnInOrderOnceDrained(int version) {
        startProxy("outbox #");
        int count = 300;
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), version, "d", true);
                RawMqttClient other = RawMqttClient.connect(proxy.port(), version, "other", true)) {
            for (int id = 1; id <= count; id++) {
                device.send(publish(version, 1, id));
            }
            int acked = 0;
            await().until(() -> proxy.count(Meter.OUTBOX_FULL) > 0);
            long accepted = proxy.ledgerTotal("accepted");
            while (acked < accepted) {
                device.expect(Packet.PUBACK, ++acked);
            }
            device.expectSilence(Duration.ofMillis(300));
            other.send(Packets.pingreq());
            other.expect(Packet.PINGRESP);

            broker.acceptUplink();
            while (acked < count) {
                device.expect(Packet.PUBACK, ++acked);
            }
            await().atMost(Duration.ofSeconds(30)).until(() -> proxy.ledgerTotal("delivered") == count);
        }
        assertEquals(
                IntStream.rangeClosed(1, count).boxed().toList(),
                broker.uplinkReceived(Packet.PUBLISH).stream()
                        .map(FullOutboxTest::number)
                        .toList());
    }

    /** MQTT 3.1 let devices send a QoS 2 PUBLISH again on the same connection: the copy must not outlive the PUBREL. */
    @Test
    void aCopyThatWaitsForRoomIsNotStoredBehindItsPubrel() {
        startProxy("outbox #");
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V311, "d", true)) {
            byte[] twice = publish(Packets.V311, 2, 7);
            device.send(twice);
            device.expect(Packet.PUBREC, 7);
            for (int id = 100; proxy.count(Meter.OUTBOX_FULL) == 0; id++) {
                device.send(publish(Packets.V311, 1, id));
                long sent = id - 98L;
                await().until(() -> proxy.ledgerTotal("accepted") == sent || proxy.count(Meter.OUTBOX_FULL) > 0);
            }
            twice[0] |= 8;
            device.send(twice);
            device.send(Packets.ack(Packet.PUBREL, 7));

            broker.acceptUplink();
            Set<Integer> missing = new HashSet<>(Set.of(Packet.PUBREC, Packet.PUBCOMP));
            while (!missing.isEmpty()) {
                Packet answer = device.readPacket(Duration.ofSeconds(30));
                assertTrue(answer.packetId() != 7 || missing.remove(answer.type()), answer.toString());
            }
            await().atMost(Duration.ofSeconds(20)).until(() -> proxy.ledgerTotal("pending") == 0);
        }
        assertEquals(
                1,
                broker.uplinkReceived(Packet.PUBLISH).stream()
                        .filter(publish -> number(publish) == 7)
                        .count());
    }

    /** Acknowledged to the end, counted, and never delivered; what was stored is. */
    @ParameterizedTest
    @CsvSource({"4, 1", "4, 2", "5, 1", "5, 2"})
    void dropNewAcknowledgesAndCountsUntilThereIsRoom(int version, int qos) {
        startProxy("outbox:when-full=drop-new #");
        int count = 200;
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), version, "d", true)) {
            for (int id = 1; id <= count; id++) {
                sendWhole(device, version, qos, id);
            }
            assertEquals(count, proxy.ledgerTotal("accepted"));
            long dropped = proxy.ledgerTotal("new");
            assertTrue(dropped > 20, "dropped " + dropped);
            assertEquals(count - dropped, proxy.ledgerTotal("pending"));

            broker.acceptUplink();
            await().atMost(Duration.ofSeconds(20)).until(() -> proxy.ledgerTotal("pending") == 0);
            await().atMost(Duration.ofSeconds(20)).until(() -> {
                sendWhole(device, version, qos, count + 1);
                return proxy.ledgerTotal("delivered") > count - dropped;
            });
        }
    }

    private static void sendWhole(RawMqttClient device, int version, int qos, int id) {
        device.send(publish(version, qos, id));
        device.expect(qos == 1 ? Packet.PUBACK : Packet.PUBREC, id);
        if (qos == 2) {
            device.send(Packets.ack(Packet.PUBREL, id));
            device.expect(Packet.PUBCOMP, id);
        }
    }

    @Test
    void aDeviceThatIsClosedWhileItWaitsForRoomLeavesNothingBehind() {
        startProxy("outbox #");
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V311, "d", true)) {
            for (int id = 1; id <= 150; id++) {
                device.send(publish(Packets.V311, 1, id));
            }
            await().until(() -> proxy.count(Meter.OUTBOX_FULL) > 0);
            device.reset();
        }
        try (RawMqttClient again = RawMqttClient.connect(proxy.port(), Packets.V311, "d", true)) {
            broker.acceptUplink();
            again.send(publish(Packets.V311, 1, 1_000));
            Packet puback = again.readPacket(Duration.ofSeconds(30));
            assertEquals(1_000, puback.packetId());
        }
    }
}
