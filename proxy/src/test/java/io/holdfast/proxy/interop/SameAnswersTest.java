package io.holdfast.proxy.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.holdfast.codec.ConnackPacket;
import io.holdfast.codec.MqttVersion;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The same bytes sent to the broker and to the proxy in front of it are answered with the same bytes. What differs on
 * purpose is named in docs/TRANSPARENCY.md, and here.
 */
@InteropTest
class SameAnswersTest {
    private static final String CLOSED = "closed";

    static Stream<Arguments> everywhere() {
        return Stream.of(Deployment.values())
                .flatMap(deployment -> IntStream.of(Packets.V31, Packets.V311, Packets.V5)
                        .mapToObj(version -> Arguments.of(deployment, version)));
    }

    @ParameterizedTest(name = "{0} version {1}")
    @MethodSource("everywhere")
    void subscriptionsAndFlowsAreAnsweredAlike(Deployment deployment, int version) {
        String topic = deployment.topic("same");
        List<String> direct = conversation(deployment.brokerPort(), version, topic);
        List<String> through = conversation(deployment.port(), version, topic);
        if (version == Packets.V5 && !deployment.holds()) {
            // PUBACK, PUBREC: the outbox does not know that there is no matching subscriber (0x10).
            assertEquals("10", reason(direct.get(4)), "the broker's own answer");
            assertEquals(List.of("00", "00"), List.of(reason(through.get(4)), reason(through.get(5))));
            direct.set(4, through.get(4));
            direct.set(5, through.get(5));
        }
        assertEquals(direct, through);
    }

    private static List<String> conversation(int port, int version, String topic) {
        List<String> answers = new ArrayList<>();
        try (RawMqttClient client = RawMqttClient.connect(port, version, Deployment.unique("d"), true)) {
            ask(client, answers, Packets.subscribe(version, 1, topic + "/sub/#", 2));
            ask(client, answers, Packets.subscribe(version, 2, "$share/group/" + topic + "/+", 1));
            ask(client, answers, Packets.unsubscribe(version, 3, topic + "/sub/#"));
            ask(client, answers, Packets.unsubscribe(version, 4, topic + "/never"));
            ask(client, answers, Packets.publish(version, 1, 5, topic + "/nobody/reads", "m"));
            ask(client, answers, Packets.publish(version, 2, 6, topic + "/nobody/reads", "m"));
            ask(client, answers, Packets.ack(Packet.PUBREL, 6));
            client.send(Packets.subscribe(version, 7, topic + "/#/after", 0));
            String last = answer(client);
            // What breaks the protocol the proxy answers itself: the reason may be another one.
            answers.add(last.startsWith("e0") ? "DISCONNECT" : last);
        }
        return answers;
    }

    private static void ask(RawMqttClient client, List<String> answers, byte[] packet) {
        client.send(packet);
        answers.add(answer(client));
    }

    private static String answer(RawMqttClient client) {
        try {
            return client.readPacket(RawMqttClient.PATIENCE).hex();
        } catch (AssertionError e) {
            if (e.getMessage().startsWith("closed by the peer")) {
                return CLOSED;
            }
            throw e;
        }
    }

    /** The reason code of an acknowledgement in hex; its short form is success. */
    private static String reason(String hex) {
        return hex.length() > 8 ? hex.substring(8, 10) : "00";
    }

    @ParameterizedTest(name = "{0} version {1}")
    @MethodSource("everywhere")
    void connectIsAnsweredAlike(Deployment deployment, int version) {
        assertEquals(connacks(deployment.brokerPort(), version), connacks(deployment.port(), version));
    }

    private static List<List<Object>> connacks(int port, int version) {
        return Stream.of(
                        new Packets.Connect(version, Deployment.unique("e")),
                        new Packets.Connect(version, Deployment.unique("e")).keepAlive(0),
                        new Packets.Connect(version, Deployment.unique("e")).cleanStart(false),
                        new Packets.Connect(version, Deployment.unique("e")).credentials("user", "password"),
                        new Packets.Connect(version, ""),
                        new Packets.Connect(version, "").cleanStart(false),
                        new Packets.Connect(version, Deployment.unique("a-client-id-of-more-than-23-bytes")))
                .map(connect -> connack(port, version, connect.bytes()))
                .toList();
    }

