package io.holdfast.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.util.ArrayList;
import java.util.List;

/**
 * An UNSUBSCRIBE (v5 §3.10).
 *
 * @param packetId 1 to 65,535.
 * @param filters in the packet's order, at least one.
 */
public record UnsubscribePacket(int packetId, List<String> filters) {
    private static final int FIRST_BYTE = PacketType.UNSUBSCRIBE << 4 | 0x2;

    public UnsubscribePacket {
        filters = List.copyOf(filters);
    }

    /**
     * Reads and checks a whole packet.
     *
     * @param bodyOffset behind the fixed header; {@code end} exclusive.
     * @throws MqttProtocolException for whatever breaks the protocol; 0x8F for an invalid Topic Filter.
     */
    public static UnsubscribePacket parse(ByteBuf buf, int bodyOffset, int end, MqttVersion version) {
        List<String> filters = new ArrayList<>();
        int packetId = read(buf, bodyOffset, end, version, filters);
        return new UnsubscribePacket(packetId, filters);
    }

    /** Checks a whole packet as {@link #parse} does, in constant memory. */
    static void check(ByteBuf buf, int bodyOffset, int end, MqttVersion version) {
        read(buf, bodyOffset, end, version, null);
    }

    /** {@code into} may be null. */
    private static int read(ByteBuf buf, int bodyOffset, int end, MqttVersion version, List<String> into) {
        BodyReader body = new BodyReader(buf, bodyOffset, end, PacketType.UNSUBSCRIBE, version);
        int packetId = body.readPacketId();
        body.checkProperties();
        if (!body.hasMore()) {
            throw body.protocolError("MQTT-3.10.3-2", "no Topic Filter");
        }
        while (body.hasMore()) {
            String filter = body.readTopicFilter(into != null);
            if (into != null) {
                into.add(filter);
            }
        }
        return packetId;
    }

    /** Writes a packet; {@code packetId} 1 to 65,535, at least one filter. */
    public static void write(ByteBuf out, MqttVersion version, int packetId, List<String> filters) {
        int length = Short.BYTES + (version.isV5() ? 1 : 0);
        for (String filter : filters) {
            length += Short.BYTES + ByteBufUtil.utf8Bytes(filter);
        }
        out.writeByte(FIRST_BYTE);
        VariableByteInteger.write(out, length);
        out.writeShort(packetId);
        if (version.isV5()) {
            out.writeByte(0);
        }
        for (String filter : filters) {
            out.writeShort(ByteBufUtil.utf8Bytes(filter));
            ByteBufUtil.writeUtf8(out, filter);
        }
    }
}
