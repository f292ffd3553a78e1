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
            checkCode(body, code & 0xFF, type, version);
        }
        return new SubackPacket(packetId, codes);
    }

    /** 3.1 has no code for a failure, but brokers answer its clients with 0x80 too. */
    private static void checkCode(BodyReader body, int code, int type, MqttVersion version) {
        if (version.isV5()) {
            ReasonCodeRules.check(type, Direction.FROM_SERVER, code);
        } else if (code > ReasonCode.GRANTED_QOS_2 && code != ReasonCode.UNSPECIFIED_ERROR) {
            throw body.protocolError("MQTT-3.9.3-2", "Return Code 0x" + Integer.toHexString(code));
        }
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
