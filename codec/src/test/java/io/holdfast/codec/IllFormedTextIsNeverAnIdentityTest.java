package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Field case COD-10: bad UTF-8 is refused everywhere, never replaced. */
class IllFormedTextIsNeverAnIdentityTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "10 10 00 04 4d 51 54 54 04 02 00 3c 00 04 64 65 76 ff",
                "10 10 00 04 4d 51 54 54 04 02 00 3c 00 04 64 65 76 fe"
            })
    void clientIdentifier(String hex) {
        assertEquals(0x81, Packets.violation(Direction.FROM_CLIENT, null, hex).reasonCode());
    }

    @ParameterizedTest
    @ValueSource(strings = {"30 06 00 03 61 00 62 31", "30 08 00 05 61 2f ed a0 80 31", "30 07 00 04 61 2f c0 af 31"})
    void topicName(String hex) {
        assertEquals(
                0x81,
                Packets.violation(Direction.FROM_CLIENT, MqttVersion.MQTT_3_1_1, hex)
                        .reasonCode());
        assertEquals(
                0x81,
                Packets.violation(Direction.FROM_SERVER, MqttVersion.MQTT_3_1_1, hex)
                        .reasonCode());
    }

    @Test
    void userNameWillTopicAndFilters() {
        byte[] bad = Bytes.join(Bytes.u16(2), 0xC0, 0xAF);
        byte[] zero = Bytes.join(Bytes.u16(1), 0);
        for (byte[] text : new byte[][] {bad, zero}) {
            for (byte[] packet : new byte[][] {
                Bytes.packet(0x10, "MQTT", 4, 0x82, Bytes.u16(0), "c", text),
                Bytes.packet(0x10, "MQTT", 4, 0x06, Bytes.u16(0), "c", text, "will")
            }) {
                assertEquals(
                        0x81,
                        Packets.violation(Direction.FROM_CLIENT, null, packet).reasonCode());
            }
            for (byte[] packet :
                    new byte[][] {Bytes.packet(0x82, Bytes.u16(1), text, 0), Bytes.packet(0xA2, Bytes.u16(1), text)}) {
                assertEquals(
                        0x81,
                        Packets.violation(Direction.FROM_CLIENT, MqttVersion.MQTT_3_1_1, packet)
                                .reasonCode());
            }
        }
    }

    @Test
    void aByteOrderMarkIsKept() {
        assertNull(Packets.violation(Direction.FROM_CLIENT, MqttVersion.MQTT_3_1_1, "30 07 00 04 ef bb bf 61 31"));
        assertEquals(
                "\uFEFFa",
                Packets.connect(Bytes.packet(0x10, "MQTT", 4, 2, Bytes.u16(0), "\uFEFFa"))
                        .clientId());
        assertNotEquals(
                "a",
                Packets.connect(Bytes.packet(0x10, "MQTT", 4, 2, Bytes.u16(0), "\uFEFFa"))
                        .clientId());
    }
}
