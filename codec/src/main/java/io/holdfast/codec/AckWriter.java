package io.holdfast.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;

/** Writes the small packets that the proxy makes itself (v5 §3.2, §3.4 to §3.7, §3.12 to §3.14). Stateless. */
public final class AckWriter {
    /** The most bytes that any packet without a Reason String takes. */
    public static final int MAX_BYTES = 5;

    private static final int PUBREL_FLAGS = 0x2;
    /** Packet Identifier, Reason Code, property identifier and length of the string. */
    private static final int REASON_STRING_OVERHEAD = 6;

    private AckWriter() {}

    /** A successful PUBACK, PUBREC, PUBREL or PUBCOMP: four bytes, the same in every version. */
    public static void write(ByteBuf out, int type, int packetId) {
        out.writeShort(firstByte(type) << 8 | 2);
        out.writeShort(packetId);
    }

    /** A PUBACK, PUBREC, PUBREL or PUBCOMP; before v5 the Reason Code is left out, whatever it is. */
    public static void write(ByteBuf out, int type, int packetId, int reasonCode, MqttVersion version) {
        if (reasonCode == ReasonCode.SUCCESS || !version.isV5()) {
            write(out, type, packetId);
            return;
        }
        out.writeShort(firstByte(type) << 8 | 3);
        out.writeShort(packetId);
        out.writeByte(reasonCode);
    }

    /**
     * As {@link #write(ByteBuf, int, int, int, MqttVersion)}, with a v5 Reason String. The caller sees to it that the
     * peer wants one (Request Problem Information) and takes the size [MQTT-3.4.2-2].
     *
     * @param reasonString at most 65,535 bytes in UTF-8.
     */
    public static void writeWithReasonString(
            ByteBuf out, int type, int packetId, int reasonCode, String reasonString, MqttVersion version) {
        if (!version.isV5() || reasonString.isEmpty()) {
            write(out, type, packetId, reasonCode, version);
            return;
        }
        int stringBytes = ByteBufUtil.utf8Bytes(reasonString);
        if (stringBytes > 65_535) {
            throw new IllegalArgumentException("a Reason String of " + stringBytes + " bytes");
        }
        int propertiesLength = 3 + stringBytes;
        out.writeByte(firstByte(type));
        VariableByteInteger.write(
                out, REASON_STRING_OVERHEAD + VariableByteInteger.size(propertiesLength) + stringBytes);
        out.writeShort(packetId);
        out.writeByte(reasonCode);
        VariableByteInteger.write(out, propertiesLength);
        out.writeByte(PropertyId.REASON_STRING);
        out.writeShort(stringBytes);
        ByteBufUtil.writeUtf8(out, reasonString);
    }

    /** PINGREQ: two bytes. */
    public static void pingreq(ByteBuf out) {
        out.writeShort(PacketType.PINGREQ << 12);
    }

    /** PINGRESP: two bytes. */
    public static void pingresp(ByteBuf out) {
        out.writeShort(PacketType.PINGRESP << 12);
    }

    /** DISCONNECT; before v5 the Reason Code is left out (and only a client may send it). */
    public static void disconnect(ByteBuf out, int reasonCode, MqttVersion version) {
        if (reasonCode == ReasonCode.SUCCESS || !version.isV5()) {
            out.writeShort(PacketType.DISCONNECT << 12);
            return;
        }
        out.writeShort(PacketType.DISCONNECT << 12 | 1);
        out.writeByte(reasonCode);
    }

    /**
     * CONNACK without properties. Session Present is written as 0 with a failure [MQTT-3.2.2-6].
     *
     * @param code a v5 {@link ReasonCode}, for older versions turned into a {@link ConnectReturnCode}; or a return code.
     */
    public static void connack(ByteBuf out, boolean sessionPresent, int code, MqttVersion version) {
        boolean v5 = version.isV5();
        out.writeShort(PacketType.CONNACK << 12 | (v5 ? 3 : 2));
        out.writeByte(sessionPresent && code == 0 ? 1 : 0);
        out.writeByte(v5 ? code : ConnectReturnCode.ofReasonCode(code));
        if (v5) {
            out.writeByte(0);
        }
    }

    private static int firstByte(int type) {
        return type << 4 | (type == PacketType.PUBREL ? PUBREL_FLAGS : 0);
    }
}
