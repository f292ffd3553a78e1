package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Field case COD-17: no recursion over what a peer sent. */
class ManyTopicLevelsAreRefusedTest {
    @Test
    void inAPublish() {
        byte[] packet = Bytes.packet(0x30, "/".repeat(65_535));
        assertEquals(
                ReasonCode.TOPIC_NAME_INVALID,
                Packets.violation(Direction.FROM_CLIENT, MqttVersion.MQTT_3_1_1, packet)
                        .reasonCode());
    }

    @Test
    void inFilters() {
        byte[] plusses = Bytes.join("+/".repeat(32_767), 0);
        byte[][] many = new byte[10][];
        Arrays.fill(many, plusses);
        for (byte[] filters : new byte[][] {Bytes.join("/".repeat(65_535), 0), plusses, Bytes.join((Object[]) many)}) {
            assertEquals(
                    ReasonCode.TOPIC_FILTER_INVALID,
                    Packets.violation(
                                    Direction.FROM_CLIENT,
                                    MqttVersion.MQTT_3_1_1,
                                    Bytes.packet(0x82, Bytes.u16(1), filters))
                            .reasonCode());
        }
    }

    @Test
    void matchingTakesAnyName() {
        byte[] slashes = new byte[65_535];
        Arrays.fill(slashes, (byte) '/');
        assertTrue(TopicFilter.compile("+/+/#").matches(slashes, 0, slashes.length));
        assertFalse(TopicFilter.compile("+/".repeat(199) + "+")
                .matches(Unpooled.wrappedBuffer(slashes), 0, slashes.length));
    }
}
