package io.holdfast.codec;

import static io.holdfast.codec.Direction.FROM_CLIENT;
import static io.holdfast.codec.Direction.FROM_SERVER;

import java.util.Arrays;

/** Which Reason Codes a v5 packet may have, by packet type and sender: the tables of v5 §3.2 to §3.15. Stateless. */
final class ReasonCodeRules {
    private static final boolean[][][] ALLOWED = new boolean[Direction.values().length][PacketType.AUTH + 1][256];
    private static final String[] STATEMENTS = new String[PacketType.AUTH + 1];

    static {
        define(
                PacketType.CONNACK,
                "MQTT-3.2.2-8",
                FROM_SERVER,
                0x00,
                0x80,
                0x81,
                0x82,
                0x83,
                0x84,
                0x85,
                0x86,
                0x87,
                0x88,
                0x89,
                0x8A,
                0x8C,
                0x90,
                0x95,
                0x97,
                0x99,
                0x9A,
                0x9B,
                0x9C,
                0x9D,
                0x9F);
        for (Direction from : Direction.values()) {
            define(PacketType.PUBACK, "MQTT-3.4.2-1", from, 0x00, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99);
            define(PacketType.PUBREC, "MQTT-3.5.2-1", from, 0x00, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99);
            define(PacketType.PUBREL, "MQTT-3.6.2-1", from, 0x00, 0x92);
            define(PacketType.PUBCOMP, "MQTT-3.7.2-1", from, 0x00, 0x92);
            // 0x8C: the table of §3.14.2.1 has it not, but table 2-6 has, and §4.12.1 asks both sides for it.
            define(
                    PacketType.DISCONNECT,
                    "MQTT-3.14.2-1",
                    from,
                    0x00,
                    0x80,
                    0x81,
                    0x82,
                    0x83,
                    0x8C,
                    0x90,
                    0x93,
                    0x94,
                    0x95,
                    0x96,
                    0x97,
                    0x98,
                    0x99);
            define(PacketType.AUTH, "MQTT-3.15.2-1", from, 0x18);
        }
        define(PacketType.PUBACK, "MQTT-3.4.2-1", FROM_SERVER, 0x10);
        define(PacketType.PUBREC, "MQTT-3.5.2-1", FROM_SERVER, 0x10);
        define(
                PacketType.SUBACK,
                "MQTT-3.9.3-2",
                FROM_SERVER,
                0x00,
                0x01,
                0x02,
                0x80,
                0x83,
                0x87,
                0x8F,
                0x91,
                0x97,
                0x9E,
                0xA1,
                0xA2);
        define(PacketType.UNSUBACK, "MQTT-3.11.3-2", FROM_SERVER, 0x00, 0x11, 0x80, 0x83, 0x87, 0x8F, 0x91);
        define(PacketType.DISCONNECT, "MQTT-3.14.2-1", FROM_CLIENT, 0x04);
        // 0x88 is no Reason Code of DISCONNECT, but what a broker means by it is plain, and harmless.
        define(
                PacketType.DISCONNECT,
                "MQTT-3.14.2-1",
                FROM_SERVER,
                0x87,
                0x88,
                0x89,
                0x8B,
                0x8D,
                0x8E,
                0x8F,
                0x9A,
                0x9B,
                0x9C,
                0x9D,
                0x9E,
                0x9F,
                0xA0,
                0xA1,
                0xA2);
        define(PacketType.AUTH, "MQTT-3.15.2-1", FROM_SERVER, 0x00);
        define(PacketType.AUTH, "MQTT-3.15.2-1", FROM_CLIENT, 0x19);
    }

    private ReasonCodeRules() {}

    /** Whether {@code from} may send a packet of that type with that code, 0 to 255. */
    static boolean isAllowed(int type, Direction from, int code) {
        return ALLOWED[from.ordinal()][type][code];
    }

    /**
     * Checks a code.
     *
     * @throws MqttProtocolException with 0x82 for a code that is another packet's, the other side's, or nobody's.
     */
    static void check(int type, Direction from, int code) {
        if (!isAllowed(type, from, code)) {
            throw MqttProtocolException.protocolError(
                    STATEMENTS[type],
                    PacketType.name(type) + " from a " + (from == FROM_CLIENT ? "client" : "server")
                            + " with Reason Code 0x" + Integer.toHexString(code));
        }
    }

    private static void define(int type, String statement, Direction from, int... codes) {
        STATEMENTS[type] = statement;
        Arrays.stream(codes).forEach(code -> ALLOWED[from.ordinal()][type][code] = true);
    }
}
