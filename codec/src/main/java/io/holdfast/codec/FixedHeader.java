package io.holdfast.codec;

/**
 * What the first byte and the Remaining Length of a packet may be (v5 §2.1), as tables: one look-up per frame. The
 * version is null before a CONNECT (or, from a server, a CONNACK) has told it: nothing else may come then.
 */
final class FixedHeader {
    private static final int FLAGS = 0xF;
    private static final int VERSIONS = MqttVersion.values().length + 1;
    private static final boolean[][] ALLOWED = allowedFirstBytes();

    private FixedHeader() {}

    /** For each first byte, 0 to 255, whether it may come. Shared: not to be written to. */
    static boolean[] allowedFirstBytes(Direction from, MqttVersion version) {
        return ALLOWED[row(from, version)];
    }

    /** Says what is wrong with a first byte that is not allowed. */
    static MqttProtocolException reject(int firstByte, Direction from, MqttVersion version) {
        int type = PacketType.of(firstByte);
        String byteText = String.format("first byte 0x%02x: ", firstByte);
        if (type == PacketType.RESERVED || (type == PacketType.AUTH && version != null && !version.isV5())) {
            return MqttProtocolException.protocolError("", byteText + "packet type " + type + " is reserved");
        }
        if (!isTypeAllowed(type, from, version)) {
            return rejectType(type, from, version, byteText);
        }
        if (type == PacketType.PUBLISH) {
            return MqttProtocolException.malformed("MQTT-3.3.1-4", byteText + "PUBLISH with QoS 3");
        }
        return wrongFlags(firstByte, version);
    }

    /** Names the flags of a first byte that are not as the version wants them. */
    static MqttProtocolException wrongFlags(int firstByte, MqttVersion version) {
        int type = PacketType.of(firstByte);
        return MqttProtocolException.malformed(
                flagsStatement(type, version),
                String.format(
                        "first byte 0x%02x: %s with fixed header flags 0x%x instead of 0x%x",
                        firstByte, PacketType.name(type), firstByte & FLAGS, requiredFlags(type)));
    }

    /** The problem with a Remaining Length, or null if there is none. */
    static MqttProtocolException checkRemainingLength(int type, int remainingLength, MqttVersion version) {
        if (version == null) {
            return null;
        }
        int exact = exactLength(type, version);
        int least = exact >= 0 ? exact : leastLength(type, version);
        if (remainingLength == exact || (exact < 0 && remainingLength >= least)) {
            return null;
        }
        return MqttProtocolException.malformed(
                "",
                PacketType.name(type) + " with Remaining Length " + remainingLength + " instead of "
                        + (exact < 0 ? "at least " : "") + least);
    }

    private static int exactLength(int type, MqttVersion version) {
        return switch (type) {
            case PacketType.PINGREQ, PacketType.PINGRESP -> 0;
            case PacketType.DISCONNECT -> version.isV5() ? -1 : 0;
            case PacketType.CONNACK,
                    PacketType.PUBACK,
                    PacketType.PUBREC,
                    PacketType.PUBREL,
                    PacketType.PUBCOMP,
                    PacketType.UNSUBACK -> version.isV5() ? -1 : 2;
            default -> -1;
        };
    }

    private static int leastLength(int type, MqttVersion version) {
        return switch (type) {
            case PacketType.PUBACK, PacketType.PUBREC, PacketType.PUBREL, PacketType.PUBCOMP -> 2;
            case PacketType.PUBLISH -> version.isV5() ? 3 : 2;
            case PacketType.CONNACK -> 3;
            case PacketType.SUBACK -> version.isV5() ? 4 : 3;
            case PacketType.UNSUBACK -> 4;
            default -> 0;
        };
    }

    private static boolean isTypeAllowed(int type, Direction from, MqttVersion version) {
        boolean fromClient = from == Direction.FROM_CLIENT;
        if (version == null) {
            return type == (fromClient ? PacketType.CONNECT : PacketType.CONNACK);
        }
        return switch (type) {
            case PacketType.PUBLISH, PacketType.PUBACK, PacketType.PUBREC, PacketType.PUBREL, PacketType.PUBCOMP ->
                true;
            case PacketType.SUBSCRIBE, PacketType.UNSUBSCRIBE, PacketType.PINGREQ -> fromClient;
            case PacketType.CONNACK, PacketType.SUBACK, PacketType.UNSUBACK, PacketType.PINGRESP -> !fromClient;
            case PacketType.DISCONNECT -> fromClient || version.isV5();
            case PacketType.AUTH -> version.isV5();
            default -> false;
        };
    }

    private static boolean areFlagsAllowed(int type, int flags, MqttVersion version) {
        if (type == PacketType.PUBLISH) {
            return (flags & 0x6) != 0x6;
        }
        if (type == PacketType.CONNECT) {
            return true; // 3.1 leaves them unused: ConnectPacket knows the version
        }
        int required = requiredFlags(type);
        if (version == MqttVersion.MQTT_3_1 && required != 0) {
            // 3.1 §2.1: these are QoS 1 messages, retried with DUP; RETAIN is not used.
            return (flags & 0x6) == required;
        }
        return flags == required;
    }

    private static int requiredFlags(int type) {
        return switch (type) {
            case PacketType.PUBREL, PacketType.SUBSCRIBE, PacketType.UNSUBSCRIBE -> 0x2;
            default -> 0;
        };
    }

    private static MqttProtocolException rejectType(int type, Direction from, MqttVersion version, String byteText) {
        if (from == Direction.FROM_CLIENT && type == PacketType.CONNECT) {
            return MqttProtocolException.protocolError("MQTT-3.1.0-2", byteText + "a second CONNECT");
        }
        if (version == null) {
            return from == Direction.FROM_CLIENT
                    ? MqttProtocolException.protocolError(
                            "MQTT-3.1.0-1", byteText + PacketType.name(type) + " before CONNECT")
                    : MqttProtocolException.protocolError(
                            "MQTT-3.2.0-1", byteText + PacketType.name(type) + " before CONNACK");
        }
        return MqttProtocolException.protocolError(
                "",
                byteText + "a " + (from == Direction.FROM_CLIENT ? "client" : "server") + " may not send "
                        + PacketType.name(type));
    }

    private static String flagsStatement(int type, MqttVersion version) {
        return switch (type) {
            case PacketType.PUBREL -> "MQTT-3.6.1-1";
            case PacketType.SUBSCRIBE -> "MQTT-3.8.1-1";
            case PacketType.UNSUBSCRIBE -> "MQTT-3.10.1-1";
            default -> version == MqttVersion.MQTT_5 ? "MQTT-2.1.3-1" : "MQTT-2.2.2-2";
        };
    }

    private static int row(Direction from, MqttVersion version) {
        int column = version == null ? 0 : 1 + version.protocolLevel() - MqttVersion.MQTT_3_1.protocolLevel();
        return (from == Direction.FROM_CLIENT ? 0 : VERSIONS) + column;
    }

    private static boolean[][] allowedFirstBytes() {
        boolean[][] table = new boolean[Direction.values().length * VERSIONS][256];
        for (Direction from : Direction.values()) {
            fill(table[row(from, null)], from, null);
            for (MqttVersion version : MqttVersion.values()) {
                fill(table[row(from, version)], from, version);
            }
        }
        return table;
    }

    private static void fill(boolean[] allowed, Direction from, MqttVersion version) {
        for (int firstByte = 0; firstByte < allowed.length; firstByte++) {
            int type = PacketType.of(firstByte);
            allowed[firstByte] =
                    isTypeAllowed(type, from, version) && areFlagsAllowed(type, firstByte & FLAGS, version);
        }
    }
}
