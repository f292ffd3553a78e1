package io.holdfast.codec;

import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.mqtt.MqttDecoder;
import io.netty.handler.codec.mqtt.MqttEncoder;
import io.netty.handler.codec.mqtt.MqttMessage;
import io.netty.util.AttributeKey;

/**
 * Netty's own MQTT codec, for packets that are not hot: one whole packet in, one message out, and back. Check the bytes
 * first ({@link ControlPackets#check}): Netty's decoder is less strict. Not thread-safe: one per event loop.
 */
public final class ControlCodec implements AutoCloseable {
    /** The attribute in which Netty's codec keeps the version of a connection. */
    private static final AttributeKey<io.netty.handler.codec.mqtt.MqttVersion> VERSION =
            AttributeKey.valueOf("NETTY_CODEC_MQTT_VERSION");

    private EmbeddedChannel channel = newChannel();

    /**
     * Decodes one whole packet.
     *
     * @param offset of the first byte; {@code end} exclusive. The reader index is neither used nor moved.
     * @param version for CONNECT null or anything: it names its own.
     * @throws MqttProtocolException with 0x81 if Netty cannot decode it.
     */
    public MqttMessage decode(ByteBuf buf, int offset, int end, MqttVersion version) {
        try {
            channel.attr(VERSION).set(version == null ? null : nettyVersion(version));
            channel.writeInbound(buf.retainedSlice(offset, end - offset));
            MqttMessage message = channel.readInbound();
            if (message == null) {
                throw MqttProtocolException.malformed("", "an incomplete packet");
            }
            if (message.decoderResult().isFailure()) {
                throw MqttProtocolException.malformed(
                        "", String.valueOf(message.decoderResult().cause().getMessage()));
            }
            return message;
        } catch (RuntimeException e) {
            replaceChannel();
            throw e;
        }
    }

    /** Encodes a message, and releases it. */
    public void encode(MqttMessage message, MqttVersion version, ByteBuf out) {
        try {
            channel.attr(VERSION).set(nettyVersion(version));
            channel.writeOutbound(message);
            for (ByteBuf part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
                out.writeBytes(part);
                part.release();
            }
        } catch (RuntimeException e) {
            replaceChannel();
            throw e;
        }
    }

    @Override
    public void close() {
        channel.finishAndReleaseAll();
    }

    /** After a failure Netty's decoder throws away whatever comes. */
    private void replaceChannel() {
        EmbeddedChannel failed = channel;
        channel = newChannel();
        failed.finishAndReleaseAll();
    }

    private static EmbeddedChannel newChannel() {
        // The limits are the frame decoder's matter.
        return new EmbeddedChannel(
                new MqttDecoder(VariableByteInteger.MAX_VALUE, TopicName.MAX_BYTES), MqttEncoder.INSTANCE);
    }

    private static io.netty.handler.codec.mqtt.MqttVersion nettyVersion(MqttVersion version) {
        return switch (version) {
            case MQTT_3_1 -> io.netty.handler.codec.mqtt.MqttVersion.MQTT_3_1;
            case MQTT_3_1_1 -> io.netty.handler.codec.mqtt.MqttVersion.MQTT_3_1_1;
            case MQTT_5 -> io.netty.handler.codec.mqtt.MqttVersion.MQTT_5;
        };
    }
}
