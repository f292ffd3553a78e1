package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConnackPacketTest {
    private static final ConnackLimits LIMITS = new ConnackLimits(1024, 16, 1 << 20, 2);

    private static byte[] v5(int flags, int code, Object... properties) {
        return Bytes.packet(0x20, flags, code, Bytes.properties(properties));
    }

    private static byte[] written(MqttVersion version, byte[] packet, ConnackLimits limits) {
        ByteBuf out = Unpooled.buffer();
        Packets.connack(version, packet).writeTo(out, limits, 0);
        return ByteBufUtil.getBytes(out);
    }

    @Test
    void readsEveryField() {
        ConnackPacket connack = Packets.connack(
                MqttVersion.MQTT_5,
                v5(
                        1,
                        0,
                        0x11,
                        Bytes.u32(3600),
                        0x21,
                        Bytes.u16(20),
                        0x24,
                        1,
                        0x25,
                        0,
                        0x27,
                        Bytes.u32(1000),
                        0x12,
                        "id",
                        0x22,
                        Bytes.u16(10),
                        0x1F,
                        "why",
                        0x28,
                        0,
                        0x29,
                        0,
                        0x2A,
                        0,
                        0x13,
                        Bytes.u16(30)));
        assertTrue(connack.sessionPresent());
        assertEquals(0, connack.code());
        assertEquals(3600, connack.sessionExpiryInterval());
        assertEquals(20, connack.receiveMaximum());
        assertEquals(1, connack.maximumQos());
        assertFalse(connack.retainAvailable());
        assertEquals(1000, connack.maximumPacketSize());
        assertEquals("id", connack.assignedClientIdentifier());
        assertEquals(10, connack.topicAliasMaximum());
        assertEquals("why", connack.reasonString());
        assertFalse(connack.wildcardSubscriptionAvailable());
        assertFalse(connack.subscriptionIdentifiersAvailable());
        assertFalse(connack.sharedSubscriptionAvailable());
        assertEquals(30, connack.serverKeepAlive());
    }

    @Test
    void hasTheDefaultsOfThePacketWithoutProperties() {
        ConnackPacket connack = Packets.connack(MqttVersion.MQTT_5, v5(0, 0));
        assertFalse(connack.sessionPresent());
        assertEquals(-1, connack.sessionExpiryInterval());
        assertEquals(65_535, connack.receiveMaximum());
        assertEquals(2, connack.maximumQos());
        assertTrue(connack.retainAvailable());
        assertEquals(268_435_460, connack.maximumPacketSize());
        assertNull(connack.assignedClientIdentifier());
        assertEquals(0, connack.topicAliasMaximum());
        assertNull(connack.reasonString());
        assertTrue(connack.sharedSubscriptionAvailable());
        assertEquals(-1, connack.serverKeepAlive());
    }

    @Test
    void setsItsOwnLimitsInPlaceAndLeavesTheRestAsItWas() {
        byte[] packet = v5(
                1,
                0,
                0x26,
                "k",
                "v",
                0x21,
                Bytes.u16(20),
                0x12,
                "id",
                0x22,
                Bytes.u16(10),
                0x27,
                Bytes.u32(1000),
                0x24,
                1);
        byte[] expected = v5(
                1,
                0,
                0x26,
                "k",
                "v",
                0x21,
                Bytes.u16(1024),
                0x12,
                "id",
                0x22,
                Bytes.u16(16),
                0x27,
                Bytes.u32(1000),
                0x24,
                1);
        assertArrayEquals(expected, written(MqttVersion.MQTT_5, packet, LIMITS));
    }

    @Test
    void addsLimitsThatTheDefaultsDoNotSay() {
        byte[] expected = v5(0, 0, 0x1F, "x", 0x21, Bytes.u16(1024), 0x22, Bytes.u16(16), 0x27, Bytes.u32(1 << 20));
        assertArrayEquals(expected, written(MqttVersion.MQTT_5, v5(0, 0, 0x1F, "x"), LIMITS));
        ConnackLimits none = new ConnackLimits(65_535, 0, ConnackPacket.NO_MAXIMUM_PACKET_SIZE, 2);
        assertArrayEquals(v5(0, 0), written(MqttVersion.MQTT_5, v5(0, 0), none));
        ConnackLimits low = new ConnackLimits(65_535, 0, 100, 0);
        assertArrayEquals(
                v5(0, 0, 0x24, 0, 0x27, Bytes.u32(100)),
                written(MqttVersion.MQTT_5, v5(0, 0, 0x24, 1, 0x27, Bytes.u32(200)), low));
        assertArrayEquals(v5(0, 0, 0x27, Bytes.u32(100), 0x24, 0), written(MqttVersion.MQTT_5, v5(0, 0), low));
    }

    @Test
    void rewritesAcrossTheSizesOfThePropertyLength() {
        for (int length = 100; length < 140; length++) {
            byte[] out = written(MqttVersion.MQTT_5, v5(0, 0, 0x1F, "x".repeat(length)), LIMITS);
            ConnackPacket again = Packets.connack(MqttVersion.MQTT_5, out);
            assertEquals(length, again.reasonString().length());
            assertEquals(1024, again.receiveMaximum());
        }
    }

    @Test
    void passesFailuresAndOlderVersionsAsTheyAre() {
        byte[] failure = v5(0, 0x87, 0x1F, "no", 0x21, Bytes.u16(1));
        assertArrayEquals(failure, written(MqttVersion.MQTT_5, failure, LIMITS));
        for (String hex : new String[] {"20 02 01 00", "20 02 00 05"}) {
            assertArrayEquals(Bytes.hex(hex), written(MqttVersion.MQTT_3_1_1, Bytes.hex(hex), LIMITS));
        }
        assertArrayEquals(Bytes.hex("20 02 07 00"), written(MqttVersion.MQTT_3_1, Bytes.hex("20 02 07 00"), LIMITS));
    }

    @ParameterizedTest
    @CsvSource({
        "MQTT_5, 20 03 02 00 00, 0x81", // reserved flag
        "MQTT_5, 20 03 01 87 00, 0x82", // Session Present and a failure
        "MQTT_5, 20 02 00 00, 0x81", // no Property Length
        "MQTT_5, 20 04 00 00 00 00, 0x81", // trailing byte
        "MQTT_5, 20 06 00 00 03 21 00 00, 0x82", // Receive Maximum 0
        "MQTT_5, 20 05 00 00 02 24 02, 0x82", // Maximum QoS 2
        "MQTT_5, 20 05 00 00 02 01 00, 0x81", // a property of PUBLISH
        "MQTT_5, 20 07 00 00 04 25 00 25 00, 0x82", // twice
        "MQTT_5, 20 03 00 01 00, 0x82", // a reserved code
        "MQTT_3_1_1, 20 02 00 06, 0x82",
        "MQTT_3_1_1, 20 03 00 00 00, 0x81",
        "MQTT_3_1_1, 20 01 00, 0x81"
    })
    void refuses(MqttVersion version, String hex, String reasonCode) {
        MqttProtocolException e =
                assertThrows(MqttProtocolException.class, () -> Packets.connack(version, Bytes.hex(hex)));
        assertEquals(Integer.decode(reasonCode), e.reasonCode(), e.getMessage());
    }

    @Test
    void refusesLimitsOutOfRange() {
        assertThrows(IllegalArgumentException.class, () -> new ConnackLimits(0, 0, 1, 0));
        assertThrows(IllegalArgumentException.class, () -> new ConnackLimits(1, 65_536, 1, 0));
        assertThrows(IllegalArgumentException.class, () -> new ConnackLimits(1, 0, 0, 0));
        assertThrows(IllegalArgumentException.class, () -> new ConnackLimits(1, 0, 1, 3));
    }

    /** [MQTT-3.2.2-19], [MQTT-3.2.2-20], [MQTT-3.1.2-24]. */
    @Test
    void leavesOutTextThatTheDeviceHasNoRoomFor() {
        byte[] full = Bytes.packet(
                0x20, 0, 0, Bytes.properties(0x1F, "reason", 0x12, "id", 0x26, "k", "v", 0x21, Bytes.u16(20)));
        ConnackPacket connack = Packets.connack(MqttVersion.MQTT_5, full);
        ConnackLimits limits = new ConnackLimits(10, 5, 100_000, 2);
        ByteBuf whole = Unpooled.buffer();
        assertTrue(connack.writeTo(whole, limits, 0));
        ByteBuf same = Unpooled.buffer();
        assertTrue(connack.writeTo(same, limits, whole.readableBytes()));
        assertEquals(whole, same);

        ByteBuf shorter = Unpooled.buffer();
        assertTrue(connack.writeTo(shorter, limits, whole.readableBytes() - 1));
        assertEquals("20 13 00 00 10 12 00 02 69 64 21 00 0a 22 00 05 27 00 01 86 a0", Bytes.hex(shorter));

        ByteBuf none = Unpooled.buffer();
        assertFalse(connack.writeTo(none, limits, shorter.readableBytes() - 1));
        assertEquals(0, none.readableBytes());

        byte[] refusal = Bytes.packet(0x20, 0, 0x87, Bytes.properties(0x1F, "no"));
        ByteBuf bare = Unpooled.buffer();
        assertTrue(Packets.connack(MqttVersion.MQTT_5, refusal).writeTo(bare, limits, 5));
        assertEquals("20 03 00 87 00", Bytes.hex(bare));
    }
}
