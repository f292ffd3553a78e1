package io.holdfast.proxy.uplink;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.holdfast.proxy.testing.FreePorts;
import io.holdfast.proxy.testing.HoldfastProcess;
import io.holdfast.proxy.testing.LinkAndUplinkBroker;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** QOS-01: after PUBREL was sent, a resume goes on with PUBREL; a second PUBLISH would be a duplicate [MQTT-4.3.3-1]. */
class PublishIsNotRepeatedAfterPubrelTest {
    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(ints = {Packets.V311, Packets.V5})
    void whenTheConnectionIsCutBetweenPubrelAndPubcomp(int version) {
        try (UplinkFixture fixture = new UplinkFixture(version, directory)) {
            fixture.broker.uplink().sessionPresent(true).on(Packet.PUBREL, (connection, pubrel) -> {
                connection.reset();
                return Packets.NONE;
            });
            fixture.publish(2, 0, 1);
            int id = fixture.broker.awaitUplink(Packet.PUBREL, 1).get(0).packetId();
            fixture.broker.uplink().on(Packet.PUBREL, (connection, pubrel) -> null);
            fixture.awaitDelivered(1);

            assertEquals(1, fixture.broker.uplinkReceived(Packet.PUBLISH).size());
            List<Packet> last = fixture.broker
                    .uplinkConnections()
                    .get(fixture.broker.uplinkConnections().size() - 1);
            assertFalse(last.get(0).cleanStart());
            assertEquals("6202" + String.format("%04x", id), last.get(1).hex());
        }
    }

    @Test
    void whenTheProxyIsKilledBetweenPubrelAndPubcomp() {
        int port = FreePorts.next();
        try (LinkAndUplinkBroker broker = LinkAndUplinkBroker.start();
                HoldfastProcess proxy = HoldfastProcess.proxy(
                        broker.url(),
                        port,
                        0,
                        directory.resolve("data"),
                        "--segment-bytes",
                        "4MiB",
                        LinkAndUplinkBroker.UPLINK_FLAG,
                        LinkAndUplinkBroker.UPLINK)) {
            broker.uplink().sessionPresent(true).swallow(Packet.PUBREL);
            proxy.start();
            try (RawMqttClient device = RawMqttClient.connect(port, Packets.V311, "device", true)) {
                UplinkFixture.publish(device, 2, 0, 3);
                broker.awaitUplink(Packet.PUBREL, 3);
            }
            proxy.kill9();
            broker.uplink().on(Packet.PUBREL, (connection, pubrel) -> null);
            proxy.start();

            await().atMost(UplinkFixture.SOON)
                    .until(() -> broker.uplinkConnections().size() == 2
                            && broker.uplinkConnections().get(1).size() >= 4);
            List<Packet> resumed = broker.uplinkConnections().get(1);
            assertFalse(resumed.get(0).cleanStart());
            assertEquals(
                    UplinkFixture.ids(broker.uplinkConnections().get(0).stream()
                            .filter(packet -> packet.type() == Packet.PUBREL)
                            .toList()),
                    UplinkFixture.ids(resumed.subList(1, 4)));
            try (RawMqttClient device = RawMqttClient.connect(port, Packets.V311, "device", true)) {
                UplinkFixture.publish(device, 1, 3, 4);
                broker.awaitUplink(Packet.PUBLISH, 4);
            }
            assertEquals(
                    UplinkFixture.messages(0, 4),
                    UplinkFixture.payloads(broker.uplinkReceived(Packet.PUBLISH), Packets.V5));
        }
    }
}
