package io.holdfast.codec;

/**
 * Bytes that break the protocol. The connection they came on is to be closed (v5 §4.13); what they were is not guessed.
 *
 * <p>It carries no stack trace, so that hostile input costs little.
 */
public final class MqttProtocolException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int reasonCode;
    private final String statement;

    private MqttProtocolException(int reasonCode, String statement, String message) {
        super(message, null, false, false);
        this.reasonCode = reasonCode;
        this.statement = statement;
    }

    /** Reason Code 0x81: the bytes cannot be parsed by the rules. */
    public static MqttProtocolException malformed(String statement, String message) {
        return new MqttProtocolException(ReasonCode.MALFORMED_PACKET, statement, message);
    }

    /** Reason Code 0x82: the bytes can be parsed, but the protocol forbids them. */
    public static MqttProtocolException protocolError(String statement, String message) {
        return new MqttProtocolException(ReasonCode.PROTOCOL_ERROR, statement, message);
    }

    /** Any other {@link ReasonCode}. */
    public static MqttProtocolException of(int reasonCode, String statement, String message) {
        return new MqttProtocolException(reasonCode, statement, message);
    }

    /** The Reason Code for the v5 DISCONNECT or CONNACK. */
    public int reasonCode() {
        return reasonCode;
    }

    /** The specification's statement, for example {@code MQTT-3.3.1-4}; empty where the rule has no number. */
    public String statement() {
        return statement;
    }
}
