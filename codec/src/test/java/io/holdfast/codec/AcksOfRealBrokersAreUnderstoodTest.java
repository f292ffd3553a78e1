package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Field cases COD-19, COD-20 and COD-21: short forms, properties beside reason 0, all eight bits of a code. */
class AcksOfRealBrokersAreUnderstoodTest {
    private static AckView ack(String hex) {
        ByteBuf buf = Bytes.buf(hex);
        return new AckView(Direction.FROM_SERVER)
                .wrap(buf, 2, buf.readableBytes(), MqttVersion.MQTT_5, PacketType.of(buf.getByte(0)));
    }

    @ParameterizedTest
    @CsvSource({"40 03 00 01 10, 0x10", "40 02 00 01, 0", "62 03 00 01 92, 0x92", "70 04 00 01 00 00, 0"})
    void shortAcks(String hex, String reasonCode) {
        assertEquals(Integer.decode(reasonCode), ack(hex).reasonCode());
        assertEquals(0, ack(hex).propertiesLength());
    }

    @ParameterizedTest
    @CsvSource({"e0 01 8e, 0x8e", "e0 00, 0", "e0 02 00 00, 0"})
    void shortDisconnects(String hex, String reasonCode) {
        ByteBuf buf = Bytes.buf(hex);
        DisconnectPacket disconnect =
                DisconnectPacket.parse(buf, 2, buf.readableBytes(), MqttVersion.MQTT_5, Direction.FROM_SERVER);
        assertEquals(Integer.decode(reasonCode), disconnect.reasonCode());
        assertEquals(-1, disconnect.sessionExpiryInterval());
    }

    @Test
    void acksWithPropertiesAreHandedOutAsTheSameBytes() {
        List<String> packets = List.of(
                "40 0b 00 01 00 07 26 00 01 6b 00 01 76",
                "50 0b 00 01 00 07 26 00 01 6b 00 01 76",
                "62 0b 00 01 00 07 26 00 01 6b 00 01 76",
                "70 0b 00 01 00 07 26 00 01 6b 00 01 76",
                "e0 09 00 07 26 00 01 6b 00 01 76");
        try (DecoderPeer peer = new DecoderPeer(Direction.FROM_SERVER, MqttVersion.MQTT_5)) {
            peer.checksFrames = true;
            peer.receive(String.join("", packets));
            assertEquals(packets, peer.frames);
        }
        assertEquals(7, ack(packets.get(0)).propertiesLength());
        assertEquals(6, ack(packets.get(0)).propertiesOffset());
    }

    @ParameterizedTest
    @CsvSource({"90 04 00 01 00 87, 0x87", "90 04 00 01 00 9e, 0x9e", "90 04 00 01 00 02, 2"})
    void subackReasonCodes(String hex, String reasonCode) {
        ByteBuf buf = Bytes.buf(hex);
        SubackPacket suback = SubackPacket.parse(buf, 2, buf.readableBytes(), MqttVersion.MQTT_5);
        assertEquals(1, suback.packetId());
        assertEquals(1, suback.size());
        assertEquals(Integer.decode(reasonCode), suback.reasonCode(0));
        assertEquals(ReasonCode.isFailure(suback.reasonCode(0)), !reasonCode.equals("2"));
        assertTrue(suback.reasonCodes().length == 1);
    }
}
