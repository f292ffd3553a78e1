package io.holdfast.proxy.admission;

import io.holdfast.codec.PublishView;
import io.holdfast.codec.VariableByteInteger;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/** Rewrites a v5 PUBLISH without its Topic Alias and with its whole Topic Name; everything else byte for byte. */
final class AliasFreePublish {
    private static final int TOPIC_ALIAS_BYTES = 3;

    private AliasFreePublish() {}

    /**
     * Writes a new frame, which is the caller's.
     *
     * @param aliasTopic the topic that the alias stands for, or null when the PUBLISH names it
     */
    static ByteBuf write(ByteBufAllocator alloc, PublishView publish, ByteBuf aliasTopic) {
        ByteBuf frame = publish.buffer();
        int topicLength = aliasTopic == null ? publish.topicLength() : aliasTopic.readableBytes();
        int properties = publish.propertiesLength() - TOPIC_ALIAS_BYTES;
        int packetIdBytes = publish.qos() == 0 ? 0 : Short.BYTES;
        int remaining = Short.BYTES
                + topicLength
                + packetIdBytes
                + VariableByteInteger.size(properties)
                + properties
                + publish.payloadLength();
        ByteBuf out = alloc.buffer(1 + VariableByteInteger.size(remaining) + remaining);
        out.writeByte(publish.firstByte());
        VariableByteInteger.write(out, remaining);
        out.writeShort(topicLength);
        if (aliasTopic == null) {
            out.writeBytes(frame, publish.topicOffset(), topicLength);
        } else {
            out.writeBytes(aliasTopic, aliasTopic.readerIndex(), topicLength);
        }
        if (packetIdBytes > 0) {
            out.writeShort(publish.packetId());
        }
        VariableByteInteger.write(out, properties);
        int before = publish.topicAliasOffset() - publish.propertiesOffset();
        out.writeBytes(frame, publish.propertiesOffset(), before);
        out.writeBytes(frame, publish.topicAliasOffset() + TOPIC_ALIAS_BYTES, properties - before);
        out.writeBytes(frame, publish.payloadOffset(), publish.payloadLength());
        return out;
    }
}
