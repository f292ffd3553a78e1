package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Field cases COD-14 and COD-15; bridges. */
class UnknownProtocolCanBeAnsweredTest {
    @ParameterizedTest
    @CsvSource({
        "10 0e 00 04 4d 51 54 54 06 02 00 3c 00 02 63 31", // MQTT level 6
        "10 0e 00 04 4d 51 54 54 03 02 00 3c 00 02 63 31", // MQTT level 3
        "10 0f 00 04 4d 51 54 54 85 02 00 3c 00 00 02 63 31", // MQTT level 5, bridge: no broker sends it
        "10 10 00 06 4d 51 49 73 64 70 04 02 00 3c 00 02 63 31" // MQIsdp level 4
    })
    void unknownLevel(String hex) {
        assertEquals(
                ReasonCode.UNSUPPORTED_PROTOCOL_VERSION,
                Packets.violation(Direction.FROM_CLIENT, null, hex).reasonCode());
    }

    /** Protocol Level 0x83 or 0x84: a Mosquitto bridge. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "10 0e 00 04 4d 51 54 54 84 02 00 3c 00 02 63 31",
                "10 10 00 06 4d 51 49 73 64 70 83 02 00 3c 00 02 63 31"
            })
    void bridge(String hex) {
        ConnectPacket connect = Packets.connect(Bytes.hex(hex));
        assertTrue(connect.isBridge());
        assertEquals("c1", connect.clientId());
        ByteBuf again = Unpooled.buffer();
        connect.writeRedial(again, true);
        assertEquals(hex.replace(" ", ""), ByteBufUtil.hexDump(again));
    }

    @Test
    void unknownName() {
        MqttProtocolException e =
                Packets.violation(Direction.FROM_CLIENT, null, "10 0e 00 04 4d 51 54 58 04 02 00 3c 00 02 63 31");
        assertEquals(ReasonCode.MALFORMED_PACKET, e.reasonCode());
    }

    @Test
    void mqtt31ClientIdentifiersMayBeLong() {
        byte[] packet = Bytes.hex("10 27 00 06 4d 51 49 73 64 70 03 02 00 3c 00 19"
                + "67 61 74 65 77 61 79 2d 30 31 32 33 34 35 36 37 38 39 2d 61 62 63 64 65 66");
        assertEquals("gateway-0123456789-abcdef", Packets.connect(packet).clientId());
    }
}
