package io.holdfast.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;

/**
 * Reads the fields of a packet that is not hot, one after the other, never beyond its end. What does not fit or is not
 * well-formed is a {@link MqttProtocolException} that names the packet and the field.
 */
final class BodyReader {
    private final ByteBuf buf;
    private final int type;
    private final int end;
    private MqttVersion version;
    private int index;

    BodyReader(ByteBuf buf, int bodyOffset, int end, int type, MqttVersion version) {
        this.buf = buf;
        this.index = bodyOffset;
        this.end = end;
        this.type = type;
        this.version = version;
    }

    void version(MqttVersion newVersion) {
        version = newVersion;
    }

    int index() {
        return index;
    }

    boolean hasMore() {
        return index < end;
    }

    int readByte(String field) {
        return buf.getUnsignedByte(advance(1, field));
    }

    int readShort(String field) {
        return buf.getUnsignedShort(advance(2, field));
    }

    /** A Packet Identifier, which is never 0. */
    int readPacketId() {
        int packetId = readShort("Packet Identifier");
        if (packetId == 0) {
            throw malformed(version.isV5() ? "MQTT-2.2.1-3" : "MQTT-2.3.1-1", "a Packet Identifier of 0");
        }
        return packetId;
    }

    String readString(String field) {
        int length = readShort(field);
        int offset = advance(length, field);
        if (!MqttUtf8.isWellFormed(buf, offset, length)) {
            throw TopicName.illFormedUtf8(field + " of " + PacketType.name(type), version);
        }
        return buf.toString(offset, length, StandardCharsets.UTF_8);
    }

    /** Passes over binary data and its length prefix. */
    void skipBinary(String field) {
        advance(readShort(field), field);
    }

    /** Passes over a Topic Name and its length prefix, and checks it. */
    void skipTopicName(String field) {
        int length = readShort(field);
        TopicName.validate(buf, advance(length, field), length, version);
    }

    /**
     * Reads and checks a Topic Filter, in v5 also as that of a Shared Subscription.
     *
     * @return its text; null if it is not wanted and does not begin with $.
     */
    String readTopicFilter(boolean wanted) {
        int length = readShort("Topic Filter");
        int offset = advance(length, "Topic Filter");
        if (!MqttUtf8.isWellFormed(buf, offset, length)) {
            throw TopicName.illFormedUtf8("Topic Filter of " + PacketType.name(type), version);
        }
        if (!TopicFilter.isValidFilter(buf, offset, length)) {
            throw invalidFilter(offset, length);
        }
        if (!wanted && buf.getByte(offset) != '$') {
            return null;
        }
        String filter = buf.toString(offset, length, StandardCharsets.UTF_8);
        if (version.isV5() && !TopicFilter.isShareWellFormed(filter)) {
            throw protocolError("MQTT-4.8.2-1", "a Shared Subscription without a name or a filter");
        }
        return filter;
    }

    /** 0x8F is for a filter that is correctly formed, but not accepted (v5 §3.14.2.1). */
    private MqttProtocolException invalidFilter(int offset, int length) {
        if (TopicFilter.isTooDeep(buf, offset, length)) {
            return MqttProtocolException.of(
                    ReasonCode.TOPIC_FILTER_INVALID,
                    "",
                    PacketType.name(type) + " with a Topic Filter of more than " + TopicFilter.MAX_LEVELS + " levels");
        }
        return malformed(length == 0 ? "MQTT-4.7.3-1" : "MQTT-4.7.1-1", "an invalid Topic Filter");
    }

    byte[] readRest() {
        byte[] rest = ByteBufUtil.getBytes(buf, index, end - index);
        index = end;
        return rest;
    }

    /** The properties behind their length, which are passed over; none before v5. */
    PropertyCursor readProperties() {
        PropertyCursor cursor = new PropertyCursor();
        if (!version.isV5()) {
            return cursor.wrap(buf, index, 0);
        }
        long decoded = VariableByteInteger.decode(buf, index, end);
        if (decoded < 0) {
            throw malformed("MQTT-1.5.5-1", "a malformed Property Length");
        }
        index += VariableByteInteger.bytes(decoded);
        int length = VariableByteInteger.value(decoded);
        return cursor.wrap(buf, advance(length, "Property Length"), length);
    }

    /** Checks all properties for a packet none of whose properties are of interest. */
    void checkProperties() {
        PropertyCursor property = readProperties();
        long seen = 0;
        while (property.next()) {
            seen = PropertyRules.check(property, type, seen);
        }
    }

    void requireEnd() {
        if (index != end) {
            throw malformed("", (end - index) + " bytes behind its last field");
        }
    }

    MqttProtocolException malformed(String statement, String what) {
        return MqttProtocolException.malformed(statement, PacketType.name(type) + " with " + what);
    }

    MqttProtocolException protocolError(String statement, String what) {
        return MqttProtocolException.protocolError(statement, PacketType.name(type) + " with " + what);
    }

    private int advance(int bytes, String field) {
        if (bytes > end - index) {
            throw malformed("", "a " + field + " that goes beyond its end");
        }
        int from = index;
        index += bytes;
        return from;
    }
}
