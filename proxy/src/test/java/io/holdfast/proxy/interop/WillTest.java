package io.holdfast.proxy.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.hivemq.client.mqtt.MqttClient;
import com.hivemq.client.mqtt.datatypes.MqttQos;
import com.hivemq.client.mqtt.mqtt5.Mqtt5BlockingClient;
import com.hivemq.client.mqtt.mqtt5.message.disconnect.Mqtt5DisconnectReasonCode;
import com.hivemq.client.mqtt.mqtt5.message.publish.Mqtt5PayloadFormatIndicator;
import io.holdfast.proxy.testing.MosquittoClients;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The broker publishes a device's will when, and only when, the device would have made it do so directly. */
@InteropTest
class WillTest {

    static Stream<Arguments> everywhere() {
        return Stream.of(Deployment.values())
                .flatMap(deployment -> IntStream.of(Packets.V31, Packets.V311, Packets.V5)
                        .mapToObj(version -> Arguments.of(deployment, version)));
    }

    @ParameterizedTest(name = "{0} version {1}")
    @MethodSource("everywhere")
    void aBrokenConnectionPublishesTheWillAndADisconnectDoesNot(Deployment deployment, int version) {
        String topic = deployment.topic("will");
        try (Client atBroker = Library.HIVEMQ_5.connect(deployment.brokerPort())) {
            atBroker.subscribe(topic, 2);
            try (RawMqttClient polite = connectWithWill(deployment, version, 1, false, topic, "polite")) {
                polite.send(Packets.disconnect());
                polite.expectClosed(RawMqttClient.PATIENCE);
            }
            connectWithWill(deployment, version, 1, false, topic, "closed").close();
            atBroker.expect(Message.of(topic, 1, "closed"));
            connectWithWill(deployment, version, 2, true, topic, "reset").reset();
            Message reset = Message.of(topic, 2, "reset");
            atBroker.expect(Message.of(topic, 1, "closed"), reset);
            try (Client late = Library.HIVEMQ_5.connect(deployment.port())) {
                late.subscribe(topic, 2);
                late.expect(reset.retained());
            }
            atBroker.publish(Message.of(topic, 1, "").retained());
        }
    }

    @ParameterizedTest(name = "{0} version {1}")
    @MethodSource("everywhere")
    void aProtocolErrorPublishesTheWill(Deployment deployment, int version) {
        String topic = deployment.topic("error");
        try (Client atBroker = Library.HIVEMQ_5.connect(deployment.brokerPort());
                RawMqttClient device = connectWithWill(deployment, version, 1, false, topic, "gone")) {
            atBroker.subscribe(topic, 2);
            device.send(Packets.publish(version, 1, 5, "not/+/a/topic/name", "m"));
            if (version == Packets.V5) {
                assertEquals(0x81, device.expect(Packet.DISCONNECT).reasonCode());
            }
            device.expectClosed(RawMqttClient.PATIENCE);
            atBroker.expect(Message.of(topic, 1, "gone"));
        }
    }

    private static RawMqttClient connectWithWill(
            Deployment deployment, int version, int qos, boolean retain, String topic, String payload) {
        RawMqttClient device = RawMqttClient.open(deployment.port());
        device.send(new Packets.Connect(version, Deployment.unique("w"))
                .will(qos, retain, topic, payload)
                .bytes());
        assertEquals(0, device.expect(Packet.CONNACK).reasonCode());
        return device;
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource
    void aWillHasItsPropertiesAndADisconnectMayAskForIt(Deployment deployment) {
        String topic = deployment.topic("rich");
        Properties properties = new Properties(
                true,
                "text/plain",
                "answers",
                "\u0000\u00FE",
                Properties.user("k", "2", "j", "1", "k", "2").user());
        try (Client atBroker = Library.HIVEMQ_5.connect(deployment.brokerPort())) {
            atBroker.subscribe(topic, 2);
            Mqtt5BlockingClient device = MqttClient.builder()
                    .useMqttVersion5()
                    .identifier(Deployment.unique("rich"))
                    .serverHost("127.0.0.1")
                    .serverPort(deployment.port())
                    .buildBlocking();
            device.connectWith()
                    .willPublish()
                    .topic(topic)
                    .qos(MqttQos.EXACTLY_ONCE)
                    .payload("last".getBytes(java.nio.charset.StandardCharsets.UTF_8))
                    .payloadFormatIndicator(Mqtt5PayloadFormatIndicator.UTF_8)
                    .contentType("text/plain")
                    .responseTopic("answers")
                    .correlationData(new byte[] {0, (byte) 0xFE})
                    .userProperties()
                    .add("k", "2")
                    .add("j", "1")
                    .add("k", "2")
                    .applyUserProperties()
                    .applyWillPublish()
                    .send();
            device.disconnectWith()
                    .reasonCode(Mqtt5DisconnectReasonCode.DISCONNECT_WITH_WILL_MESSAGE)
                    .send();
            atBroker.expect(Message.of(topic, 2, "last").with(properties));
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource
    void aKilledProcessLeavesItsWill(Deployment deployment) {
        String topic = deployment.topic("killed");
        try (MosquittoClients.Subscriber atBroker =
                MosquittoClients.subscribe(deployment.brokerPort(), "-q", "2", "-t", topic)) {
            MosquittoClients.Subscriber device = MosquittoClients.subscribe(
                    deployment.port(),
                    "-t",
                    topic + "/other",
                    "--will-topic",
                    topic,
                    "--will-payload",
                    "killed",
                    "--will-qos",
                    "2");
            device.kill();
            assertEquals(List.of(topic + "|killed"), atBroker.await(1, Duration.ofSeconds(20)));
        }
    }
}
