package io.holdfast.proxy.link;

import io.holdfast.codec.AckWriter;
import io.holdfast.codec.MqttProtocolException;
import io.holdfast.codec.MqttVersion;
import io.holdfast.codec.PacketType;
import io.holdfast.codec.ReasonCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/**
 * A PUBLISH from the broker that is larger than the device takes. The broker was told, and must not send it
 * [MQTT-3.1.2-24]; the device would hang up on it, and get it again for ever. It is discarded, as a server has to
 * [MQTT-3.1.2-25], and the broker is told that it was not taken. One event loop.
 */
final class OversizedPublish {
    private final long maximumPacketSize;
    private boolean streaming;
    private int answerType;
    private int packetId;

    /** @param maximumPacketSize that the device allowed; 0 for no limit */
    OversizedPublish(long maximumPacketSize) {
        this.maximumPacketSize = maximumPacketSize;
    }

    boolean isTooLarge(int frameLength) {
        return maximumPacketSize > 0 && frameLength > maximumPacketSize;
    }

    /** Whether the stream at hand is being discarded. */
    boolean isStreaming() {
        return streaming;
    }

    /**
     * A whole packet that is too large.
     *
     * @throws MqttProtocolException if it is no PUBLISH: then there is no way on for this link.
     */
    void take(int type, ByteBuf buf, int offset, int bodyOffset, int end) {
        if (type != PacketType.PUBLISH) {
            throw MqttProtocolException.of(
                    ReasonCode.PACKET_TOO_LARGE,
                    "MQTT-3.1.2-24",
                    PacketType.name(type) + " of " + (end - offset) + " bytes from the broker: the device takes "
                            + maximumPacketSize);
        }
        begin(buf, offset, bodyOffset, end);
    }

    /** A packet, at least its beginning up to the Packet Identifier, lies in {@code buf}; {@link #end} follows. */
    void begin(ByteBuf buf, int offset, int bodyOffset, int end) {
        int qos = buf.getUnsignedByte(offset) >> 1 & 0x3;
        answerType = qos == 0 ? 0 : qos == 1 ? PacketType.PUBACK : PacketType.PUBREC;
        packetId = 0;
        if (qos > 0) {
            int index = bodyOffset + Short.BYTES + buf.getUnsignedShort(bodyOffset);
            if (index + Short.BYTES > end) {
                throw MqttProtocolException.malformed("", "the Topic Name of a PUBLISH goes beyond its end");
            }
            packetId = buf.getUnsignedShort(index);
        }
        streaming = true;
    }

    /** The packet is over: what ends its flow at the broker, or null for QoS 0. */
    ByteBuf end(ByteBufAllocator alloc) {
        streaming = false;
        if (answerType == 0) {
            return null;
        }
        ByteBuf out = alloc.buffer(AckWriter.MAX_BYTES);
        AckWriter.write(out, answerType, packetId, ReasonCode.QUOTA_EXCEEDED, MqttVersion.MQTT_5);
        return out;
    }

    /** The link is gone, perhaps in the middle. */
    void reset() {
        streaming = false;
    }
}