    private static List<Object> connack(int port, int version, byte[] connect) {
        try (RawMqttClient client = RawMqttClient.open(port)) {
            client.send(connect);
            String hex = answer(client);
            client.send(Packets.disconnect());
            if (hex.equals(CLOSED) || version != Packets.V5) {
                return List.of(hex);
            }
            byte[] bytes = Packets.hex(hex);
            ConnackPacket connack =
                    ConnackPacket.parse(Unpooled.wrappedBuffer(bytes), 2, bytes.length, MqttVersion.MQTT_5);
            // Receive Maximum, Topic Alias Maximum and Maximum Packet Size are the proxy's.
            return Arrays.asList(
                    connack.code(),
                    connack.sessionPresent(),
                    connack.maximumQos(),
                    connack.retainAvailable(),
                    connack.assignedClientIdentifier() != null,
                    connack.serverKeepAlive(),
                    connack.sessionExpiryInterval(),
                    connack.wildcardSubscriptionAvailable(),
                    connack.subscriptionIdentifiersAvailable(),
                    connack.sharedSubscriptionAvailable(),
                    connack.reasonString());
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource
    void theProxyTellsItsOwnLimits(Deployment deployment) {
        try (RawMqttClient client = RawMqttClient.open(deployment.port())) {
            client.send(new Packets.Connect(Packets.V5, Deployment.unique("f")).bytes());
            byte[] bytes = client.expect(Packet.CONNACK).bytes();
            ConnackPacket connack =
                    ConnackPacket.parse(Unpooled.wrappedBuffer(bytes), 2, bytes.length, MqttVersion.MQTT_5);
            boolean holdOnly =
                    deployment.name().endsWith("_HOLD"); // then the windows are the broker's, where they are smaller
            assertEquals(holdOnly ? 1000 : 1024, connack.receiveMaximum());
            assertEquals(deployment == Deployment.MOSQUITTO_HOLD ? 10 : holdOnly ? 5 : 64, connack.topicAliasMaximum());
            assertEquals(1024 * 1024, connack.maximumPacketSize());
        }
    }

    /** A held PUBLISH, and its acknowledgements, go on as the same bytes; a stored one is written anew with DUP 0. */
    @ParameterizedTest(name = "{0} version {1}")
    @MethodSource("everywhere")
    void aSubscriberGetsTheSameBytesAsDirectly(Deployment deployment, int version) {
        String topic = deployment.topic("bytes");
        byte[] properties = version == Packets.V5
                ? Packets.concat(Packets.userProperty("z", "1"), Packets.hex("0101"), Packets.userProperty("a", "2"))
                : Packets.NONE;
        try (RawMqttClient subscriber =
                RawMqttClient.connect(deployment.brokerPort(), version, Deployment.unique("g"), true)) {
            subscriber.send(Packets.subscribe(version, 1, topic, 1));
            subscriber.expect(Packet.SUBACK);
            List<String> seen = new ArrayList<>();
            for (int port : List.of(deployment.brokerPort(), deployment.port())) {
                try (RawMqttClient device = RawMqttClient.connect(port, version, Deployment.unique("h"), true)) {
                    // DUP on a first sending is the sender's business; no subscriber sees it [MQTT-3.3.1-3].
                    device.send(Packets.publishFlags(version, 0xA, 9, topic, properties, new byte[] {0, 1, 2}));
                    device.expect(Packet.PUBACK, 9);
                    Packet packet = subscriber.expect(Packet.PUBLISH);
                    assertFalse(packet.dup());
                    subscriber.send(Packets.ack(Packet.PUBACK, packet.packetId()));
                    String id = String.format("%04x", packet.packetId());
                    int topicEnd = 4 + 2 * (2 + topic.length());
                    seen.add(packet.hex().substring(0, topicEnd) + packet.hex().substring(topicEnd + id.length()));
                }
            }
            assertEquals(seen.get(0), seen.get(1));
        }
    }
}
