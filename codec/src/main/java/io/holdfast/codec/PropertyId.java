package io.holdfast.codec;

/** Property Identifiers of MQTT 5, their types, and the packets they may be in (v5 §2.2.2.2, table 2-4). */
public final class PropertyId {
    public static final int PAYLOAD_FORMAT_INDICATOR = 0x01;
    public static final int MESSAGE_EXPIRY_INTERVAL = 0x02;
    public static final int CONTENT_TYPE = 0x03;
    public static final int RESPONSE_TOPIC = 0x08;
    public static final int CORRELATION_DATA = 0x09;
    public static final int SUBSCRIPTION_IDENTIFIER = 0x0B;
    public static final int SESSION_EXPIRY_INTERVAL = 0x11;
    public static final int ASSIGNED_CLIENT_IDENTIFIER = 0x12;
    public static final int SERVER_KEEP_ALIVE = 0x13;
    public static final int AUTHENTICATION_METHOD = 0x15;
    public static final int AUTHENTICATION_DATA = 0x16;
    public static final int REQUEST_PROBLEM_INFORMATION = 0x17;
    public static final int WILL_DELAY_INTERVAL = 0x18;
    public static final int REQUEST_RESPONSE_INFORMATION = 0x19;
    public static final int RESPONSE_INFORMATION = 0x1A;
    public static final int SERVER_REFERENCE = 0x1C;
    public static final int REASON_STRING = 0x1F;
    public static final int RECEIVE_MAXIMUM = 0x21;
    public static final int TOPIC_ALIAS_MAXIMUM = 0x22;
    public static final int TOPIC_ALIAS = 0x23;
    public static final int MAXIMUM_QOS = 0x24;
    public static final int RETAIN_AVAILABLE = 0x25;
    public static final int USER_PROPERTY = 0x26;
    public static final int MAXIMUM_PACKET_SIZE = 0x27;
    public static final int WILDCARD_SUBSCRIPTION_AVAILABLE = 0x28;
    public static final int SUBSCRIPTION_IDENTIFIERS_AVAILABLE = 0x29;
    public static final int SHARED_SUBSCRIPTION_AVAILABLE = 0x2A;

    /** {@link #type}: no such property. */
    public static final int TYPE_UNKNOWN = 0;

    public static final int TYPE_BYTE = 1;
    public static final int TYPE_TWO_BYTES = 2;
    public static final int TYPE_FOUR_BYTES = 3;
    public static final int TYPE_VARIABLE = 4;
    public static final int TYPE_BINARY = 5;
    public static final int TYPE_STRING = 6;
    public static final int TYPE_STRING_PAIR = 7;

    /** Stands for the Will Properties in CONNECT wherever a packet type is asked for. */
    public static final int WILL = PacketType.RESERVED;

    private static final int COUNT = 0x2B;
    private static final byte[] TYPES = new byte[COUNT];
    private static final int[] PACKETS = new int[COUNT];

