package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Field case COD-11. */
class PacketIdentifierZeroIsRefusedTest {
    @ParameterizedTest
    @CsvSource({
        "FROM_CLIENT, 32 06 00 01 61 00 00 78",
        "FROM_SERVER, 34 06 00 01 61 00 00 78",
        "FROM_CLIENT, 82 06 00 00 00 01 61 00",
        "FROM_CLIENT, a2 05 00 00 00 01 61",
        "FROM_SERVER, 40 02 00 00",
        "FROM_SERVER, 50 02 00 00",
        "FROM_CLIENT, 62 02 00 00",
        "FROM_SERVER, 70 02 00 00",
        "FROM_SERVER, 90 03 00 00 00",
        "FROM_SERVER, b0 02 00 00"
    })
    void inEveryPacketThatHasOne(Direction direction, String hex) {
        MqttProtocolException e = Packets.violation(direction, MqttVersion.MQTT_3_1_1, hex);
        boolean acknowledgement = "34567".indexOf(hex.charAt(0)) >= 0; // or a PUBLISH: one is as right as the other
        assertEquals(acknowledgement ? ReasonCode.PROTOCOL_ERROR : ReasonCode.MALFORMED_PACKET, e.reasonCode());
        assertEquals("MQTT-2.3.1-1", e.statement());
    }
}
