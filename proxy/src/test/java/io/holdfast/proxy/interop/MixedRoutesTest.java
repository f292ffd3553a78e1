package io.holdfast.proxy.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One connection whose messages take both routes in turn. */
@InteropTest
class MixedRoutesTest {
    private static final int COUNT = 60;

    @ParameterizedTest(name = "{0} version {1}")
    @CsvSource({
        "MOSQUITTO_MIXED, 3",
        "MOSQUITTO_MIXED, 4",
        "MOSQUITTO_MIXED, 5",
        "HIVEMQ_MIXED, 3",
        "HIVEMQ_MIXED, 4",
        "HIVEMQ_MIXED, 5",
    })
    void acksComeInTheOrderOfThePublishesAndEachRouteKeepsItsOwn(Deployment deployment, int version) {
        String held = deployment.topic("mixed");
        String stored = deployment.storedTopic("mixed");
        try (Client atBroker = Library.HIVEMQ_5.connect(deployment.brokerPort());
                RawMqttClient device =
                        RawMqttClient.connect(deployment.port(), version, Deployment.unique("m"), true)) {
            atBroker.subscribe(held, 2);
            atBroker.subscribe(stored, 2);
            List<Message> sent = new ArrayList<>();
            byte[] all = Packets.NONE;
            for (int i = 1; i <= COUNT; i++) {
                String topic = i % 3 == 0 ? held : stored;
                int qos = i % 2 + 1;
                sent.add(Message.of(topic, qos, "" + i));
                all = Packets.concat(all, Packets.publish(version, qos, i, topic, "" + i));
            }
            device.send(all);
            List<Integer> acked = new ArrayList<>();
            List<Integer> completed = new ArrayList<>();
            List<Integer> released = new ArrayList<>();
            while (acked.size() < COUNT || completed.size() < COUNT / 2) {
                Packet packet = device.readPacket(RawMqttClient.PATIENCE);
                switch (packet.type()) {
                    case Packet.PUBACK -> acked.add(packet.packetId());
                    case Packet.PUBREC -> {
                        acked.add(packet.packetId());
                        released.add(packet.packetId());
                        device.send(Packets.ack(Packet.PUBREL, packet.packetId()));
                    }
                    case Packet.PUBCOMP -> completed.add(packet.packetId());
                    default -> throw new AssertionError(packet.toString());
                }
            }
            assertEquals(IntStream.rangeClosed(1, COUNT).boxed().toList(), acked);
            assertEquals(released, completed);
            atBroker.awaitCount(COUNT);
            for (String topic : List.of(held, stored)) {
                for (int qos = 1; qos <= 2; qos++) {
                    int wanted = qos;
                    assertEquals(
                            sent.stream()
                                    .filter(message -> message.topic().equals(topic) && message.qos() == wanted)
                                    .toList(),
                            atBroker.received(topic, qos));
                }
            }
        }
    }
}
