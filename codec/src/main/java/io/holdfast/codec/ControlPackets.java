package io.holdfast.codec;

import io.netty.buffer.ByteBuf;

/**
 * Checks whole packets that are not hot on their raw bytes, so that what is passed on as it came is right: every length
 * inside the packet, nothing behind the last field, UTF-8, reserved bits, properties. Stateless.
 */
public final class ControlPackets {
    private ControlPackets() {}

    /**
     * Checks a packet of any type but PUBLISH and its acks, which {@link PublishView} and {@link AckView} check. The
     * fixed header has been checked by {@link FrameDecoder}. An empty Client Identifier is no error here: the answer to
     * it is the server's.
     *
     * @param offset of the first byte; {@code bodyOffset} behind the fixed header; {@code end} exclusive.
     * @param type the {@link PacketType}.
     * @throws MqttProtocolException for whatever breaks the protocol.
     * @throws IllegalArgumentException for a type that it does not check.
     */
    public static void check(
            ByteBuf buf, int offset, int bodyOffset, int end, int type, MqttVersion version, Direction from) {
        switch (type) {
            case PacketType.CONNECT -> ConnectPacket.parse(buf, offset, bodyOffset, end);
            case PacketType.CONNACK -> ConnackPacket.parse(buf, bodyOffset, end, version);
            case PacketType.SUBSCRIBE -> SubscribePacket.check(buf, bodyOffset, end, version);
            case PacketType.SUBACK -> SubackPacket.parse(buf, bodyOffset, end, version);
            case PacketType.UNSUBSCRIBE -> UnsubscribePacket.check(buf, bodyOffset, end, version);
            case PacketType.UNSUBACK -> SubackPacket.parseUnsuback(buf, bodyOffset, end, version);
            case PacketType.PINGREQ, PacketType.PINGRESP ->
                new BodyReader(buf, bodyOffset, end, type, version).requireEnd();
            case PacketType.DISCONNECT -> DisconnectPacket.parse(buf, bodyOffset, end, version, from);
            case PacketType.AUTH -> AuthPacket.parse(buf, bodyOffset, end, from);
            default -> throw new IllegalArgumentException("not checked here: packet type " + type);
        }
    }
}
