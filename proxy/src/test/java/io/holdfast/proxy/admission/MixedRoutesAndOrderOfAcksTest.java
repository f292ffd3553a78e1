package io.holdfast.proxy.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.holdfast.proxy.testing.LinkAndUplinkBroker;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ProxyUnderTest;
import io.holdfast.proxy.testing.RawMqttClient;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * P2 on the wire: QoS 0, 1 and 2 by hold and by outbox on one connection, on several lanes, against a broker that answers
 * late and in any order.
 */
class MixedRoutesAndOrderOfAcksTest {
    private static final int DEVICES = 6;
    private static final int MESSAGES = 400;

    @TempDir
    Path directory;

    @Test
    void acksComeInTheOrderOfArrivalWhateverTheBrokerDoes() throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        ExecutorService threads = Executors.newFixedThreadPool(DEVICES + 1);
        try (LinkAndUplinkBroker broker = LinkAndUplinkBroker.start();
                ProxyUnderTest proxy = ProxyUnderTest.start(
                        broker.url(),
                        directory,
                        LinkAndUplinkBroker.UPLINK_FLAG,
                        LinkAndUplinkBroker.UPLINK,
                        "--lanes",
                        "3",
                        "--route",
                        "hold h/#",
                        "--route",
                        "outbox #")) {
            broker.link().keepBack(Packet.PUBLISH).keepBack(Packet.PUBREL);
            List<Future<Void>> devices = new ArrayList<>();
            for (int i = 0; i < DEVICES; i++) {
                devices.add(threads.submit(device(proxy, i, new Random(seed + i))));
            }
            Random random = new Random(seed - 1);
            while (!devices.stream().allMatch(Future::isDone)) {
                int held = broker.link().heldCount();
                if (held == 0) {
                    Thread.onSpinWait();
                } else {
                    broker.link().release(random.nextInt(held));
                }
            }
            for (Future<Void> device : devices) {
                device.get();
            }
        } finally {
            threads.shutdownNow();
            threads.awaitTermination(10, TimeUnit.SECONDS);
        }
    }

    private static Callable<Void> device(ProxyUnderTest proxy, int number, Random random) {
        return () -> {
            int version = number % 2 == 0 ? Packets.V5 : Packets.V311;
            try (RawMqttClient client = RawMqttClient.connect(proxy.port(), version, "device-" + number, true)) {
                List<String> expected = new ArrayList<>();
                List<byte[]> packets = new ArrayList<>();
                for (int id = 1; id <= MESSAGES; id++) {
                    int qos = random.nextInt(3);
                    String topic = random.nextBoolean() ? "h/" + number : "o/" + number;
                    packets.add(Packets.publish(version, qos, id, topic, "m" + id));
                    if (qos > 0) {
                        expected.add((qos == 1 ? Packet.PUBACK : Packet.PUBREC) + " " + id);
                    }
                }
                client.send(Packets.concat(packets.toArray(new byte[0][])));
                releaseAll(client, expected, random);
            }
            return null;
        };
    }

    /** Reads the acknowledgements; sends PUBRELs in an order of its own, several behind, and expects PUBCOMPs in that. */
    private static void releaseAll(RawMqttClient client, List<String> expected, Random random) {
        List<String> acks = new ArrayList<>();
        List<Integer> received = new ArrayList<>();
        List<Integer> released = new ArrayList<>();
        List<Integer> completed = new ArrayList<>();
        long qos2 = expected.stream()
                .filter(ack -> ack.startsWith(Packet.PUBREC + " "))
                .count();
        while (acks.size() < expected.size() || completed.size() < qos2) {
            Packet packet = client.readPacket(RawMqttClient.PATIENCE);
            if (packet.type() == Packet.PUBCOMP) {
                completed.add(packet.packetId());
            } else {
                acks.add(packet.type() + " " + packet.packetId());
                if (packet.type() == Packet.PUBREC) {
                    received.add(packet.packetId());
                }
            }
            boolean isLast = acks.size() == expected.size();
            while (!received.isEmpty() && (isLast || received.size() > 8)) {
                int id = received.remove(random.nextInt(received.size()));
                released.add(id);
                client.send(Packets.ack(Packet.PUBREL, id));
            }
        }
        assertEquals(expected, acks);
        assertEquals(released, completed);
    }
}
