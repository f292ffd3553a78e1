package io.holdfast.proxy.admission;

import io.holdfast.codec.PublishView;
import io.holdfast.proxy.guard.CapViolation;
import io.holdfast.store.RecordDescriptor;
import io.holdfast.store.RecordEncoder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import org.agrona.concurrent.UnsafeBuffer;

/** Makes the outbox record of a PUBLISH: topic resolved, topic alias removed, everything else byte for byte. */
final class RecordWriter {
    private static final int TOPIC_ALIAS_BYTES = 3;

    private final RecordEncoder encoder = new RecordEncoder();
    private final UnsafeBuffer source = new UnsafeBuffer(0, 0);
    private final UnsafeBuffer target = new UnsafeBuffer(0, 0);
    private final UnsafeBuffer properties = new UnsafeBuffer(0, 0);
    private final ProducerIdentity identity;
    private byte[] cutProperties = new byte[256];

    RecordWriter(ProducerIdentity identity) {
        this.identity = identity;
    }

    /**
     * Encodes a record into a new direct buffer, which is the caller's.
     *
     * @param aliasTopic the topic that the alias stands for, or null when the PUBLISH names its topic
     * @param cap        that the PUBLISH is over, so that it goes to the dead letters; else null
     */
    ByteBuf write(
            ByteBufAllocator alloc,
            PublishView publish,
            ByteBuf aliasTopic,
            byte[] clientId,
            int routeNumber,
            CapViolation cap,
            long nowMs) {
        int topicLength = aliasTopic == null ? publish.topicLength() : aliasTopic.readableBytes();
        int aliasBytes = publish.topicAliasOffset() < 0 ? 0 : TOPIC_ALIAS_BYTES;
        int propertiesLength = publish.propertiesLength() - aliasBytes;
        boolean hasIdentity = identity.find(publish, clientId, routeNumber);
        int length =
                RecordEncoder.encodedLength(clientId.length, topicLength, propertiesLength, publish.payloadLength())
                        + (hasIdentity ? RecordDescriptor.IDENTITY_LENGTH : 0);
        ByteBuf record = alloc.directBuffer(length, length);
        ByteBuf frame = publish.buffer();
        target.wrap(record.memoryAddress(), length);
        source.wrap(frame.memoryAddress(), frame.capacity());
        long expirySeconds = publish.messageExpiryInterval();
        encoder.publish(
                        target,
                        0,
                        publish.qos(),
                        publish.isRetain(),
                        publish.version().protocolLevel())
                .times(nowMs, expirySeconds < 0 ? 0 : Math.max(1, nowMs + expirySeconds * 1000))
                .route(routeNumber)
                .withheld(cap == null ? 0 : cap.number())
                .packetId(publish.packetId())
                .clientId(clientId);
        if (aliasTopic == null) {
            encoder.topic(source, publish.topicOffset(), topicLength);
        } else {
            properties.wrap(aliasTopic.array(), aliasTopic.arrayOffset(), topicLength);
            encoder.topic(properties, 0, topicLength);
        }
        if (aliasBytes == 0) {
            encoder.properties(source, publish.propertiesOffset(), propertiesLength);
        } else {
            encoder.properties(withoutAlias(frame, publish), 0, propertiesLength);
        }
        encoder.payload(source, publish.payloadOffset(), publish.payloadLength());
        if (hasIdentity) {
            encoder.identity(identity.high(), identity.low());
        }
        return record.writerIndex(encoder.finish());
    }

    private UnsafeBuffer withoutAlias(ByteBuf frame, PublishView publish) {
        int before = publish.topicAliasOffset() - publish.propertiesOffset();
        int after = publish.propertiesLength() - before - TOPIC_ALIAS_BYTES;
        if (cutProperties.length < before + after) {
            cutProperties = new byte[before + after];
        }
        frame.getBytes(publish.propertiesOffset(), cutProperties, 0, before);
        frame.getBytes(publish.topicAliasOffset() + TOPIC_ALIAS_BYTES, cutProperties, before, after);
        properties.wrap(cutProperties);
        return properties;
    }
}
