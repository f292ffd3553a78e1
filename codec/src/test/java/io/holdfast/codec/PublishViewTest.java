package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PublishViewTest {
    private static final byte[] USER_PROPERTY = Bytes.join(PropertyId.USER_PROPERTY, "k", "v");

    private static byte[] userProperties(int count) {
        byte[][] all = new byte[count][];
        Arrays.fill(all, USER_PROPERTY);
        return Bytes.join((Object[]) all);
    }

    private static PublishView v5(byte[] packet) {
        return Packets.publish(Direction.FROM_CLIENT, MqttVersion.MQTT_5, packet);
    }

    @Test
    void pointsAtEveryFieldOfAPacketInTheMiddleOfABuffer() {
        byte[] packet = Bytes.packet(
                0x3B,
                "a/b",
                Bytes.u16(0xABCD),
                Bytes.properties(
                        USER_PROPERTY,
                        PropertyId.MESSAGE_EXPIRY_INTERVAL,
                        Bytes.u32(0xFFFF_FFFFL),
                        PropertyId.TOPIC_ALIAS,
                        Bytes.u16(7)),
                0x70,
                0x71);
        ByteBuf buf = Unpooled.buffer().writeZero(5).writeBytes(packet).writeZero(3);
        PublishView view =
                new PublishView(Direction.FROM_CLIENT).wrap(buf, 5, 7, 5 + packet.length, MqttVersion.MQTT_5, 128);
        assertEquals(0x3B, view.firstByte());
        assertEquals(1, view.qos());
        assertTrue(view.isDup());
        assertTrue(view.isRetain());
        assertEquals(0xABCD, view.packetId());
        assertEquals(9, view.topicOffset());
        assertEquals(3, view.topicLength());
        assertEquals(15, view.propertiesOffset());
        assertEquals(15, view.propertiesLength());
        assertEquals(18, view.metadataLength());
        assertEquals(30, view.payloadOffset());
        assertEquals(2, view.payloadLength());
        assertEquals(7, view.topicAlias());
        assertEquals(27, view.topicAliasOffset());
        assertEquals(0xFFFF_FFFFL, view.messageExpiryInterval());
        assertEquals(22, view.messageExpiryOffset());
        assertEquals(1, view.userPropertyCount());
        assertFalse(view.userPropertiesTruncated());
        assertEquals(packet.length, view.frameLength());
    }

    @Test
    void forgetsThePacketBefore() {
        byte[] rich = Bytes.packet(
                0x3B,
                "a",
                Bytes.u16(1),
                Bytes.properties(USER_PROPERTY, 2, Bytes.u32(1), PropertyId.TOPIC_ALIAS, Bytes.u16(7)));
        byte[] poor = Bytes.packet(0x30, "a");
        PublishView view = new PublishView(Direction.FROM_CLIENT);
        view.wrap(Unpooled.wrappedBuffer(rich), 0, 2, rich.length, MqttVersion.MQTT_5, 128);
        view.wrap(Unpooled.wrappedBuffer(poor), 0, 2, poor.length, MqttVersion.MQTT_3_1_1, 128);
        assertEquals(0, view.packetId());
        assertEquals(0, view.topicAlias());
        assertEquals(-1, view.topicAliasOffset());
        assertEquals(-1, view.messageExpiryInterval());
        assertEquals(0, view.userPropertyCount());
        assertEquals(0, view.propertiesLength());
        assertEquals(0, view.payloadLength());
    }

    @ParameterizedTest
    @CsvSource({
        "36 06 00 01 61 00 01 78, 0x81, MQTT-3.3.1-4", // QoS 3
        "38 04 00 01 61 78, 0x81, MQTT-3.3.1-2", // DUP with QoS 0
        "32 06 00 01 61 00 00 00, 0x82, MQTT-2.2.1-3", // Packet Identifier 0
        "30 01 00, 0x81, ''", // ends in the topic length
        "30 03 00 02 61, 0x81, ''", // ends in the topic
        "32 04 00 01 61 00, 0x81, ''", // ends in the Packet Identifier
        "30 03 00 01 61, 0x81, MQTT-1.5.5-1", // ends before the Property Length
        "30 04 00 01 61 01, 0x81, ''", // ends in the properties
        "30 05 00 01 61 80 00, 0x81, MQTT-1.5.5-1", // overlong Property Length
        "30 04 00 01 23 00, 0x81, MQTT-3.3.2-2", // wildcard
        "30 06 00 01 61 02 01 02, 0x82, ''", // Payload Format 2
        "30 06 00 01 61 02 17 01, 0x81, ''", // a property of CONNECT
        "30 08 00 01 61 04 08 00 01 2b, 0x82, MQTT-3.3.2-14", // Response Topic with wildcard
        "30 07 00 01 61 03 23 00 00, 0x94, MQTT-3.3.2-8" // Topic Alias 0
    })
    void refuses(String hex, String reasonCode, String statement) {
        MqttProtocolException e = assertThrows(MqttProtocolException.class, () -> v5(Bytes.hex(hex)));
        assertEquals(Integer.decode(reasonCode), e.reasonCode(), e.getMessage());
        assertEquals(statement, e.statement());
    }

    @Test
    void anAliasMayStandForTheTopic() {
        PublishView view = v5(Bytes.packet(0x30, "", Bytes.properties(PropertyId.TOPIC_ALIAS, Bytes.u16(65535))));
        assertEquals(0, view.topicLength());
        assertEquals(65535, view.topicAlias());
    }

    @Test
    void onlyAServerMaySendSubscriptionIdentifiersAndManyLevels() {
        byte[] packet = Bytes.packet(0x30, "/".repeat(500), Bytes.properties(0x0B, 1, 0x0B, 2));
        assertEquals(
                500,
                Packets.publish(Direction.FROM_SERVER, MqttVersion.MQTT_5, packet)
                        .topicLength());
        assertThrows(MqttProtocolException.class, () -> v5(packet));
    }

    @Test
    void walksAtMostOneUserPropertyAboveTheMaximum() {
        byte[] garbage = Bytes.hex("ff ff ff");
        byte[] properties = Bytes.properties(userProperties(6), garbage);
        byte[] packet = Bytes.packet(0x30, "a", properties, 0x78);
        PublishView view = Packets.publish(Direction.FROM_CLIENT, MqttVersion.MQTT_5, packet, 5);
        assertEquals(6, view.userPropertyCount());
        assertTrue(view.userPropertiesTruncated());
        assertEquals(1, view.payloadLength());
        assertEquals(6, view.countUserProperties());
        assertThrows(
                MqttProtocolException.class,
                () -> Packets.publish(Direction.FROM_CLIENT, MqttVersion.MQTT_5, packet, 6));
    }

    @Test
    void countsThemAllOnDemandAndFindsAnAliasBehindThem() {
        byte[] packet = Bytes.packet(
                0x30, "", Bytes.properties(userProperties(300), PropertyId.TOPIC_ALIAS, Bytes.u16(9)), 0x78);
        PublishView view = v5(packet);
        assertEquals(129, view.userPropertyCount());
        assertTrue(view.userPropertiesTruncated());
        assertEquals(300, view.countUserProperties());
        assertEquals(0, view.topicAlias());
        assertEquals(9, view.topicAliasBehindCut());
        byte[] exact = Bytes.packet(0x30, "a", Bytes.properties(userProperties(128)));
        assertFalse(v5(exact).userPropertiesTruncated());
        assertEquals(128, v5(exact).userPropertyCount());
    }

    @Test
    void thereIsNoLimitWithTheLargestMaximum() {
        byte[] packet = Bytes.packet(0x30, "a", Bytes.properties(userProperties(300)));
        PublishView view = Packets.publish(Direction.FROM_SERVER, MqttVersion.MQTT_5, packet, Integer.MAX_VALUE);
        assertEquals(300, view.userPropertyCount());
        assertFalse(view.userPropertiesTruncated());
    }
}
