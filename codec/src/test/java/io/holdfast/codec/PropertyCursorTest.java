package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PropertyCursorTest {
    @Test
    void walksEveryTypeOfValue() {
        ByteBuf buf = Bytes.buf(
                "ee" // before
                        + "01 01" // Payload Format Indicator
                        + "23 ff fe" // Topic Alias
                        + "02 ff ff ff ff" // Message Expiry Interval
                        + "0b ff 7f" // Subscription Identifier
                        + "09 00 02 00 ff" // Correlation Data
                        + "03 00 01 61" // Content Type
                        + "26 00 01 6b 00 02 76 77" // User Property
                        + "ee"); // behind
        PropertyCursor property = new PropertyCursor().wrap(buf, 1, buf.readableBytes() - 2);
        assertTrue(property.next());
        assertEquals(PropertyId.PAYLOAD_FORMAT_INDICATOR, property.identifier());
        assertEquals(1, property.offset());
        assertEquals(1, property.intValue());
        assertTrue(property.next());
        assertEquals(0xFFFE, property.intValue());
        assertEquals(2, property.valueLength());
        assertTrue(property.next());
        assertEquals(0xFFFF_FFFFL, property.intValue());
        assertTrue(property.next());
        assertEquals(16_383, property.intValue());
        assertEquals(2, property.valueLength());
        assertTrue(property.next());
        assertEquals(2, property.stringLength());
        assertEquals(property.valueOffset() + 2, property.stringOffset());
        assertTrue(property.next());
        assertEquals('a', buf.getByte(property.stringOffset()));
        assertTrue(property.next());
        assertEquals('k', buf.getByte(property.nameOffset()));
        assertEquals(1, property.nameLength());
        assertEquals('v', buf.getByte(property.stringOffset()));
        assertEquals(2, property.stringLength());
        assertEquals(7, property.valueLength());
        assertEquals(buf.readableBytes() - 1, property.end());
        assertFalse(property.next());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "00",
                "04",
                "2b",
                "7f",
                "81 00", // unknown identifiers
                "01",
                "23 00",
                "02 00 00 00",
                "0b",
                "0b 80",
                "0b 80 00",
                "0b ff ff ff ff 01", // cut or malformed
                "03",
                "03 00",
                "03 00 02 61",
                "09 00 01",
                "26 00 01 6b",
                "26 00 01 6b 00",
                "26 00 01 6b 00 01",
                "03 00 01 ff",
                "03 00 01 00",
                "26 00 01 ff 00 00",
                "26 00 00 00 01 80" // text
            })
    void refuses(String hex) {
        ByteBuf buf = Bytes.buf(hex + "00 00 00 00");
        PropertyCursor property = new PropertyCursor().wrap(buf, 0, Bytes.hex(hex).length);
        MqttProtocolException e = assertThrows(MqttProtocolException.class, property::next);
        assertEquals(ReasonCode.MALFORMED_PACKET, e.reasonCode());
    }

    @Test
    void allowsWhatTheTableAllows() {
        assertTrue(PropertyId.isAllowed(PropertyId.TOPIC_ALIAS, PacketType.PUBLISH));
        assertFalse(PropertyId.isAllowed(PropertyId.TOPIC_ALIAS, PropertyId.WILL));
        assertTrue(PropertyId.isAllowed(PropertyId.WILL_DELAY_INTERVAL, PropertyId.WILL));
        assertFalse(PropertyId.isAllowed(PropertyId.WILL_DELAY_INTERVAL, PacketType.CONNECT));
        assertFalse(PropertyId.isAllowed(PropertyId.REASON_STRING, PacketType.PUBLISH));
        assertFalse(PropertyId.isAllowed(0x04, PacketType.PUBLISH));
        for (int type = 1; type < 16; type++) {
            boolean none = type == PacketType.PINGREQ || type == PacketType.PINGRESP;
            assertEquals(!none, PropertyId.isAllowed(PropertyId.USER_PROPERTY, type));
        }
        assertTrue(PropertyId.mayRepeat(PropertyId.SUBSCRIPTION_IDENTIFIER, PacketType.PUBLISH));
        assertFalse(PropertyId.mayRepeat(PropertyId.SUBSCRIPTION_IDENTIFIER, PacketType.SUBSCRIBE));
    }
}
