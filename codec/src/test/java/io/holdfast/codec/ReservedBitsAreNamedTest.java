package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Field cases COD-07 and COD-09: reserved bits are refused, and the message says which. */
class ReservedBitsAreNamedTest {
    @ParameterizedTest
    @CsvSource({
        ", 1f 0e 00 04 4d 51 54 54 04 02 00 3c 00 02 63 31, MQTT-2.2.2-2, 0x1f",
        ", 11 0f 00 04 4d 51 54 54 05 02 00 3c 00 00 02 63 31, MQTT-2.1.3-1, 0x11",
        "MQTT_3_1_1, 60 02 00 01, MQTT-3.6.1-1, 0x60",
        "MQTT_3_1_1, 6a 02 00 01, MQTT-3.6.1-1, 0x6a",
        "MQTT_5, 80 06 00 01 00 01 61 00, MQTT-3.8.1-1, 0x80",
        "MQTT_5, a0 05 00 01 00 01 61, MQTT-3.10.1-1, 0xa0",
        "MQTT_5, c1 00, MQTT-2.1.3-1, 0xc1",
        "MQTT_3_1_1, e8 00, MQTT-2.2.2-2, 0xe8"
    })
    void fixedHeaderFlags(MqttVersion version, String hex, String statement, String firstByte) {
        MqttProtocolException e = Packets.violation(Direction.FROM_CLIENT, version, hex);
        assertEquals(ReasonCode.MALFORMED_PACKET, e.reasonCode());
        assertEquals(statement, e.statement());
        assertTrue(e.getMessage().contains(firstByte) && e.getMessage().contains("flags"), e.getMessage());
        assertFalse(e.getMessage().contains("QoS"), e.getMessage());
    }

    /** 3.1 section 3.1: DUP, QoS and RETAIN are not used in CONNECT. */
    @Test
    void mqtt31LeavesTheFlagsOfConnectUnused() {
        assertNull(
                Packets.violation(Direction.FROM_CLIENT, null, "14 0f 00 06 4d 51 49 73 64 70 03 02 00 0a 00 01 70"));
    }

    @Test
    void theReservedBitOfTheConnectFlags() {
        MqttProtocolException e =
                Packets.violation(Direction.FROM_CLIENT, null, "10 0c 00 04 4d 51 54 54 04 03 00 00 00 00");
        assertEquals("MQTT-3.1.2-3", e.statement());
    }

    /** Every first byte, against the table of the specification. */
    @ParameterizedTest
    @EnumSource(MqttVersion.class)
    void everyFirstByte(MqttVersion version) {
        for (int firstByte = 0; firstByte < 256; firstByte++) {
            int flags = firstByte & 0xF;
            boolean v5 = version.isV5();
            boolean two = version == MqttVersion.MQTT_3_1 ? (flags & 6) == 2 : flags == 2;
            boolean fromClient = switch (firstByte >> 4) {
                case 3 -> (flags & 6) != 6;
                case 4, 5, 7, 12, 14 -> flags == 0;
                case 6, 8, 10 -> two;
                case 15 -> flags == 0 && v5;
                default -> false;
            };
            boolean fromServer = switch (firstByte >> 4) {
                case 3 -> (flags & 6) != 6;
                case 2, 4, 5, 7, 9, 11, 13 -> flags == 0;
                case 6 -> two;
                case 14, 15 -> flags == 0 && v5;
                default -> false;
            };
            byte[] one = {(byte) firstByte};
            assertEquals(fromClient, Packets.violation(Direction.FROM_CLIENT, version, one) == null, Bytes.hex(one));
            assertEquals(fromServer, Packets.violation(Direction.FROM_SERVER, version, one) == null, Bytes.hex(one));
            assertEquals(firstByte >> 4 == 1, Packets.violation(Direction.FROM_CLIENT, null, one) == null);
            assertEquals(firstByte == 0x20, Packets.violation(Direction.FROM_SERVER, null, one) == null);
        }
    }
}
