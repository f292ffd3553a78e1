package io.holdfast.codec;

import static io.holdfast.codec.Direction.FROM_CLIENT;
import static io.holdfast.codec.Direction.FROM_SERVER;

import java.util.Arrays;
import java.util.HexFormat;

/**
 * Which Reason Codes a v5 packet may have, by packet type and sender: the tables of v5 §3.2 to §3.15. A server may say
 * "failed" with any code: brokers answer with codes of other packets (Mosquitto a PUBLISH with 0x95), and closing on one
 * would bring the same packet and the same answer for ever. Stateless.
 */
final class ReasonCodeRules {
    private static final boolean[][] FROM_CLIENTS = new boolean[PacketType.AUTH + 1][256];
    private static final boolean[][] FROM_SERVERS = new boolean[PacketType.AUTH + 1][256];
    private static final String[] STATEMENTS = new String[PacketType.AUTH + 1];

    static {
        define(PacketType.CONNACK, "MQTT-3.2.2-8", "", "00");
        // 10 is a server's (§3.4.2.1), but clients are known to send it back, and it does no harm.
        define(PacketType.PUBACK, "MQTT-3.4.2-1", "00 10 80 83 87 90 91 97 99", "00 10");
        define(PacketType.PUBREC, "MQTT-3.5.2-1", "00 10 80 83 87 90 91 97 99", "00 10");
        define(PacketType.PUBREL, "MQTT-3.6.2-1", "00 92", "00");
        define(PacketType.PUBCOMP, "MQTT-3.7.2-1", "00 92", "00");
        define(PacketType.SUBACK, "MQTT-3.9.3-2", "", "00 01 02");
        define(PacketType.UNSUBACK, "MQTT-3.11.3-2", "", "00 11");
        // 8c: the table of §3.14.2.1 has it not, but table 2-6 has, and §4.12.1 asks both sides for it.
        define(PacketType.DISCONNECT, "MQTT-3.14.2-1", "00 04 80 81 82 83 8c 90 93 94 95 96 97 98 99", "00");
        for (int type = PacketType.CONNACK; type < PacketType.AUTH; type++) {
            Arrays.fill(FROM_SERVERS[type], 0x80, 0x100, true);
        }
        define(PacketType.AUTH, "MQTT-3.15.2-1", "18 19", "00 18");
    }

    private ReasonCodeRules() {}

    /** Whether {@code from} may send a packet of that type with that code, 0 to 255. */
    static boolean isAllowed(int type, Direction from, int code) {
        return (from == FROM_CLIENT ? FROM_CLIENTS : FROM_SERVERS)[type][code];
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
                    PacketType.name(type) + " from a " + (from == FROM_SERVER ? "server" : "client")
                            + " with Reason Code 0x" + Integer.toHexString(code));
        }
    }

    private static void define(int type, String statement, String fromClients, String fromServers) {
        STATEMENTS[type] = statement;
        allow(FROM_CLIENTS[type], fromClients);
        allow(FROM_SERVERS[type], fromServers);
    }

    private static void allow(boolean[] allowed, String codes) {
        for (byte code : HexFormat.ofDelimiter(" ").parseHex(codes)) {
            allowed[code & 0xFF] = true;
        }
    }
}
