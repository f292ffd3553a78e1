package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.HexFormat;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every one of the 256 values in every v5 packet that has a Reason Code, from each side: v5 table 2-6 and its sections. */
class ReasonCodesByDirectionTest {
    private static final byte[] METHOD = Bytes.properties(0x15, "m");

    @ParameterizedTest
    @CsvSource({
        "FROM_CLIENT, PUBACK, 00 10 80 83 87 90 91 97 99",
        "FROM_SERVER, PUBACK, 00 10 +",
        "FROM_CLIENT, PUBREC, 00 10 80 83 87 90 91 97 99",
        "FROM_SERVER, PUBREC, 00 10 +",
        "FROM_CLIENT, PUBREL, 00 92",
        "FROM_SERVER, PUBREL, 00 +",
        "FROM_CLIENT, PUBCOMP, 00 92",
        "FROM_SERVER, PUBCOMP, 00 +",
        "FROM_SERVER, CONNACK, 00 +",
        "FROM_SERVER, SUBACK, 00 01 02 +",
        "FROM_SERVER, UNSUBACK, 00 11 +",
        "FROM_CLIENT, DISCONNECT, 00 04 80 81 82 83 8c 90 93 94 95 96 97 98 99",
        "FROM_SERVER, DISCONNECT, 00 +",
        "FROM_CLIENT, AUTH, 18 19",
        "FROM_SERVER, AUTH, 00 18"
    })
    void takesExactlyTheCodesOfTheSpecification(Direction from, String packet, String codes) {
        int type = IntStream.rangeClosed(1, 15)
                .filter(t -> PacketType.name(t).equals(packet))
                .findFirst()
                .orElseThrow();
        String taken = IntStream.range(0, 256)
                .filter(code -> isTaken(from, type, code))
                .mapToObj(code -> HexFormat.of().toHexDigits((byte) code))
                .collect(Collectors.joining(" "));
        String failures = IntStream.range(0x80, 0x100)
                .mapToObj(code -> HexFormat.of().toHexDigits((byte) code))
                .collect(Collectors.joining(" "));
        assertEquals(codes.replace("+", failures), taken); // a server may fail with any code
    }

    private static boolean isTaken(Direction from, int type, int code) {
        byte[] packet = switch (type) {
            case PacketType.CONNACK -> Bytes.packet(0x20, 0, code, 0);
            case PacketType.SUBACK, PacketType.UNSUBACK -> Bytes.packet(type << 4, Bytes.u16(1), 0, code);
            case PacketType.DISCONNECT -> Bytes.packet(0xE0, code);
            case PacketType.AUTH -> Bytes.packet(0xF0, code, METHOD);
            case PacketType.PUBREL -> Bytes.packet(0x62, Bytes.u16(1), code);
            default -> Bytes.packet(type << 4, Bytes.u16(1), code);
        };
        ByteBuf buf = Unpooled.wrappedBuffer(packet);
        try {
            Packets.check(buf, 0, 2, packet.length, from, MqttVersion.MQTT_5);
            return true;
        } catch (MqttProtocolException e) {
            assertEquals(ReasonCode.PROTOCOL_ERROR, e.reasonCode(), e.getMessage());
            return false;
        }
    }
}
