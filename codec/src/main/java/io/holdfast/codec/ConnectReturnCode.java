package io.holdfast.codec;

/** Connect Return codes of MQTT 3.1 and 3.1.1 (3.1.1 §3.2.2.3). */
public final class ConnectReturnCode {
    public static final int ACCEPTED = 0;
    public static final int UNACCEPTABLE_PROTOCOL_VERSION = 1;
    public static final int IDENTIFIER_REJECTED = 2;
    public static final int SERVER_UNAVAILABLE = 3;
    public static final int BAD_USER_NAME_OR_PASSWORD = 4;
    public static final int NOT_AUTHORIZED = 5;

    private ConnectReturnCode() {}

    /** The nearest return code to a v5 {@link ReasonCode}; codes below 0x80 are return codes already and stay. */
    public static int ofReasonCode(int reasonCode) {
        if (!ReasonCode.isFailure(reasonCode)) {
            return reasonCode;
        }
        return switch (reasonCode) {
            case ReasonCode.UNSUPPORTED_PROTOCOL_VERSION -> UNACCEPTABLE_PROTOCOL_VERSION;
            case ReasonCode.CLIENT_IDENTIFIER_NOT_VALID -> IDENTIFIER_REJECTED;
            case ReasonCode.BAD_USER_NAME_OR_PASSWORD -> BAD_USER_NAME_OR_PASSWORD;
            case ReasonCode.NOT_AUTHORIZED, ReasonCode.BANNED, ReasonCode.BAD_AUTHENTICATION_METHOD -> NOT_AUTHORIZED;
            default -> SERVER_UNAVAILABLE;
        };
    }
}
