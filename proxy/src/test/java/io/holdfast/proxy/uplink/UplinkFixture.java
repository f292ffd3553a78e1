package io.holdfast.proxy.uplink;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.holdfast.proxy.testing.LinkAndUplinkBroker;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ProxyUnderTest;
import io.holdfast.proxy.testing.RawMqttClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** A proxy whose default route is outbox, and the broker that misbehaves towards its uplink. */
final class UplinkFixture implements AutoCloseable {
    static final Duration SOON = Duration.ofSeconds(20);
    private static final int CHUNK = 500;

    final LinkAndUplinkBroker broker;
    final ProxyUnderTest proxy;

    /** @param version that the uplink ends up with: the broker knows MQTT 5, or 3.1.1 only */
    UplinkFixture(int version, Path directory, String... flags) {
        this(
                version == Packets.V311 ? LinkAndUplinkBroker.start().uplinkSpeaks311() : LinkAndUplinkBroker.start(),
                directory,
                flags);
    }

    private UplinkFixture(LinkAndUplinkBroker broker, Path directory, String... flags) {
        this.broker = broker;
        List<String> all = new ArrayList<>(List.of(LinkAndUplinkBroker.UPLINK_FLAG, LinkAndUplinkBroker.UPLINK));
        all.addAll(List.of(flags));
        proxy = ProxyUnderTest.start(broker.url(), directory, all.toArray(new String[0]));
    }

    /** Starts with a broker that refuses the uplink until {@link LinkAndUplinkBroker#acceptUplink}. */
    static UplinkFixture refused(Path directory, String... flags) {
        LinkAndUplinkBroker broker = LinkAndUplinkBroker.start();
        broker.refuseUplink();
        return new UplinkFixture(broker, directory, flags);
    }

    /** Publishes m{@code from} to m{@code to - 1} on one topic and reads the acknowledgements: all are durable. */
    void publish(int qos, int from, int to) {
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V311, "device", true)) {
            publish(device, qos, from, to);
            device.send(Packets.disconnect());
        }
    }

    static void publish(RawMqttClient device, int qos, int from, int to) {
        for (int start = from; start < to; start += CHUNK) {
            int end = Math.min(to, start + CHUNK);
            device.send(Packets.concat(IntStream.range(start, end)
                    .mapToObj(i -> Packets.publish(Packets.V311, qos, 1 + i - from, "t", "m" + i))
                    .map(bytes -> bytes)
                    .toArray(byte[][]::new)));
            for (int i = start; i < end; i++) {
                device.expect(qos == 1 ? Packet.PUBACK : Packet.PUBREC, 1 + i - from);
            }
            if (qos == 2) {
                for (int i = start; i < end; i++) {
                    device.send(Packets.ack(Packet.PUBREL, 1 + i - from));
                    device.expect(Packet.PUBCOMP, 1 + i - from);
                }
            }
        }
    }

    void awaitDelivered(long count) {
        await().atMost(SOON)
                .untilAsserted(() -> assertEquals(count, proxy.ledgerTotal("delivered"), () -> proxy.admin("/ledger")));
        assertEquals(0, proxy.ledgerTotal("pending"));
    }

    /** The packets of one type of one uplink connection; refused ones count. */
    List<Packet> onConnection(int index, int type) {
        return broker.uplinkConnections().get(index).stream()
                .filter(packet -> packet.type() == type)
                .toList();
    }

    static List<String> payloads(List<Packet> publishes, int version) {
        return publishes.stream().map(packet -> packet.text(version)).toList();
    }

    static List<Integer> ids(List<Packet> packets) {
        return packets.stream().map(Packet::packetId).toList();
    }

    static List<String> messages(int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> "m" + i).toList();
    }

    @Override
    public void close() {
        proxy.close();
        broker.close();
    }
}
