package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TopicNameTest {
    private static void validate(String name) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        TopicName.validate(Unpooled.wrappedBuffer(bytes), 0, bytes.length, MqttVersion.MQTT_5);
    }

    private static MqttProtocolException refused(String name) {
        return assertThrows(MqttProtocolException.class, () -> validate(name));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "/", "//", "$SYS/x", "a/b/c/d/e/f/g/h", "漢/é/😀", "*,\"$!.%&", "\uFEFFa", "a b"})
    void takes(String name) {
        assertDoesNotThrow(() -> validate(name));
    }

    @Test
    void findsAWildcardAtEveryPosition() {
        for (int length = 1; length < 40; length++) {
            for (int at = 0; at < length; at++) {
                for (char wildcard : new char[] {'+', '#'}) {
                    String name = "a".repeat(at) + wildcard + "a".repeat(length - at - 1);
                    assertEquals(ReasonCode.MALFORMED_PACKET, refused(name).reasonCode());
                    assertEquals("MQTT-3.3.2-2", refused(name).statement());
                }
            }
        }
    }

    @Test
    void countsLevels() {
        assertDoesNotThrow(() -> validate("abc/".repeat(200) + "x"));
        assertDoesNotThrow(() -> validate("/".repeat(200)));
        assertEquals(ReasonCode.TOPIC_NAME_INVALID, refused("/".repeat(201)).reasonCode());
        assertEquals(ReasonCode.TOPIC_NAME_INVALID, refused("abc/".repeat(201)).reasonCode());
        assertEquals(ReasonCode.TOPIC_NAME_INVALID, refused("é/".repeat(201)).reasonCode());
    }

    @Test
    void namesTheStatementOfTheVersion() {
        assertEquals("MQTT-4.7.3-1", refused("").statement());
        MqttProtocolException v3 = assertThrows(
                MqttProtocolException.class, () -> TopicName.validate(Bytes.buf("ff"), 0, 1, MqttVersion.MQTT_3_1_1));
        assertEquals(ReasonCode.MALFORMED_PACKET, v3.reasonCode());
        assertEquals("MQTT-1.5.3-1", v3.statement());
    }
}
