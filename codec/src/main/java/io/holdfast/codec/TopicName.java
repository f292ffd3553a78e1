package io.holdfast.codec;

import io.netty.buffer.ByteBuf;

/** The rules for Topic Names (v5 §4.7). Stateless, allocates nothing unless a name is refused. */
public final class TopicName {
    /** The most levels of a Topic Name or Topic Filter from a client: 200 slashes. The specification has no limit. */
    public static final int MAX_LEVELS = 201;

    /** The most bytes a Topic Name may have (v5 §1.5.4). */
    public static final int MAX_BYTES = 65_535;

    private static final long PLUSES = '+' * MqttUtf8.LOW_BITS;
    private static final long HASHES = '#' * MqttUtf8.LOW_BITS;
    private static final long SLASHES = '/' * MqttUtf8.LOW_BITS;

    private TopicName() {}

    /**
     * Checks a Topic Name that a client sent: at least one byte, UTF-8, no wildcard, at most {@link #MAX_LEVELS} levels.
     *
     * @throws MqttProtocolException with 0x81 if it is not UTF-8, 0x82 if it is empty, 0x90 for the rest.
     */
    public static void validate(ByteBuf in, int index, int length, MqttVersion version) {
        validate(in, index, length, version, MAX_LEVELS);
    }

    static void validate(ByteBuf in, int index, int length, MqttVersion version, int maxLevels) {
        if (length == 0) {
            throw MqttProtocolException.protocolError("MQTT-4.7.3-1", "the Topic Name is empty");
        }
        if (length > MAX_BYTES) {
            throw MqttProtocolException.malformed("MQTT-4.7.3-3", "the Topic Name has " + length + " bytes");
        }
        if (!MqttUtf8.isWellFormed(in, index, length)) {
            throw illFormedUtf8("Topic Name", version);
        }
        int slashes = countSlashesUnlessWildcard(in, index, length);
        if (slashes < 0) {
            throw MqttProtocolException.malformed("MQTT-3.3.2-2", "the Topic Name has a wildcard character");
        }
        if (slashes >= maxLevels) {
            throw MqttProtocolException.of(
                    ReasonCode.TOPIC_NAME_INVALID, "", "the Topic Name has more than " + maxLevels + " levels");
        }
    }

    static boolean hasWildcard(ByteBuf in, int index, int length) {
        return countSlashesUnlessWildcard(in, index, length) < 0;
    }

    static MqttProtocolException illFormedUtf8(String field, MqttVersion version) {
        return MqttProtocolException.malformed(
                version != null && version.isV5() ? "MQTT-1.5.4-1" : "MQTT-1.5.3-1",
                "the " + field + " is not well-formed UTF-8, or has U+0000");
    }

    private static int countSlashesUnlessWildcard(ByteBuf in, int index, int length) {
        int end = index + length;
        int i = index;
        int slashes = 0;
        for (; end - i >= Long.BYTES; i += Long.BYTES) {
            long word = in.getLong(i);
            if ((zeroBytes(word ^ PLUSES) | zeroBytes(word ^ HASHES)) != 0) {
                return -1;
            }
            slashes += Long.bitCount(zeroBytes(word ^ SLASHES));
        }
        for (; i < end; i++) {
            int b = in.getByte(i);
            if (b == '+' || b == '#') {
                return -1;
            }
            if (b == '/') {
                slashes++;
            }
        }
        return slashes;
    }

    /** The high bit of each byte that is zero; exact, whatever the neighbours are. */
    private static long zeroBytes(long word) {
        return ~(((word & ~MqttUtf8.HIGH_BITS) + ~MqttUtf8.HIGH_BITS) | word | ~MqttUtf8.HIGH_BITS);
    }
}
