package io.holdfast.proxy.interop;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Shared subscriptions and the subscription options of MQTT 5 (v5 §3.8.3.1, §4.8). */
@InteropTest
class SubscriptionTest {
    private static final int QOS_1 = 1;
    private static final int NO_LOCAL = 4;
    private static final int RETAIN_AS_PUBLISHED = 8;
    private static final int RETAIN_IF_NEW = 0x10;
    private static final int RETAIN_NEVER = 0x20;

    @ParameterizedTest(name = "{0}")
    @EnumSource
    void aGroupSharesItsMessages(Deployment deployment) {
        String topic = deployment.topic("shared");
        String filter = "$share/" + Deployment.unique("group") + "/" + topic + "/#";
        try (Client one = Library.HIVEMQ_5.connect(deployment.port());
                Client two = Library.PAHO_3_1_1.connect(deployment.port());
                Client three = Library.HIVEMQ_5.connect(deployment.brokerPort());
                Client device = Library.PAHO_5.connect(deployment.port())) {
            one.subscribe(filter, 1);
            two.subscribe(filter, 1);
            three.subscribe(filter, 1);
            List<String> sent = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                sent.add("" + i);
                device.publish(Message.of(topic + "/" + i, 1, "" + i));
            }
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> one.received().size()
                                    + two.received().size()
                                    + three.received().size()
                            >= sent.size());
            List<String> all = new ArrayList<>();
            for (Client member : List.of(one, two, three)) {
                member.received().forEach(message -> all.add(message.payload()));
            }
            all.sort((left, right) -> Integer.parseInt(left) - Integer.parseInt(right));
            assertEquals(sent, all);
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource
    void everyMatchingSubscriptionIdentifierArrives(Deployment deployment) {
        String topic = deployment.topic("ids");
        try (RawMqttClient device =
                RawMqttClient.connect(deployment.port(), Packets.V5, Deployment.unique("i"), true)) {
            subscribe(device, 1, topic, QOS_1, new byte[] {0x0B, (byte) 0x90, 0x4E}); // 10,000
            subscribe(device, 2, topic + "/#", 0, new byte[] {0x0B, 7});
            device.send(Packets.publish(Packets.V5, 1, 3, topic, "m"));
            List<String> identifiers = new ArrayList<>();
            while (identifiers.size() < 2) {
                Packet packet = device.readPacket(RawMqttClient.PATIENCE);
                if (packet.type() == Packet.PUBLISH) {
                    byte[] properties = packet.publishProperties();
                    for (int at = 0; at < properties.length; ) {
                        assertEquals(0x0B, properties[at]);
                        int length = properties[at + 1] < 0 ? 3 : 2;
                        identifiers.add(length == 3 ? "10000" : "" + properties[at + 1]);
                        at += length;
                    }
                    if (packet.qos() > 0) {
                        device.send(Packets.ack(Packet.PUBACK, packet.packetId()));
                    }
                }
            }
            identifiers.sort(null);
            assertEquals(List.of("10000", "7"), identifiers);
        }
    }

    /** Through the outbox the uplink is the publisher, so the device gets its own messages in spite of No Local. */
    @ParameterizedTest(name = "{0}")
    @EnumSource
    void noLocalHoldsForHoldRoutesOnly(Deployment deployment) {
        String topic = deployment.topic("local");
        try (RawMqttClient device = RawMqttClient.connect(deployment.port(), Packets.V5, Deployment.unique("l"), true);
                Client other = Library.HIVEMQ_5.connect(deployment.port())) {
            subscribe(device, 1, topic, NO_LOCAL, Packets.NONE);
            device.send(Packets.publish(Packets.V5, 1, 2, topic, "own"));
            List<String> got = new ArrayList<>();
            for (boolean acked = false, echoed = deployment.holds(); !acked || !echoed; ) {
                Packet packet = device.readPacket(RawMqttClient.PATIENCE);
                acked |= packet.type() == Packet.PUBACK;
                if (packet.type() == Packet.PUBLISH) {
                    got.add(packet.text(Packets.V5));
                    echoed = true;
                }
            }
            other.publish(Message.of(topic, 1, "other's"));
            got.add(device.expect(Packet.PUBLISH).text(Packets.V5));
            assertEquals(deployment.holds() ? List.of("other's") : List.of("own", "other's"), got);
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource
    void retainHandlingAndRetainAsPublishedAreTheBrokers(Deployment deployment) {
        String topic = deployment.topic("options");
        try (RawMqttClient device = RawMqttClient.connect(deployment.port(), Packets.V5, Deployment.unique("o"), true);
                Client other = Library.HIVEMQ_5.connect(deployment.port());
                Client watcher = Library.HIVEMQ_5.connect(deployment.brokerPort())) {
            watcher.subscribe(topic, 1);
            Message kept = Message.of(topic, 1, "kept").retained();
            other.publish(kept);
            watcher.expect(kept.live());
            subscribe(device, 1, topic, RETAIN_AS_PUBLISHED | RETAIN_NEVER, Packets.NONE);
            subscribe(device, 2, topic, RETAIN_AS_PUBLISHED | RETAIN_IF_NEW, Packets.NONE); // is not new
            other.publish(Message.of(topic, 1, "live").retained());
            Packet live = device.expect(Packet.PUBLISH);
            assertEquals("live", live.text(Packets.V5));
            assertTrue(live.retain());
            subscribe(device, 3, topic, RETAIN_AS_PUBLISHED, Packets.NONE);
            Packet again = device.expect(Packet.PUBLISH);
            assertEquals("live", again.text(Packets.V5));
            assertTrue(again.retain());
            other.publish(Message.of(topic, 1, "").retained());
            Packet removed = device.expect(Packet.PUBLISH);
            assertArrayEquals(new byte[0], removed.payload(Packets.V5));
            assertTrue(removed.retain());
        }
    }

    private static void subscribe(RawMqttClient device, int packetId, String filter, int options, byte[] properties) {
        byte[] plain = Packets.subscribe(Packets.V5, packetId, filter, options);
        // fixed header (2), packet id (2), property length (1)
        byte[] packet = Packets.concat(
                new byte[] {plain[0], (byte) (plain[1] + properties.length), plain[2], plain[3]},
                new byte[] {(byte) properties.length},
                properties,
                java.util.Arrays.copyOfRange(plain, 5, plain.length));
        device.send(packet);
        Packet suback = device.expect(Packet.SUBACK, packetId);
        byte[] body = suback.body();
        assertEquals(options & 3, body[body.length - 1]);
    }
}