    static {
        define(PAYLOAD_FORMAT_INDICATOR, TYPE_BYTE, PacketType.PUBLISH, WILL);
        define(MESSAGE_EXPIRY_INTERVAL, TYPE_FOUR_BYTES, PacketType.PUBLISH, WILL);
        define(CONTENT_TYPE, TYPE_STRING, PacketType.PUBLISH, WILL);
        define(RESPONSE_TOPIC, TYPE_STRING, PacketType.PUBLISH, WILL);
        define(CORRELATION_DATA, TYPE_BINARY, PacketType.PUBLISH, WILL);
        define(SUBSCRIPTION_IDENTIFIER, TYPE_VARIABLE, PacketType.PUBLISH, PacketType.SUBSCRIBE);
        define(SESSION_EXPIRY_INTERVAL, TYPE_FOUR_BYTES, PacketType.CONNECT, PacketType.CONNACK, PacketType.DISCONNECT);
        define(ASSIGNED_CLIENT_IDENTIFIER, TYPE_STRING, PacketType.CONNACK);
        define(SERVER_KEEP_ALIVE, TYPE_TWO_BYTES, PacketType.CONNACK);
        define(AUTHENTICATION_METHOD, TYPE_STRING, PacketType.CONNECT, PacketType.CONNACK, PacketType.AUTH);
        define(AUTHENTICATION_DATA, TYPE_BINARY, PacketType.CONNECT, PacketType.CONNACK, PacketType.AUTH);
        define(REQUEST_PROBLEM_INFORMATION, TYPE_BYTE, PacketType.CONNECT);
        define(WILL_DELAY_INTERVAL, TYPE_FOUR_BYTES, WILL);
        define(REQUEST_RESPONSE_INFORMATION, TYPE_BYTE, PacketType.CONNECT);
        define(RESPONSE_INFORMATION, TYPE_STRING, PacketType.CONNACK);
        define(SERVER_REFERENCE, TYPE_STRING, PacketType.CONNACK, PacketType.DISCONNECT);
        define(
                REASON_STRING,
                TYPE_STRING,
                PacketType.CONNACK,
                PacketType.PUBACK,
                PacketType.PUBREC,
                PacketType.PUBREL,
                PacketType.PUBCOMP,
                PacketType.SUBACK,
                PacketType.UNSUBACK,
                PacketType.DISCONNECT,
                PacketType.AUTH);
        define(RECEIVE_MAXIMUM, TYPE_TWO_BYTES, PacketType.CONNECT, PacketType.CONNACK);
        define(TOPIC_ALIAS_MAXIMUM, TYPE_TWO_BYTES, PacketType.CONNECT, PacketType.CONNACK);
        define(TOPIC_ALIAS, TYPE_TWO_BYTES, PacketType.PUBLISH);
        define(MAXIMUM_QOS, TYPE_BYTE, PacketType.CONNACK);
        define(RETAIN_AVAILABLE, TYPE_BYTE, PacketType.CONNACK);
        define(
                USER_PROPERTY,
                TYPE_STRING_PAIR,
                PacketType.CONNECT,
                PacketType.CONNACK,
                PacketType.PUBLISH,
                WILL,
                PacketType.PUBACK,
                PacketType.PUBREC,
                PacketType.PUBREL,
                PacketType.PUBCOMP,
                PacketType.SUBSCRIBE,
                PacketType.SUBACK,
                PacketType.UNSUBSCRIBE,
                PacketType.UNSUBACK,
                PacketType.DISCONNECT,
                PacketType.AUTH);
        define(MAXIMUM_PACKET_SIZE, TYPE_FOUR_BYTES, PacketType.CONNECT, PacketType.CONNACK);
        define(WILDCARD_SUBSCRIPTION_AVAILABLE, TYPE_BYTE, PacketType.CONNACK);
        define(SUBSCRIPTION_IDENTIFIERS_AVAILABLE, TYPE_BYTE, PacketType.CONNACK);
        define(SHARED_SUBSCRIPTION_AVAILABLE, TYPE_BYTE, PacketType.CONNACK);
    }

    private PropertyId() {}

    /** The type of a property's value, one of the {@code TYPE_} constants. */
    public static int type(int id) {
        return id < 0 || id >= COUNT ? TYPE_UNKNOWN : TYPES[id];
    }

    /** A bit mask, {@code 1 << packetType}, of the packets a property may be in; bit 0 is {@link #WILL}. */
    public static int packets(int id) {
        return id < 0 || id >= COUNT ? 0 : PACKETS[id];
    }

    /** Whether a property may be in packets of a type. */
    public static boolean isAllowed(int id, int packetType) {
        return (packets(id) & 1 << packetType) != 0;
    }

    /** Whether a property may be more than once in a packet: User Property, and in PUBLISH Subscription Identifier. */
    public static boolean mayRepeat(int id, int packetType) {
        return id == USER_PROPERTY || (id == SUBSCRIPTION_IDENTIFIER && packetType == PacketType.PUBLISH);
    }

    private static void define(int id, int type, int... packetTypes) {
        TYPES[id] = (byte) type;
        for (int packetType : packetTypes) {
            PACKETS[id] |= 1 << packetType;
        }
    }
}
