package io.holdfast.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/** Checks whole packets as the proxy does: the view or the packet class of each type. */
final class Packets {
    private Packets() {}

    static void check(ByteBuf buf, int offset, int bodyOffset, int end, Direction direction, MqttVersion version) {
        int type = PacketType.of(buf.getByte(offset));
        switch (type) {
            case PacketType.PUBLISH -> new PublishView(direction).wrap(buf, offset, bodyOffset, end, version, 128);
            case PacketType.PUBACK, PacketType.PUBREC, PacketType.PUBREL, PacketType.PUBCOMP ->
                new AckView(direction).wrap(buf, bodyOffset, end, version, type);
            default -> ControlPackets.check(buf, offset, bodyOffset, end, type, version, direction);
        }
    }

    /** Runs bytes through decoder and checks; returns the violation, null if there is none. */
    static MqttProtocolException violation(Direction direction, MqttVersion version, byte[] bytes) {
        try (DecoderPeer peer = new DecoderPeer(direction, version)) {
            peer.checksFrames = true;
            peer.receive(bytes);
            return peer.violations.isEmpty() ? null : peer.violation();
        }
    }

    static MqttProtocolException violation(Direction direction, MqttVersion version, String hex) {
        return violation(direction, version, Bytes.hex(hex));
    }

    static PublishView publish(Direction direction, MqttVersion version, byte[] packet) {
        return publish(direction, version, packet, 128);
    }

    static PublishView publish(Direction direction, MqttVersion version, byte[] packet, int maxUserProperties) {
        ByteBuf buf = Unpooled.wrappedBuffer(packet);
        return new PublishView(direction)
                .wrap(buf, 0, Bytes.bodyOffset(buf), packet.length, version, maxUserProperties);
    }

    static ConnectPacket connect(byte[] packet) {
        ByteBuf buf = Unpooled.wrappedBuffer(packet);
        return ConnectPacket.parse(buf, 0, Bytes.bodyOffset(buf), packet.length);
    }

    static ConnackPacket connack(MqttVersion version, byte[] packet) {
        ByteBuf buf = Unpooled.wrappedBuffer(packet);
        return ConnackPacket.parse(buf, Bytes.bodyOffset(buf), packet.length, version);
    }
}
