package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Field case COD-16, as far as one packet tells. */
class EmptyTopicNameIsRefusedTest {
    @ParameterizedTest
    @CsvSource({
        "MQTT_3_1_1, 30 02 00 00, 0x82",
        "MQTT_3_1, 30 02 00 00, 0x82",
        "MQTT_5, 30 04 00 00 00 78, 0x82", // no alias
        "MQTT_5, 30 08 00 01 61 03 23 00 00 78, 0x94" // alias 0
    })
    void refused(MqttVersion version, String hex, String reasonCode) {
        assertEquals(
                Integer.decode(reasonCode),
                Packets.violation(Direction.FROM_CLIENT, version, hex).reasonCode());
    }

    @Test
    void whetherAnAliasIsKnownIsTheConnectionsMatter() {
        assertNull(Packets.violation(Direction.FROM_CLIENT, MqttVersion.MQTT_5, "30 07 00 00 03 23 00 03 78"));
    }
}
