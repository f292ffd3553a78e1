package io.holdfast.codec;

import io.netty.buffer.ByteBuf;

/** A SUBACK (v5 §3.9) or UNSUBACK (v5 §3.11). Immutable. */
public final class SubackPacket {
    private final int packetId;
    private final byte[] reasonCodes;

    private SubackPacket(int packetId, byte[] reasonCodes) {
        this.packetId = packetId;
        this.reasonCodes = reasonCodes;
    }

    /**
     * Reads and checks a whole SUBACK.
     *
     * @param bodyOffset behind the fixed header; {@code end} exclusive.
     * @throws MqttProtocolException for whatever breaks the protocol.
     */
    public static SubackPacket parse(ByteBuf buf, int bodyOffset, int end, MqttVersion version) {
        return read(buf, bodyOffset, end, version, PacketType.SUBACK);
    }

    /** Reads and checks a whole UNSUBACK; before v5 it has no reason codes. */
    public static SubackPacket parseUnsuback(ByteBuf buf, int bodyOffset, int end, MqttVersion version) {
        return read(buf, bodyOffset, end, version, PacketType.UNSUBACK);
    }

    private static SubackPacket read(ByteBuf buf, int bodyOffset, int end, MqttVersion version, int type) {
        BodyReader body = new BodyReader(buf, bodyOffset, end, type, version);
        int packetId = body.readPacketId();
        body.checkProperties();
        byte[] codes = body.readRest();
        boolean hasCodes = type == PacketType.SUBACK || version.isV5();
        if (hasCodes != codes.length > 0) {
            throw body.malformed("", codes.length + " bytes of Reason Codes");
        }
        for (byte code : codes) {
            if (!isAllowed(code & 0xFF, type, version)) {
                throw body.protocolError(
                        type == PacketType.SUBACK ? "MQTT-3.9.3-2" : "MQTT-3.11.3-2",
                        "Reason Code 0x" + Integer.toHexString(code & 0xFF));
            }
        }
        return new SubackPacket(packetId, codes);
    }

    private static boolean isAllowed(int code, int type, MqttVersion version) {
        return switch (code) {
            case ReasonCode.SUCCESS, ReasonCode.UNSPECIFIED_ERROR -> true;
            case ReasonCode.GRANTED_QOS_1, ReasonCode.GRANTED_QOS_2 -> type == PacketType.SUBACK;
            case ReasonCode.NO_SUBSCRIPTION_EXISTED -> type == PacketType.UNSUBACK;
            case ReasonCode.IMPLEMENTATION_SPECIFIC_ERROR,
                    ReasonCode.NOT_AUTHORIZED,
                    ReasonCode.TOPIC_FILTER_INVALID,
                    ReasonCode.PACKET_IDENTIFIER_IN_USE -> version.isV5();
            case ReasonCode.QUOTA_EXCEEDED,
                    ReasonCode.SHARED_SUBSCRIPTIONS_NOT_SUPPORTED,
                    ReasonCode.SUBSCRIPTION_IDENTIFIERS_NOT_SUPPORTED,
                    ReasonCode.WILDCARD_SUBSCRIPTIONS_NOT_SUPPORTED -> type == PacketType.SUBACK && version.isV5();
            default -> false;
        };
    }

    /** 1 to 65,535. */
    public int packetId() {
        return packetId;
    }

    /** The number of reason codes: one for each Topic Filter asked about; 0 in an UNSUBACK before v5. */
    public int size() {
        return reasonCodes.length;
    }

    /** The {@link ReasonCode} of one Topic Filter, all eight bits of it. */
    public int reasonCode(int index) {
        return reasonCodes[index] & 0xFF;
    }

    /** The reason codes, a copy. */
    public byte[] reasonCodes() {
        return reasonCodes.clone();
    }
}
