package io.holdfast.codec;

import io.netty.buffer.ByteBuf;

/**
 * A PUBLISH as it lies in the network buffer (v5 §3.3). {@link #wrap} checks it whole and allocates nothing; the
 * accessors hold until the next wrap, and only as long as the buffer is valid. All offsets are absolute in the buffer.
 * Not thread-safe: one per event loop.
 */
public final class PublishView {
    private static final int QOS_SHIFT = 1;
    private static final int RETAIN = 0x1;
    private static final int DUP = 0x8;

    private final Direction direction;
    private final PropertyCursor cursor = new PropertyCursor();

    private ByteBuf buf;
    private MqttVersion version;
    private int frameOffset;
    private int frameEnd;
    private int firstByte;
    private int topicOffset;
    private int topicLength;
    private int packetId;
    private int propertiesOffset;
    private int propertiesLength;
    private int payloadOffset;

    private int topicAlias;
    private int topicAliasOffset;
    private long messageExpiryInterval;
    private int messageExpiryOffset;
    private int userPropertyCount;
    private int cutOffset;

    /** @param direction a Subscription Identifier, and more than 200 topic levels, may only come from a server. */
    public PublishView(Direction direction) {
        this.direction = direction;
    }

    /**
     * Checks a whole PUBLISH and points this view at it.
     *
     * @param offset of the first byte of the packet.
     * @param bodyOffset behind the fixed header.
     * @param end behind the packet.
     * @param maxUserProperties walk that many User Properties and one more, then no further: see
     *     {@link #userPropertiesTruncated()}.
     * @throws MqttProtocolException for whatever breaks the protocol; the view is then void.
     */
    public PublishView wrap(
            ByteBuf buffer, int offset, int bodyOffset, int end, MqttVersion mqttVersion, int maxUserProperties) {
        readProperties(readBeginning(buffer, offset, bodyOffset, end, mqttVersion), maxUserProperties);
        return this;
    }

    /**
     * Checks the beginning of a PUBLISH that is too large to be there whole: fixed header, Topic Name and Packet
     * Identifier. Only their accessors hold afterwards.
     *
     * @param end where the packet will end.
     * @throws MqttProtocolException for whatever breaks the protocol; the view is then void.
     */
    public void wrapBeginning(ByteBuf buffer, int offset, int bodyOffset, int end, MqttVersion mqttVersion) {
        readBeginning(buffer, offset, bodyOffset, end, mqttVersion);
    }

    /** Returns where the properties, or before v5 the payload, begin. */
    private int readBeginning(ByteBuf buffer, int offset, int bodyOffset, int end, MqttVersion mqttVersion) {
        buf = buffer;
        version = mqttVersion;
        frameOffset = offset;
        frameEnd = end;
        firstByte = buffer.getUnsignedByte(offset);
        if (qos() == 3) {
            throw MqttProtocolException.malformed("MQTT-3.3.1-4", "PUBLISH with QoS 3");
        }
        if (qos() == 0 && isDup()) {
            throw MqttProtocolException.malformed("MQTT-3.3.1-2", "PUBLISH with QoS 0 and DUP");
        }
        topicOffset = bodyOffset + Short.BYTES;
        requireInside(topicOffset, "Topic Name");
        topicLength = buffer.getUnsignedShort(bodyOffset);
        int index = topicOffset + topicLength;
        requireInside(index, "Topic Name");
        if (topicLength > 0 || !mqttVersion.isV5()) {
            int maxLevels = direction == Direction.FROM_CLIENT ? TopicName.MAX_LEVELS : Integer.MAX_VALUE;
            TopicName.validate(buffer, topicOffset, topicLength, mqttVersion, maxLevels);
        }
        packetId = 0;
        if (qos() > 0) {
            requireInside(index + Short.BYTES, "Packet Identifier");
            packetId = buffer.getUnsignedShort(index);
            index += Short.BYTES;
            if (packetId == 0) {
                throw MqttProtocolException.protocolError(
                        mqttVersion.isV5() ? "MQTT-2.2.1-3" : "MQTT-2.3.1-1", "PUBLISH with Packet Identifier 0");
            }
        }
        return index;
    }

    private void readProperties(int index, int maxUserProperties) {
        topicAlias = 0;
        topicAliasOffset = -1;
        messageExpiryInterval = -1;
        messageExpiryOffset = -1;
        userPropertyCount = 0;
        cutOffset = -1;
        propertiesOffset = index;
        propertiesLength = 0;
        payloadOffset = index;
        if (!version.isV5()) {
            return;
        }
        long decoded = VariableByteInteger.decode(buf, index, frameEnd);
        if (decoded < 0) {
            throw MqttProtocolException.malformed("MQTT-1.5.5-1", "PUBLISH with a malformed Property Length");
        }
        propertiesOffset = index + VariableByteInteger.bytes(decoded);
        propertiesLength = VariableByteInteger.value(decoded);
        payloadOffset = propertiesOffset + propertiesLength;
        requireInside(payloadOffset, "Property Length");
        if (propertiesLength > 0) {
            walkProperties(maxUserProperties);
        }
        if (topicLength == 0 && topicAlias == 0 && topicAliasBehindCut() == 0) {
            throw MqttProtocolException.protocolError(
                    "MQTT-4.7.3-1", "PUBLISH with neither Topic Name nor Topic Alias");
        }
    }

