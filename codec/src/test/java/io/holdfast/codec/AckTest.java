package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AckTest {
    private static AckView read(MqttVersion version, ByteBuf buf) {
        return new AckView(Direction.FROM_SERVER)
                .wrap(buf, Bytes.bodyOffset(buf), buf.readableBytes(), version, PacketType.of(buf.getByte(0)));
    }

    @ParameterizedTest
    @CsvSource({
        "40 02 00 00, 0x82", // Packet Identifier 0
        "40 03 00 01 01, 0x82", // a code that PUBACK has not
        "62 03 00 01 10, 0x82", // a code that PUBREL has not
        "70 03 00 01 10, 0x82",
        "40 04 00 01 00 01, 0x81", // properties that go beyond the end
        "40 05 00 01 00 00 00, 0x81", // a byte behind the properties
        "40 05 00 01 00 80 00, 0x81",
        "40 06 00 01 00 02 01 00, 0x81", // a property of PUBLISH
        "40 0a 00 01 00 06 1f 00 00 1f 00 00, 0x82" // Reason String twice
    })
    void refuses(String hex, String reasonCode) {
        MqttProtocolException e =
                assertThrows(MqttProtocolException.class, () -> read(MqttVersion.MQTT_5, Bytes.buf(hex)));
        assertEquals(Integer.decode(reasonCode), e.reasonCode(), e.getMessage());
    }

    @ParameterizedTest
    @ValueSource(ints = {PacketType.PUBACK, PacketType.PUBREC, PacketType.PUBREL, PacketType.PUBCOMP})
    void readsWhatItWrites(int type) {
        for (MqttVersion version : MqttVersion.values()) {
            ByteBuf buf = Unpooled.buffer();
            AckWriter.write(buf, type, 0xFFFF);
            assertEquals(4, buf.readableBytes());
            assertEquals(0xFFFF, read(version, buf).packetId());
            assertEquals(0, read(version, buf).reasonCode());

            int reason = type < PacketType.PUBREL ? ReasonCode.QUOTA_EXCEEDED : ReasonCode.PACKET_IDENTIFIER_NOT_FOUND;
            buf.clear();
            AckWriter.write(buf, type, 1, reason, version);
            assertEquals(version.isV5() ? reason : 0, read(version, buf).reasonCode());

            for (int length : new int[] {0, 1, 123, 124, 125, 20_000, 65_535}) {
                buf.clear();
                AckWriter.writeWithReasonString(
                        buf, type, 1, reason, "é".repeat(length / 2) + "x".repeat(length % 2), version);
                AckView view = read(version, buf);
                assertEquals(version.isV5() ? reason : 0, view.reasonCode());
                assertEquals(version.isV5() && length > 0 ? 3 + length : 0, view.propertiesLength());
            }
        }
    }

    @Test
    void writesTheSmallPackets() {
        ByteBuf buf = Unpooled.buffer();
        AckWriter.pingreq(buf);
        AckWriter.pingresp(buf);
        AckWriter.disconnect(buf, ReasonCode.SUCCESS, MqttVersion.MQTT_5);
        AckWriter.disconnect(buf, ReasonCode.SERVER_SHUTTING_DOWN, MqttVersion.MQTT_5);
        AckWriter.disconnect(buf, ReasonCode.SERVER_SHUTTING_DOWN, MqttVersion.MQTT_3_1_1);
        AckWriter.connack(buf, true, 0, MqttVersion.MQTT_5);
        AckWriter.connack(buf, true, ReasonCode.SERVER_UNAVAILABLE, MqttVersion.MQTT_5);
        AckWriter.connack(buf, true, 0, MqttVersion.MQTT_3_1_1);
        AckWriter.connack(buf, false, ReasonCode.SERVER_UNAVAILABLE, MqttVersion.MQTT_3_1);
        AckWriter.connack(buf, false, ConnectReturnCode.NOT_AUTHORIZED, MqttVersion.MQTT_3_1_1);
        assertEquals(
                "c0 00 d0 00 e0 00 e0 01 8b e0 00 20 03 01 00 00 20 03 00 88 00 20 02 01 00 20 02 00 03 20 02 00 05",
                Bytes.hex(buf));
    }

    @ParameterizedTest
    @CsvSource({"0x84,1", "0x85,2", "0x88,3", "0x89,3", "0x97,3", "0x86,4", "0x87,5", "0x8a,5", "0x8c,5", "0x80,3"})
    void mapsReasonCodesToReturnCodes(String reasonCode, int returnCode) {
        assertEquals(returnCode, ConnectReturnCode.ofReasonCode(Integer.decode(reasonCode)));
    }

    @Test
    void namesCodes() {
        assertEquals("not authorized", ReasonCode.name(0x87));
        assertTrue(ReasonCode.name(0xEE).contains("0xee"));
        assertEquals("PUBCOMP", PacketType.name(PacketType.PUBCOMP));
    }
}
