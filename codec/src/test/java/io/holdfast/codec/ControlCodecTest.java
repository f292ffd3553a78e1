package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.mqtt.MqttConnectMessage;
import io.netty.handler.codec.mqtt.MqttMessage;
import io.netty.handler.codec.mqtt.MqttSubscribeMessage;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ControlCodecTest {
    private final ControlCodec codec = new ControlCodec();

    private MqttMessage decode(byte[] packet, MqttVersion version) {
        ByteBuf buf = Unpooled.buffer().writeZero(3).writeBytes(packet).writeZero(2);
        try {
            return codec.decode(buf, 3, 3 + packet.length, version);
        } finally {
            assertEquals(1, buf.refCnt());
            buf.release();
        }
    }

    @Test
    void decodesAndEncodesTheSameBytes() {
        byte[] connect = Bytes.packet(0x10, "MQTT", 5, 0xC2, Bytes.u16(60), Bytes.properties(), "c", "u", "p");
        byte[] subscribe = Bytes.packet(0x82, Bytes.u16(7), "a/#", 1);
        for (int round = 0; round < 3; round++) {
            MqttMessage message = decode(connect, null);
            assertEquals("c", ((MqttConnectMessage) message).payload().clientIdentifier());
            assertArrayEquals(connect, encode(message, MqttVersion.MQTT_5));
            MqttMessage v3 = decode(subscribe, MqttVersion.MQTT_3_1_1);
            assertEquals(
                    "a/#",
                    ((MqttSubscribeMessage) v3)
                            .payload()
                            .topicSubscriptions()
                            .get(0)
                            .topicFilter());
            assertArrayEquals(subscribe, encode(v3, MqttVersion.MQTT_3_1_1));
        }
        codec.close();
    }

    private byte[] encode(MqttMessage message, MqttVersion version) {
        ByteBuf out = Unpooled.buffer();
        codec.encode(message, version, out);
        return ByteBufUtil.getBytes(out);
    }

    @Test
    void worksOnAfterAFailure() {
        byte[] good = Bytes.packet(0x82, Bytes.u16(7), "a/#", 1);
        for (byte[] bad : new byte[][] {
            Bytes.hex("82 06 00 00 00 01 61 00"), Bytes.hex("82 06 00 01 00 09 61 00"), Bytes.hex("82 7f 00")
        }) {
            MqttProtocolException e =
                    assertThrows(MqttProtocolException.class, () -> decode(bad, MqttVersion.MQTT_3_1_1));
            assertEquals(ReasonCode.MALFORMED_PACKET, e.reasonCode());
            assertTrue(decode(good, MqttVersion.MQTT_3_1_1) instanceof MqttSubscribeMessage);
        }
        codec.close();
    }

    @Test
    void nettysDefaultLimitsDoNotBite() {
        byte[] id = Bytes.packet(0x10, "MQIsdp", 3, 2, Bytes.u16(60), "x".repeat(65_000));
        assertEquals(
                65_000,
                ((MqttConnectMessage) decode(id, null))
                        .payload()
                        .clientIdentifier()
                        .length());
        byte[][] filters = new byte[1000][];
        Arrays.fill(filters, Bytes.join("some/long/filter/#", 1));
        byte[] subscribe = Bytes.packet(0x82, Bytes.u16(7), Bytes.join((Object[]) filters));
        MqttSubscribeMessage message = (MqttSubscribeMessage) decode(subscribe, MqttVersion.MQTT_3_1_1);
        assertEquals(1000, message.payload().topicSubscriptions().size());
        codec.close();
    }
}
