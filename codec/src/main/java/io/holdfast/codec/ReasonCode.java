package io.holdfast.codec;

/**
 * Reason Codes of MQTT 5 (v5 §2.4), one byte each. 0x00 also means "Normal disconnection" in DISCONNECT and "Granted
 * QoS 0" in SUBACK.
 */
public final class ReasonCode {
    public static final int SUCCESS = 0x00;
    public static final int GRANTED_QOS_1 = 0x01;
    public static final int GRANTED_QOS_2 = 0x02;
    public static final int DISCONNECT_WITH_WILL = 0x04;
    public static final int NO_MATCHING_SUBSCRIBERS = 0x10;
    public static final int NO_SUBSCRIPTION_EXISTED = 0x11;
    public static final int CONTINUE_AUTHENTICATION = 0x18;
    public static final int RE_AUTHENTICATE = 0x19;
    public static final int UNSPECIFIED_ERROR = 0x80;
    public static final int MALFORMED_PACKET = 0x81;
    public static final int PROTOCOL_ERROR = 0x82;
    public static final int IMPLEMENTATION_SPECIFIC_ERROR = 0x83;
    public static final int UNSUPPORTED_PROTOCOL_VERSION = 0x84;
    public static final int CLIENT_IDENTIFIER_NOT_VALID = 0x85;
    public static final int BAD_USER_NAME_OR_PASSWORD = 0x86;
    public static final int NOT_AUTHORIZED = 0x87;
    public static final int SERVER_UNAVAILABLE = 0x88;
    public static final int SERVER_BUSY = 0x89;
    public static final int BANNED = 0x8A;
    public static final int SERVER_SHUTTING_DOWN = 0x8B;
    public static final int BAD_AUTHENTICATION_METHOD = 0x8C;
    public static final int KEEP_ALIVE_TIMEOUT = 0x8D;
    public static final int SESSION_TAKEN_OVER = 0x8E;
    public static final int TOPIC_FILTER_INVALID = 0x8F;
    public static final int TOPIC_NAME_INVALID = 0x90;
    public static final int PACKET_IDENTIFIER_IN_USE = 0x91;
    public static final int PACKET_IDENTIFIER_NOT_FOUND = 0x92;
    public static final int RECEIVE_MAXIMUM_EXCEEDED = 0x93;
    public static final int TOPIC_ALIAS_INVALID = 0x94;
    public static final int PACKET_TOO_LARGE = 0x95;
    public static final int MESSAGE_RATE_TOO_HIGH = 0x96;
    public static final int QUOTA_EXCEEDED = 0x97;
    public static final int ADMINISTRATIVE_ACTION = 0x98;
    public static final int PAYLOAD_FORMAT_INVALID = 0x99;
    public static final int RETAIN_NOT_SUPPORTED = 0x9A;
    public static final int QOS_NOT_SUPPORTED = 0x9B;
    public static final int USE_ANOTHER_SERVER = 0x9C;
    public static final int SERVER_MOVED = 0x9D;
    public static final int SHARED_SUBSCRIPTIONS_NOT_SUPPORTED = 0x9E;
    public static final int CONNECTION_RATE_EXCEEDED = 0x9F;
    public static final int MAXIMUM_CONNECT_TIME = 0xA0;
    public static final int SUBSCRIPTION_IDENTIFIERS_NOT_SUPPORTED = 0xA1;
    public static final int WILDCARD_SUBSCRIPTIONS_NOT_SUPPORTED = 0xA2;

    private ReasonCode() {}

    /** True for 0x80 and above: the operation failed. */
    public static boolean isFailure(int reasonCode) {
        return reasonCode >= 0x80;
    }

    /** The specification's words for a code, or {@code unknown (0xNN)}. */
    public static String name(int reasonCode) {
        return switch (reasonCode) {
            case SUCCESS -> "success";
            case GRANTED_QOS_1 -> "granted QoS 1";
            case GRANTED_QOS_2 -> "granted QoS 2";
            case DISCONNECT_WITH_WILL -> "disconnect with will message";
            case NO_MATCHING_SUBSCRIBERS -> "no matching subscribers";
            case NO_SUBSCRIPTION_EXISTED -> "no subscription existed";
            case CONTINUE_AUTHENTICATION -> "continue authentication";
            case RE_AUTHENTICATE -> "re-authenticate";
            case UNSPECIFIED_ERROR -> "unspecified error";
            case MALFORMED_PACKET -> "malformed packet";
            case PROTOCOL_ERROR -> "protocol error";
            case IMPLEMENTATION_SPECIFIC_ERROR -> "implementation specific error";
            case UNSUPPORTED_PROTOCOL_VERSION -> "unsupported protocol version";
            case CLIENT_IDENTIFIER_NOT_VALID -> "client identifier not valid";
            case BAD_USER_NAME_OR_PASSWORD -> "bad user name or password";
            case NOT_AUTHORIZED -> "not authorized";
            case SERVER_UNAVAILABLE -> "server unavailable";
            case SERVER_BUSY -> "server busy";
            case BANNED -> "banned";
            case SERVER_SHUTTING_DOWN -> "server shutting down";
            case BAD_AUTHENTICATION_METHOD -> "bad authentication method";
            case KEEP_ALIVE_TIMEOUT -> "keep alive timeout";
            case SESSION_TAKEN_OVER -> "session taken over";
            case TOPIC_FILTER_INVALID -> "topic filter invalid";
            case TOPIC_NAME_INVALID -> "topic name invalid";
            case PACKET_IDENTIFIER_IN_USE -> "packet identifier in use";
            case PACKET_IDENTIFIER_NOT_FOUND -> "packet identifier not found";
            case RECEIVE_MAXIMUM_EXCEEDED -> "receive maximum exceeded";
            case TOPIC_ALIAS_INVALID -> "topic alias invalid";
            case PACKET_TOO_LARGE -> "packet too large";
            case MESSAGE_RATE_TOO_HIGH -> "message rate too high";
            case QUOTA_EXCEEDED -> "quota exceeded";
            case ADMINISTRATIVE_ACTION -> "administrative action";
            case PAYLOAD_FORMAT_INVALID -> "payload format invalid";
            case RETAIN_NOT_SUPPORTED -> "retain not supported";
            case QOS_NOT_SUPPORTED -> "QoS not supported";
            case USE_ANOTHER_SERVER -> "use another server";
            case SERVER_MOVED -> "server moved";
            case SHARED_SUBSCRIPTIONS_NOT_SUPPORTED -> "shared subscriptions not supported";
            case CONNECTION_RATE_EXCEEDED -> "connection rate exceeded";
            case MAXIMUM_CONNECT_TIME -> "maximum connect time";
            case SUBSCRIPTION_IDENTIFIERS_NOT_SUPPORTED -> "subscription identifiers not supported";
            case WILDCARD_SUBSCRIPTIONS_NOT_SUPPORTED -> "wildcard subscriptions not supported";
            default -> "unknown (0x" + Integer.toHexString(reasonCode) + ")";
        };
    }
}