    private void walkProperties(int maxUserProperties) {
        PropertyCursor property = cursor.wrap(buf, propertiesOffset, propertiesLength);
        long seen = 0;
        while (property.next()) {
            seen = PropertyRules.check(property, PacketType.PUBLISH, seen);
            switch (property.identifier()) {
                case PropertyId.USER_PROPERTY -> {
                    if (userPropertyCount++ == maxUserProperties) {
                        cutOffset = property.end();
                        return;
                    }
                }
                case PropertyId.TOPIC_ALIAS -> {
                    topicAlias = (int) property.intValue();
                    topicAliasOffset = property.offset();
                }
                case PropertyId.MESSAGE_EXPIRY_INTERVAL -> {
                    messageExpiryInterval = property.intValue();
                    messageExpiryOffset = property.offset();
                }
                case PropertyId.SUBSCRIPTION_IDENTIFIER -> {
                    if (direction == Direction.FROM_CLIENT) {
                        throw MqttProtocolException.protocolError(
                                "MQTT-3.3.4-6", "PUBLISH from a client with a Subscription Identifier");
                    }
                }
                case PropertyId.RESPONSE_TOPIC -> {
                    if (TopicName.hasWildcard(buf, property.stringOffset(), property.stringLength())) {
                        throw MqttProtocolException.protocolError(
                                "MQTT-3.3.2-14", "the Response Topic has a wildcard character");
                    }
                }
                default -> {}
            }
        }
    }

    private void requireInside(int index, String field) {
        if (index > frameEnd) {
            throw MqttProtocolException.malformed("", "the " + field + " of a PUBLISH goes beyond its end");
        }
    }

    /** The buffer wrapped last. */
    public ByteBuf buffer() {
        return buf;
    }

    /** The version wrapped with. */
    public MqttVersion version() {
        return version;
    }

    /** Where the packet begins. */
    public int frameOffset() {
        return frameOffset;
    }

    /** Where the packet ends (exclusive). */
    public int frameEnd() {
        return frameEnd;
    }

    /** Bytes of the whole packet. */
    public int frameLength() {
        return frameEnd - frameOffset;
    }

    /** Type and flags. */
    public int firstByte() {
        return firstByte;
    }

    /** 0 to 2. */
    public int qos() {
        return firstByte >> QOS_SHIFT & 0x3;
    }

    public boolean isDup() {
        return (firstByte & DUP) != 0;
    }

    public boolean isRetain() {
        return (firstByte & RETAIN) != 0;
    }

    /** 1 to 65,535; 0 with QoS 0. */
    public int packetId() {
        return packetId;
    }

    /** Where the Topic Name begins, behind its length. */
    public int topicOffset() {
        return topicOffset;
    }

    /** Bytes of the Topic Name; 0 only if a {@link #topicAlias()} stands for it. */
    public int topicLength() {
        return topicLength;
    }

    /** Where the first property begins, behind the Property Length. */
    public int propertiesOffset() {
        return propertiesOffset;
    }

    /** Bytes of all properties; 0 before v5. */
    public int propertiesLength() {
        return propertiesLength;
    }

    /** Bytes of Topic Name and properties. */
    public int metadataLength() {
        return topicLength + propertiesLength;
    }

    /** Where the payload begins. */
    public int payloadOffset() {
        return payloadOffset;
    }

    /** Bytes of the payload. */
    public int payloadLength() {
        return frameEnd - payloadOffset;
    }

    /** 1 to 65,535; 0 for none (before the cut). */
    public int topicAlias() {
        return topicAlias;
    }

    /** Where the Topic Alias property (three bytes with its identifier) begins; -1 for none. */
    public int topicAliasOffset() {
        return topicAliasOffset;
    }

    /** Seconds, 0 to 2^32-1; -1 for none (before the cut). */
    public long messageExpiryInterval() {
        return messageExpiryInterval;
    }

    /** Where the Message Expiry Interval property (five bytes with its identifier) begins; -1 for none. */
    public int messageExpiryOffset() {
        return messageExpiryOffset;
    }

    /** User Properties, counted up to the maximum and one more. */
    public int userPropertyCount() {
        return userPropertyCount;
    }

    /** True if there were more User Properties than the maximum; what lies behind them has not been looked at. */
    public boolean userPropertiesTruncated() {
        return cutOffset >= 0;
    }

    /**
     * The true number of User Properties. Walks all of them, in time that grows with their number; stops at bytes that
     * are no properties.
     */
    public int countUserProperties() {
        if (cutOffset < 0) {
            return userPropertyCount;
        }
        int count = userPropertyCount;
        try {
            PropertyCursor property = behindCut();
            while (property.next()) {
                if (property.identifier() == PropertyId.USER_PROPERTY) {
                    count++;
                }
            }
        } catch (MqttProtocolException malformed) {
            return count;
        }
        return count;
    }

    /**
     * The Topic Alias behind the cut, 0 if there is none: a packet that is dropped for its User Properties still defines
     * its alias. Walks the rest of the properties.
     *
     * @throws MqttProtocolException if they are malformed, or the alias is 0 or not the only one.
     */
    public int topicAliasBehindCut() {
        if (cutOffset < 0) {
            return 0;
        }
        int alias = 0;
        PropertyCursor property = behindCut();
        long seen = topicAlias == 0 ? 0 : 1L << PropertyId.TOPIC_ALIAS;
        while (property.next()) {
            if (property.identifier() == PropertyId.TOPIC_ALIAS) {
                seen = PropertyRules.check(property, PacketType.PUBLISH, seen);
                alias = (int) property.intValue();
            }
        }
        return alias;
    }

    private PropertyCursor behindCut() {
        return cursor.wrapUncheckedText(buf, cutOffset, payloadOffset - cutOffset);
    }
}
