package io.holdfast.proxy.link;

import io.holdfast.codec.ConnectReturnCode;
import io.holdfast.codec.MqttVersion;
import io.holdfast.codec.ReasonCode;

/** What a reason code of the broker means for a record or a connection: the one table, by value and never by text. */
public enum FailureClass {
    /** It worked: below 0x80, 0x10 "no matching subscribers" included. */
    SUCCESS,
    /** Worth trying again later; anything unknown too. */
    TRANSIENT,
    /** The same again would be refused again. */
    PERMANENT;

    /** The class of the code of a CONNACK that refuses: a reason code, or before v5 a return code. */
    static FailureClass ofConnack(int code, MqttVersion version) {
        if (version.isV5()) {
            return of(code);
        }
        return code == ConnectReturnCode.SERVER_UNAVAILABLE ? TRANSIENT : PERMANENT;
    }

    /** Whether the reason of a DISCONNECT has nothing to do with the device, which may come again. */
    static boolean isBrokersOwnTrouble(int reasonCode) {
        return switch (reasonCode) {
            case ReasonCode.SERVER_UNAVAILABLE,
                    ReasonCode.SERVER_BUSY,
                    ReasonCode.SERVER_SHUTTING_DOWN,
                    ReasonCode.USE_ANOTHER_SERVER,
                    ReasonCode.SERVER_MOVED -> true;
            default -> false;
        };
    }

    /** Whether the reason of a DISCONNECT has nothing to do with what was sent on the connection. */
    public static boolean isBrokersOwnMatter(int reasonCode) {
        return switch (reasonCode) {
            case ReasonCode.SESSION_TAKEN_OVER, ReasonCode.KEEP_ALIVE_TIMEOUT, ReasonCode.ADMINISTRATIVE_ACTION -> true;
            default -> isBrokersOwnTrouble(reasonCode);
        };
    }

    /** The class of a v5 reason code, 0 to 255. */
    public static FailureClass of(int reasonCode) {
        if (!ReasonCode.isFailure(reasonCode)) {
            return SUCCESS;
        }
        return switch (reasonCode) {
            case ReasonCode.MALFORMED_PACKET,
                    ReasonCode.UNSUPPORTED_PROTOCOL_VERSION,
                    ReasonCode.CLIENT_IDENTIFIER_NOT_VALID,
                    ReasonCode.BAD_USER_NAME_OR_PASSWORD,
                    ReasonCode.NOT_AUTHORIZED,
                    ReasonCode.BANNED,
                    ReasonCode.BAD_AUTHENTICATION_METHOD,
                    ReasonCode.TOPIC_FILTER_INVALID,
                    ReasonCode.TOPIC_NAME_INVALID,
                    ReasonCode.PACKET_TOO_LARGE,
                    ReasonCode.PAYLOAD_FORMAT_INVALID,
                    ReasonCode.RETAIN_NOT_SUPPORTED,
                    ReasonCode.QOS_NOT_SUPPORTED -> PERMANENT;
            default -> TRANSIENT;
        };
    }
}
