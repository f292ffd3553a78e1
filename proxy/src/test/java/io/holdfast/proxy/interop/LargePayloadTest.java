package io.holdfast.proxy.interop;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** From devices up to the cap of 256 KiB; from the broker whatever it sends. */
@InteropTest
class LargePayloadTest {
    private static final int CAP = 256 * 1024;

    static Stream<Arguments> everywhere() {
        return Stream.of(Deployment.values())
                .flatMap(deployment -> Stream.of(Library.PAHO_3_1_1, Library.HIVEMQ_5)
                        .map(library -> Arguments.of(deployment, library)));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("everywhere")
    void aPayloadOfExactlyTheCapArrives(Deployment deployment, Library library) {
        String payload = random(CAP);
        try (Client atBroker = library.connect(deployment.brokerPort());
                Client device = library.connect(deployment.port())) {
            for (int qos = 0; qos <= 2; qos++) {
                String topic = deployment.topic("cap");
                int count = qos + 1;
                atBroker.subscribe(topic, 2);
                device.publish(Message.of(topic, qos, payload));
                await().atMost(Duration.ofSeconds(20))
                        .until(() -> atBroker.received().size() == count);
                Message got = atBroker.received().get(qos);
                assertEquals(topic, got.topic());
                assertEquals(qos, got.qos());
                assertTrue(payload.equals(got.payload()), "the payload differs");
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource
    void aPayloadAboveTheCapIsAcknowledgedAndDropped(Deployment deployment) {
        String topic = deployment.topic("over");
        long droppedBefore = deployment.proxy().count(Meter.DROPPED_CAP_PAYLOAD);
        try (Client atBroker = Library.HIVEMQ_5.connect(deployment.brokerPort());
                Client device = Library.PAHO_5.connect(deployment.port())) {
            atBroker.subscribe(topic, 2);
            String over = random(CAP + 1);
            device.publish(Message.of(topic, 1, over));
            device.publish(Message.of(topic, 2, over));
            Message after = Message.of(topic, 1, "after");
            device.publish(after);
            atBroker.expect(after);
        }
        assertEquals(droppedBefore + 2, deployment.proxy().count(Meter.DROPPED_CAP_PAYLOAD));
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource
    void whatTheBrokerSendsHasNoCap(Deployment deployment) {
        String topic = deployment.topic("big");
        String payload = random(5 * 1024 * 1024);
        try (Client device = Library.HIVEMQ_5.connect(deployment.port());
                Client other = Library.HIVEMQ_5.connect(deployment.brokerPort())) {
            device.subscribe(topic, 2);
            Message after = Message.of(topic, 2, "after");
            for (int qos = 0; qos <= 2; qos++) {
                other.publish(Message.of(topic, qos, payload));
                other.publish(after);
                int count = 2 * (qos + 1);
                await().atMost(Duration.ofSeconds(30))
                        .until(() -> device.received().size() == count);
                // QoS 2 may be shown later than what came behind it, so by content.
                Message big = device.received().stream()
                        .filter(message -> message.payload().length() > 100)
                        .skip(qos)
                        .findFirst()
                        .orElseThrow();
                assertEquals(qos, big.qos());
                assertTrue(payload.equals(big.payload()), "the payload differs");
            }
        }
    }

    /** The device answers PINGREQ and publishes while a message of the broker is half through to it. */
    @ParameterizedTest(name = "{0}")
    @EnumSource
    void aDeviceThatReadsSlowlyGetsEveryByte(Deployment deployment) {
        String topic = deployment.topic("slow");
        byte[] payload = random(5 * 1024 * 1024).getBytes(StandardCharsets.ISO_8859_1);
        try (RawMqttClient device = RawMqttClient.open(deployment.port(), 4096);
                Client other = Library.HIVEMQ_5.connect(deployment.brokerPort())) {
            device.send(Packets.connect(Packets.V311, Deployment.unique("slow"), true));
            device.expect(Packet.CONNACK);
            device.send(Packets.subscribe(Packets.V311, 1, topic, 1)); // HiveMQ sheds QoS 0 to a slow client
            device.expect(Packet.SUBACK);
            other.publish(Message.of(topic, 1, new String(payload, StandardCharsets.ISO_8859_1)));
            other.publish(Message.of(topic, 1, "after"));
            device.send(Packets.pingreq());
            device.send(Packets.publish(Packets.V311, 1, 7, topic + "/own", "own"));
            Packet big = null;
            boolean after = false;
            boolean pong = false;
            boolean acked = false;
            while (big == null || !after || !pong || !acked) {
                Packet packet = device.readPacket(Duration.ofSeconds(30));
                switch (packet.type()) {
                    case Packet.PINGRESP -> pong = true;
                    case Packet.PUBACK -> acked = true;
                    case Packet.PUBLISH -> {
                        device.send(Packets.ack(Packet.PUBACK, packet.packetId()));
                        if (big == null) {
                            big = packet;
                        } else {
                            assertEquals("after", packet.text(Packets.V311));
                            after = true;
                        }
                    }
                    default -> throw new AssertionError(packet.toString());
                }
            }
            assertTrue(java.util.Arrays.equals(payload, big.payload(Packets.V311)), "the payload differs");
        }
    }

    private static String random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }
}
