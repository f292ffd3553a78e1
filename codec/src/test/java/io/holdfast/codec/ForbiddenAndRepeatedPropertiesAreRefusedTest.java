package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Field case COD-22. */
class ForbiddenAndRepeatedPropertiesAreRefusedTest {
    @Test
    void subscriptionIdentifierFromAClient() {
        MqttProtocolException e =
                Packets.violation(Direction.FROM_CLIENT, MqttVersion.MQTT_5, "30 07 00 01 61 02 0b 01 78");
        assertEquals(ReasonCode.PROTOCOL_ERROR, e.reasonCode());
        assertEquals("MQTT-3.3.4-6", e.statement());
    }

    /** Every single-use property, twice, in every packet that may have it. */
    @Test
    void repeated() {
        assertEquals(
                ReasonCode.PROTOCOL_ERROR,
                Packets.violation(Direction.FROM_CLIENT, MqttVersion.MQTT_5, "30 09 00 01 61 04 01 00 01 01 78")
                        .reasonCode());
        for (int id = 1; id <= PropertyId.SHARED_SUBSCRIPTION_AVAILABLE; id++) {
            for (int type = 1; type < 16; type++) {
                if (PropertyId.isAllowed(id, type) && !PropertyId.mayRepeat(id, type)) {
                    byte[] once = Bytes.join(id, value(id));
                    Direction direction = isFromServer(type) ? Direction.FROM_SERVER : Direction.FROM_CLIENT;
                    byte[] packet = packet(type, Bytes.properties(once, once));
                    MqttProtocolException e = Packets.violation(
                            direction, type == PacketType.CONNECT ? null : MqttVersion.MQTT_5, packet);
                    assertEquals(ReasonCode.PROTOCOL_ERROR, e.reasonCode(), Bytes.hex(packet) + ": " + e.getMessage());
                }
            }
        }
    }

    private static boolean isFromServer(int type) {
        return type == PacketType.CONNACK || type == PacketType.SUBACK || type == PacketType.UNSUBACK;
    }

    private static byte[] value(int id) {
        return switch (PropertyId.type(id)) {
            case PropertyId.TYPE_BYTE, PropertyId.TYPE_VARIABLE -> Bytes.join(1);
            case PropertyId.TYPE_TWO_BYTES -> Bytes.u16(1);
            case PropertyId.TYPE_FOUR_BYTES -> Bytes.u32(1);
            default -> Bytes.join("x");
        };
    }

    private static byte[] packet(int type, byte[] properties) {
        return switch (type) {
            case PacketType.CONNECT -> Bytes.packet(0x10, "MQTT", 5, 2, Bytes.u16(0), properties, "c");
            case PacketType.CONNACK -> Bytes.packet(0x20, 0, 0, properties);
            case PacketType.PUBLISH -> Bytes.packet(0x30, "a", properties);
            case PacketType.PUBREL -> Bytes.packet(0x62, Bytes.u16(1), 0, properties);
            case PacketType.PUBACK, PacketType.PUBREC, PacketType.PUBCOMP ->
                Bytes.packet(type << 4, Bytes.u16(1), 0, properties);
            case PacketType.SUBSCRIBE -> Bytes.packet(0x82, Bytes.u16(1), properties, "a", 0);
            case PacketType.UNSUBSCRIBE -> Bytes.packet(0xA2, Bytes.u16(1), properties, "a");
            case PacketType.SUBACK, PacketType.UNSUBACK -> Bytes.packet(type << 4, Bytes.u16(1), properties, 0);
            default -> Bytes.packet(type << 4, 0, properties);
        };
    }
}
