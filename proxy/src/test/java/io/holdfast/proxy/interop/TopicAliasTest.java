package io.holdfast.proxy.interop;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Topic aliases, v5 §3.3.2.3.4: of one connection, and the same on every route of it. */
@InteropTest
class TopicAliasTest {

    @ParameterizedTest(name = "{0}")
    @EnumSource
    void anAliasStandsForItsTopicUntilItIsRedefined(Deployment deployment) {
        String first = deployment.topic("alias");
        String second = deployment.topic("alias");
        try (Client atBroker = Library.HIVEMQ_5.connect(deployment.brokerPort());
                RawMqttClient device = connect(deployment)) {
            atBroker.subscribe(first, 2);
            atBroker.subscribe(second, 2);
            List<Message> sent = new ArrayList<>();
            for (int qos = 0; qos <= 2; qos++) {
                for (String topic : List.of(first, second)) {
                    publish(device, qos, 1, topic, 3, "defines " + qos);
                    publish(device, qos, 2, "", 3, "uses " + qos);
                    sent.add(Message.of(topic, qos, "defines " + qos));
                    sent.add(Message.of(topic, qos, "uses " + qos));
                    atBroker.expect(sent.toArray(new Message[0]));
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(names = {"MOSQUITTO_MIXED", "HIVEMQ_MIXED"})
    void anAliasMeansTheSameOnStoredAndHeldMessages(Deployment deployment) {
        String stored = deployment.storedTopic("alias");
        String held = deployment.topic("alias");
        try (Client atBroker = Library.HIVEMQ_5.connect(deployment.brokerPort());
                RawMqttClient device = connect(deployment)) {
            atBroker.subscribe(stored, 2);
            atBroker.subscribe(held, 2);
            publish(device, 1, 1, stored, 1, "stored defines 1"); // the broker's link never sees this one
            publish(device, 1, 2, held, 2, "held defines 2");
            publish(device, 0, 0, "", 1, "QoS 0 of a stored topic is forwarded");
            publish(device, 2, 3, "", 2, "held by alias");
            publish(device, 2, 4, "", 1, "stored by alias");
            publish(device, 1, 5, held, 1, "held redefines 1");
            publish(device, 1, 6, "", 1, "held by alias 1");
            publish(device, 1, 7, stored, 2, "stored redefines 2");
            publish(device, 1, 8, "", 2, "stored by alias 2");
            publish(device, 0, 0, "", 1, "QoS 0 of a held topic");
            // Between the routes there is no order at the broker, within each of them and QoS there is.
            atBroker.awaitCount(10);
            assertEquals(
                    List.of(
                            Message.of(held, 1, "held defines 2"),
                            Message.of(held, 1, "held redefines 1"),
                            Message.of(held, 1, "held by alias 1")),
                    atBroker.received(held, 1));
            assertEquals(List.of(Message.of(held, 2, "held by alias")), atBroker.received(held, 2));
            assertEquals(List.of(Message.of(held, 0, "QoS 0 of a held topic")), atBroker.received(held, 0));
            assertEquals(
                    List.of(
                            Message.of(stored, 1, "stored defines 1"),
                            Message.of(stored, 1, "stored redefines 2"),
                            Message.of(stored, 1, "stored by alias 2")),
                    atBroker.received(stored, 1));
            assertEquals(List.of(Message.of(stored, 2, "stored by alias")), atBroker.received(stored, 2));
            assertEquals(
                    List.of(Message.of(stored, 0, "QoS 0 of a stored topic is forwarded")),
                    atBroker.received(stored, 0));
        }
    }

    /** The alias goes, the other properties keep their order and bytes. */
    @ParameterizedTest(name = "{0}")
    @EnumSource
    void theOtherPropertiesStay(Deployment deployment) {
        String topic = deployment.topic("alias");
        byte[] before = Packets.userProperty("b", "1");
        byte[] after = Packets.concat(Packets.userProperty("a", "2"), Packets.userProperty("b", "1"));
        try (RawMqttClient atBroker =
                        RawMqttClient.connect(deployment.brokerPort(), Packets.V5, Deployment.unique("s"), true);
                RawMqttClient device = connect(deployment)) {
            atBroker.send(Packets.subscribe(Packets.V5, 1, topic, 1));
            atBroker.expect(Packet.SUBACK);
            device.send(Packets.publishFlags(
                    Packets.V5, 2, 1, topic, Packets.concat(before, Packets.property16(0x23, 5), after), new byte[] {
                        1, 2, 3
                    }));
            device.expect(Packet.PUBACK, 1);
            Packet got = atBroker.expect(Packet.PUBLISH);
            assertEquals(topic, got.topic());
            assertArrayEquals(Packets.concat(before, after), got.publishProperties());
            assertArrayEquals(new byte[] {1, 2, 3}, got.payload(Packets.V5));
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource
    void anAliasDefinedOnADroppedMessageStands(Deployment deployment) {
        String topic = deployment.topic("alias");
        try (Client atBroker = Library.HIVEMQ_5.connect(deployment.brokerPort());
                RawMqttClient device = connect(deployment)) {
            atBroker.subscribe(topic, 2);
            publish(device, 1, 1, topic, 4, "x".repeat(256 * 1024 + 1));
            publish(device, 1, 2, "", 4, "after the one above the cap");
            atBroker.expect(Message.of(topic, 1, "after the one above the cap"));
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource
    void anAliasThatWasNeverDefinedOrIsTooHighClosesTheConnection(Deployment deployment) {
        try (RawMqttClient device = connect(deployment)) {
            publishOnly(device, 0, 0, "", 2, "nothing");
            assertEquals(0x82, device.expect(Packet.DISCONNECT).reasonCode());
            device.expectClosed(RawMqttClient.PATIENCE);
        }
        try (RawMqttClient device = connect(deployment)) {
            publishOnly(device, 0, 0, deployment.topic("alias"), 65_535, "too high");
            assertEquals(0x94, device.expect(Packet.DISCONNECT).reasonCode());
            device.expectClosed(RawMqttClient.PATIENCE);
        }
    }

    private static RawMqttClient connect(Deployment deployment) {
        return RawMqttClient.connect(deployment.port(), Packets.V5, Deployment.unique("a"), true);
    }

    /** Publishes to the end of the flow. */
    private static void publish(RawMqttClient device, int qos, int packetId, String topic, int alias, String payload) {
        publishOnly(device, qos, packetId, topic, alias, payload);
        if (qos == 1) {
            assertEquals(0, device.expect(Packet.PUBACK, packetId).reasonCode());
        } else if (qos == 2) {
            assertEquals(0, device.expect(Packet.PUBREC, packetId).reasonCode());
            device.send(Packets.ack(Packet.PUBREL, packetId));
            assertEquals(0, device.expect(Packet.PUBCOMP, packetId).reasonCode());
        }
    }

    private static void publishOnly(
            RawMqttClient device, int qos, int packetId, String topic, int alias, String payload) {
        device.send(Packets.publishFlags(
                Packets.V5,
                qos << 1,
                packetId,
                topic,
                Packets.property16(0x23, alias),
                payload.getBytes(java.nio.charset.StandardCharsets.UTF_8)));
    }
}
