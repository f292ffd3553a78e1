package io.holdfast.codec;

/** MQTT Control Packet types: the upper four bits of the first byte (v5 §2.1.2). */
public final class PacketType {
    public static final int RESERVED = 0;
    public static final int CONNECT = 1;
    public static final int CONNACK = 2;
    public static final int PUBLISH = 3;
    public static final int PUBACK = 4;
    public static final int PUBREC = 5;
    public static final int PUBREL = 6;
    public static final int PUBCOMP = 7;
    public static final int SUBSCRIBE = 8;
    public static final int SUBACK = 9;
    public static final int UNSUBSCRIBE = 10;
    public static final int UNSUBACK = 11;
    public static final int PINGREQ = 12;
    public static final int PINGRESP = 13;
    public static final int DISCONNECT = 14;
    public static final int AUTH = 15;

    private static final String[] NAMES = {
        "RESERVED", "CONNECT", "CONNACK", "PUBLISH", "PUBACK", "PUBREC", "PUBREL", "PUBCOMP",
        "SUBSCRIBE", "SUBACK", "UNSUBSCRIBE", "UNSUBACK", "PINGREQ", "PINGRESP", "DISCONNECT", "AUTH"
    };

    private PacketType() {}

    /** The type in the first byte of a packet; higher bits than the byte's are ignored. */
    public static int of(int firstByte) {
        return (firstByte >>> 4) & 0xF;
    }

    /** The specification's name of a type, 0 to 15. */
    public static String name(int type) {
        return NAMES[type];
    }
}
