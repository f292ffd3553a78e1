package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Field cases COD-06 and COD-13: what stands behind the last field belongs to the packet, and makes it malformed. */
class TrailingBytesNeverStartAnotherPacketTest {
    @ParameterizedTest
    @CsvSource({
        "FROM_CLIENT, MQTT_3_1_1, c0 02 d0 00",
        "FROM_CLIENT, MQTT_5, c0 02 c0 00",
        "FROM_CLIENT, MQTT_3_1_1, e0 02 c0 00",
        "FROM_SERVER, MQTT_3_1_1, d0 01 00",
        "FROM_CLIENT, MQTT_3_1_1, 40 04 00 01 c0 00",
        "FROM_CLIENT, MQTT_3_1_1, 50 04 00 01 c0 00",
        "FROM_CLIENT, MQTT_3_1_1, 62 04 00 01 c0 00",
        "FROM_CLIENT, MQTT_3_1_1, 70 04 00 01 c0 00",
        "FROM_SERVER, MQTT_3_1_1, b0 04 00 01 c0 00",
        "FROM_SERVER, MQTT_3_1_1, 20 04 00 00 c0 00",
        "FROM_CLIENT, MQTT_5, 40 06 00 01 00 00 c0 00",
        "FROM_CLIENT, MQTT_5, e0 04 00 00 c0 00",
        "FROM_CLIENT, MQTT_5, f0 04 18 00 c0 00",
        "FROM_SERVER, MQTT_5, 20 05 00 00 00 c0 00",
        "FROM_CLIENT, MQTT_3_1_1, 40 01 00 c0 00" // too short
    })
    void oneMalformedPacket(Direction direction, MqttVersion version, String hex) {
        try (DecoderPeer peer = new DecoderPeer(direction, version)) {
            peer.checksFrames = true;
            peer.receive(hex);
            assertEquals(List.of(), peer.frames);
            assertEquals(ReasonCode.MALFORMED_PACKET, peer.violation().reasonCode());
        }
    }

    @Test
    void aPasswordThatTheFlagsDoNotAnnounce() {
        MqttProtocolException e = Packets.violation(
                Direction.FROM_CLIENT, null, "10 15 00 04 4d 51 54 54 04 82 00 3c 00 02 63 31 00 01 75 00 02 70 77");
        assertEquals(ReasonCode.MALFORMED_PACKET, e.reasonCode());
    }
}
