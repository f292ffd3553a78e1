package io.holdfast.codec;

import io.netty.buffer.ByteBuf;

/**
 * The rules for UTF-8 Encoded Strings: well-formed Unicode, no surrogates [MQTT-1.5.4-1], no U+0000 [MQTT-1.5.4-2]; a
 * byte order mark is an ordinary character [MQTT-1.5.4-3]. Stateless, allocates nothing.
 */
public final class MqttUtf8 {
    static final long HIGH_BITS = 0x8080808080808080L;
    static final long LOW_BITS = 0x0101010101010101L;

    private MqttUtf8() {}

    /** True if the bytes, without a length prefix, are a UTF-8 Encoded String. */
    public static boolean isWellFormed(ByteBuf in, int index, int length) {
        int end = index + length;
        int i = index;
        while (i < end) {
            if (end - i >= Long.BYTES) {
                long word = in.getLong(i);
                // The second term has a high bit for a zero byte, if no byte is above 0x7F.
                if (((word | (word - LOW_BITS)) & HIGH_BITS) == 0) {
                    i += Long.BYTES;
                    continue;
                }
            }
            int bytes = characterBytes(in, i, end);
            if (bytes == 0) {
                return false;
            }
            i += bytes;
        }
        return true;
    }

    /** The bytes of the character at {@code i}, 0 if it is ill-formed. Table 3-7 of the Unicode Standard. */
    private static int characterBytes(ByteBuf in, int i, int end) {
        int first = in.getByte(i) & 0xFF;
        if (first < 0x80) {
            return first == 0 ? 0 : 1;
        }
        if (first < 0xC2 || first > 0xF4) {
            return 0;
        }
        int bytes = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
        if (end - i < bytes) {
            return 0;
        }
        int lowest = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
        int highest = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
        int second = in.getByte(i + 1) & 0xFF;
        if (second < lowest || second > highest) {
            return 0;
        }
        for (int k = 2; k < bytes; k++) {
            if ((in.getByte(i + k) & 0xC0) != 0x80) {
                return 0;
            }
        }
        return bytes;
    }
}
