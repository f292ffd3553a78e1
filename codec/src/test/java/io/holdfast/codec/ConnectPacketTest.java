package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConnectPacketTest {
    private static final byte[] NO_PROPERTIES = Bytes.properties();
    private static final byte[] FULL = Bytes.packet(
            0x10,
            "MQTT",
            5,
            0xEE, // user name, password, retained Will with QoS 1, Clean Start
            Bytes.u16(60),
            Bytes.properties(
                    PropertyId.SESSION_EXPIRY_INTERVAL,
                    Bytes.u32(0xFFFF_FFFFL),
                    PropertyId.RECEIVE_MAXIMUM,
                    Bytes.u16(10),
                    PropertyId.MAXIMUM_PACKET_SIZE,
                    Bytes.u32(100_000),
                    PropertyId.TOPIC_ALIAS_MAXIMUM,
                    Bytes.u16(5),
                    PropertyId.REQUEST_PROBLEM_INFORMATION,
                    0,
                    PropertyId.AUTHENTICATION_METHOD,
                    "SCRAM",
                    PropertyId.AUTHENTICATION_DATA,
                    "x",
                    PropertyId.USER_PROPERTY,
                    "k",
                    "v"),
            "dévice",
            Bytes.properties(PropertyId.WILL_DELAY_INTERVAL, Bytes.u32(1), PropertyId.CONTENT_TYPE, "t"),
            "will/topic",
            "will payload".repeat(10),
            "user",
            "secret");

    @Test
    void readsEveryField() {
        ConnectPacket connect = Packets.connect(FULL);
        assertEquals(MqttVersion.MQTT_5, connect.version());
        assertEquals("dévice", connect.clientId());
        assertEquals(7, connect.clientIdBytes().length);
        assertTrue(connect.cleanStart());
        assertEquals(60, connect.keepAliveSeconds());
        assertTrue(connect.hasWill());
        assertEquals(1, connect.willQos());
        assertTrue(connect.willRetain());
        assertEquals("user", connect.userName());
        assertTrue(connect.hasPassword());
        assertArrayEquals("secret".getBytes(java.nio.charset.StandardCharsets.UTF_8), connect.passwordBytes());
        assertEquals(0xFFFF_FFFFL, connect.sessionExpiryInterval());
        assertEquals(10, connect.receiveMaximum());
        assertEquals(100_000, connect.maximumPacketSize());
        assertEquals(5, connect.topicAliasMaximum());
        assertFalse(connect.requestProblemInformation());
        assertNotNull(connect.authenticationMethod());
    }

    @Test
    void hasTheDefaultsOfThePacketWithoutProperties() {
        ConnectPacket v5 = Packets.connect(Bytes.packet(0x10, "MQTT", 5, 0, Bytes.u16(0), NO_PROPERTIES, ""));
        assertEquals(0, v5.sessionExpiryInterval());
        assertEquals(65_535, v5.receiveMaximum());
        assertEquals(0, v5.maximumPacketSize());
        assertEquals(0, v5.topicAliasMaximum());
        assertTrue(v5.requestProblemInformation());
        assertFalse(v5.hasUserName());
        assertNull(v5.userName());
        assertNull(v5.passwordBytes());
        ConnectPacket v3 = Packets.connect(Bytes.packet(0x10, "MQTT", 4, 0, Bytes.u16(0), "c"));
        assertEquals(-1, v3.sessionExpiryInterval());
        assertFalse(v3.cleanStart());
    }

    @Test
    void tellsNoSecrets() {
        String text = Packets.connect(FULL).toString();
        assertFalse(text.contains("secret"), text);
        assertFalse(text.contains("=user,"), text);
    }

    @Test
    void redialsWithTheSameBytesButTheCleanFlag() {
        ConnectPacket connect = Packets.connect(FULL);
        ByteBuf out = Unpooled.buffer().writeByte(0);
        connect.writeRedial(out, true);
        assertArrayEquals(FULL, ByteBufUtil.getBytes(out.skipBytes(1)));
        out.clear();
        connect.writeRedial(out, false);
        byte[] expected = FULL.clone();
        expected[3 + 7] &= ~2; // the Remaining Length has two bytes
        assertArrayEquals(expected, ByteBufUtil.getBytes(out));
        assertFalse(Packets.connect(ByteBufUtil.getBytes(out)).cleanStart());
    }

    @Test
    void redialsWithAnotherClientIdentifier() {
        ByteBuf out = Unpooled.buffer();
        for (String id : new String[] {"", "é", "x".repeat(300)}) {
            out.clear();
            Packets.connect(FULL).writeRedial(out, false, id);
            ConnectPacket again = Packets.connect(ByteBufUtil.getBytes(out));
            assertEquals(id, again.clientId());
            assertFalse(again.cleanStart());
            assertEquals("user", again.userName());
            assertTrue(again.hasPassword());
            assertEquals(10, again.receiveMaximum());
            out.clear();
            again.writeRedial(out, true, "dévice");
            assertArrayEquals(FULL, ByteBufUtil.getBytes(out));
        }
    }

    @Test
    void mqtt31MayAnnounceAUserNameAndLeaveItOut() {
        ConnectPacket connect = Packets.connect(Bytes.packet(0x10, "MQIsdp", 3, 0xC3, Bytes.u16(1), "c"));
        assertFalse(connect.hasUserName());
        assertFalse(connect.hasPassword());
        assertThrows(
                MqttProtocolException.class,
                () -> Packets.connect(Bytes.packet(0x10, "MQTT", 4, 0xC2, Bytes.u16(1), "c")));
    }

    @ParameterizedTest
    @CsvSource({
        "03, 0x81, MQTT-3.1.2-3", // reserved bit
        "1e, 0x81, MQTT-3.1.2-14", // Will QoS 3
        "0a, 0x81, MQTT-3.1.2-13", // Will QoS without Will
        "22, 0x81, MQTT-3.1.2-13", // Will Retain without Will
        "42, 0x81, MQTT-3.1.2-22", // Password without User Name
        "06, 0x81, ''", // Will, but no fields of it
        "82, 0x81, ''" // User Name, but no field
    })
    void refusesFlags(String flags, String reasonCode, String statement) {
        byte[] packet = Bytes.packet(0x10, "MQTT", 4, Integer.parseInt(flags, 16), Bytes.u16(0), "c");
        MqttProtocolException e = assertThrows(MqttProtocolException.class, () -> Packets.connect(packet));
        assertEquals(Integer.decode(reasonCode), e.reasonCode());
        assertEquals(statement, e.statement());
    }

    @Test
    void refusesBadPropertiesAndWills() {
        assertEquals(0x82, v5(Bytes.properties(PropertyId.RECEIVE_MAXIMUM, Bytes.u16(0)), 0));
        assertEquals(0x82, v5(Bytes.properties(PropertyId.MAXIMUM_PACKET_SIZE, Bytes.u32(0)), 0));
        assertEquals(0x82, v5(Bytes.properties(PropertyId.REQUEST_PROBLEM_INFORMATION, 2), 0));
        assertEquals(0x82, v5(Bytes.properties(PropertyId.AUTHENTICATION_DATA, "x"), 0));
        assertEquals(0x82, v5(Bytes.properties(0x21, Bytes.u16(1), 0x21, Bytes.u16(1)), 0));
        assertEquals(0x81, v5(Bytes.properties(PropertyId.TOPIC_ALIAS, Bytes.u16(1)), 0));
        assertEquals(0x81, v5(Bytes.properties(PropertyId.WILL_DELAY_INTERVAL, Bytes.u32(1)), 0));
        assertEquals(0x81, v5(Bytes.hex("05"), 0));
        assertEquals(0x81, v5(NO_PROPERTIES, 4, NO_PROPERTIES, "a/#", ""));
        assertEquals(0x81, v5(NO_PROPERTIES, 4, Bytes.properties(PropertyId.TOPIC_ALIAS, Bytes.u16(1)), "a", ""));
        assertEquals(0x81, v5(NO_PROPERTIES, 0, "trailing"));
    }

    private static int v5(byte[] properties, int flags, Object... willFields) {
        byte[] packet = Bytes.packet(0x10, "MQTT", 5, flags, Bytes.u16(0), properties, "c", Bytes.join(willFields));
        return assertThrows(MqttProtocolException.class, () -> Packets.connect(packet))
                .reasonCode();
    }

    @Test
    void everyShorterPacketIsMalformed() {
        ByteBuf buf = Unpooled.wrappedBuffer(FULL);
        for (int end = 3; end < FULL.length; end++) {
            int shorter = end;
            MqttProtocolException e =
                    assertThrows(MqttProtocolException.class, () -> ConnectPacket.parse(buf, 0, 3, shorter));
            assertEquals(ReasonCode.MALFORMED_PACKET, e.reasonCode());
        }
    }
}
