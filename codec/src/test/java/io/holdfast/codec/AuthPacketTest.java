package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The statements of v5 §4.12 about when AUTH may come. */
class AuthPacketTest {
    @ParameterizedTest
    @CsvSource(
            nullValues = "null",
            value = {
                "FROM_CLIENT, 0x18, null, false, MQTT-4.12.0-7",
                "FROM_SERVER, 0x18, null, true, MQTT-4.12.0-6",
                "FROM_CLIENT, 0x18, other, false, MQTT-4.12.0-5",
                "FROM_SERVER, 0x18, other, true, MQTT-4.12.0-5",
                "FROM_CLIENT, 0x19, m, false, MQTT-4.12.0-3",
                "FROM_SERVER, 0x00, m, false, MQTT-4.12.0-2"
            })
    void refuses(Direction from, String code, String connectMethod, boolean connected, String statement) {
        AuthPacket auth = new AuthPacket(Integer.decode(code), "m");
        MqttProtocolException e =
                assertThrows(MqttProtocolException.class, () -> auth.requirePartOf(connectMethod, connected, from));
        assertEquals(ReasonCode.PROTOCOL_ERROR, e.reasonCode());
        assertEquals(statement, e.statement());
    }

    @ParameterizedTest
    @CsvSource({
        "FROM_CLIENT, 0x18, false",
        "FROM_CLIENT, 0x18, true",
        "FROM_CLIENT, 0x19, true",
        "FROM_SERVER, 0x18, false",
        "FROM_SERVER, 0x00, true"
    })
    void takes(Direction from, String code, boolean connected) {
        new AuthPacket(Integer.decode(code), "m").requirePartOf("m", connected, from);
    }
}
