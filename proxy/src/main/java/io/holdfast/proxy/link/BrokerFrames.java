package io.holdfast.proxy.link;

import io.holdfast.codec.AckView;
import io.holdfast.codec.AuthPacket;
import io.holdfast.codec.ConnackPacket;
import io.holdfast.codec.ConnectPacket;
import io.holdfast.codec.Direction;
import io.holdfast.codec.DisconnectPacket;
import io.holdfast.codec.MqttProtocolException;
import io.holdfast.codec.MqttVersion;
import io.holdfast.codec.PacketType;
import io.holdfast.codec.PublishView;
import io.holdfast.codec.SubackPacket;
import io.netty.buffer.ByteBuf;

/**
 * What the broker sends on a session link, checked before anything of it counts or is passed on: the proxy is a client
 * here. Every method throws {@link MqttProtocolException} for what breaks the protocol. One event loop.
 */
final class BrokerFrames {
    private final ConnectPacket connect;
    private final MqttVersion version;
    private final AckView ack = new AckView(Direction.FROM_SERVER);
    private final PublishView publish = new PublishView(Direction.FROM_SERVER);

    /** @param connect the CONNECT that the broker answers. */
    BrokerFrames(ConnectPacket connect) {
        this.connect = connect;
        this.version = connect.version();
    }

    ConnackPacket connack(ByteBuf buf, int bodyOffset, int end, boolean cleanStart) {
        ConnackPacket connack = ConnackPacket.parse(buf, bodyOffset, end, version);
        if (connack.sessionPresent() && cleanStart) {
            throw MqttProtocolException.protocolError(
                    version.isV5() ? "MQTT-3.2.2-2" : "MQTT-3.2.2-1", "Session Present 1 after a clean start");
        }
        return connack;
    }

    /** PUBLISH, PUBREL or AUTH: what goes to the device as it is. {@code connected} once CONNACK has come. */
    void checkForDevice(int type, ByteBuf buf, int offset, int bodyOffset, int end, boolean connected) {
        switch (type) {
            case PacketType.PUBLISH -> publish.wrap(buf, offset, bodyOffset, end, version, Integer.MAX_VALUE);
            case PacketType.PUBREL -> ack.wrap(buf, bodyOffset, end, version, type);
            default ->
                AuthPacket.parse(buf, bodyOffset, end, Direction.FROM_SERVER)
                        .requirePartOf(connect.authenticationMethod(), connected, Direction.FROM_SERVER);
        }
    }

    /** A PUBLISH that will be streamed, up to its Packet Identifier. */
    void checkBeginning(ByteBuf buf, int offset, int bodyOffset, int end) {
        publish.wrapBeginning(buf, offset, bodyOffset, end, version);
    }

    /** PUBACK, PUBREC or PUBCOMP; holds until the next packet. */
    AckView ack(int type, ByteBuf buf, int bodyOffset, int end) {
        return ack.wrap(buf, bodyOffset, end, version, type);
    }

    /** SUBACK or UNSUBACK. */
    SubackPacket subscriptionAnswer(int type, ByteBuf buf, int bodyOffset, int end) {
        return type == PacketType.SUBACK
                ? SubackPacket.parse(buf, bodyOffset, end, version)
                : SubackPacket.parseUnsuback(buf, bodyOffset, end, version);
    }

    /** The reason code of a DISCONNECT. */
    int disconnectReason(ByteBuf buf, int bodyOffset, int end) {
        return DisconnectPacket.parse(buf, bodyOffset, end, version, Direction.FROM_SERVER)
                .reasonCode();
    }
}
