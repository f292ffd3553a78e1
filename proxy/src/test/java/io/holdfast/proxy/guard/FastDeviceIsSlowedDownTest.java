package io.holdfast.proxy.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.LinkAndUplinkBroker;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ProxyUnderTest;
import io.holdfast.proxy.testing.RawMqttClient;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code --max-publish-rate}: slower, but complete, in order, and not closed. */
@Timeout(60)
class FastDeviceIsSlowedDownTest {
    private static final int RATE = 50;
    private static final int PUBLISHES = 150;

    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({"4, 1, t", "5, 1, h/1", "5, 2, t", "5, 0, h/1"})
    void allArriveAtTheRateAndTheDeviceStays(int version, int qos, String topic) {
        try (LinkAndUplinkBroker broker = LinkAndUplinkBroker.start();
                ProxyUnderTest proxy = ProxyUnderTest.start(
                        broker.url(),
                        directory,
                        "--max-publish-rate",
                        "" + RATE,
                        "--route",
                        "hold h/#",
                        "--route",
                        "outbox #");
                RawMqttClient device = RawMqttClient.open(proxy.port());
                RawMqttClient other = RawMqttClient.connect(proxy.port(), Packets.V311, "other", true)) {
            device.send(new Packets.Connect(version, "d").keepAlive(1).bytes());
            device.expect(Packet.CONNACK);
            long begin = System.nanoTime();
            for (int id = 1; id <= PUBLISHES; id++) {
                device.send(Packets.publish(version, qos, id, topic, "m" + id));
            }
            device.send(Packets.pingreq());
            other.send(Packets.publish(Packets.V311, 1, 1, topic, "not slowed down"));
            other.expect(Packet.PUBACK);
            int expectedAcks = qos == 0 ? 0 : PUBLISHES;
            int acks = 0;
            boolean ponged = false; // may pass by acknowledgements that wait for the disk
            while (acks < expectedAcks || !ponged) {
                Packet packet = device.readPacket(RawMqttClient.PATIENCE);
                if (packet.type() == Packet.PINGRESP) {
                    ponged = true;
                } else {
                    assertEquals(++acks, packet.packetId());
                }
            }
            long tookMs = Duration.ofNanos(System.nanoTime() - begin).toMillis();
            assertTrue(tookMs >= 1000L * (PUBLISHES - RATE) / RATE - 50, () -> "took " + tookMs + " ms");
            assertTrue(proxy.count(Meter.DEVICE_RATE_LIMITED) > 0);
            assertEquals(0, proxy.count(Meter.CLOSED_KEEP_ALIVE));
        }
    }
}
