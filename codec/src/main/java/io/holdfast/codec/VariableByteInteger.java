package io.holdfast.codec;

import io.netty.buffer.ByteBuf;

/** Variable Byte Integer: 0 to 268,435,455 in one to four bytes (v5 §1.5.5, 3.1.1 §2.2.3). Stateless. */
public final class VariableByteInteger {
    /** The largest value. */
    public static final int MAX_VALUE = 268_435_455;

    /** {@link #decode}: the integer goes on behind the limit. */
    public static final long INCOMPLETE = -1;

    /** {@link #decode}: more than four bytes, or more bytes than the value needs [MQTT-1.5.5-1]. */
    public static final long MALFORMED = -2;

    private static final int MAX_BYTES = 4;

    private VariableByteInteger() {}

    /**
     * Reads the integer at {@code index}, at most up to {@code limit} (exclusive).
     *
     * @return value and byte count in one long, for {@link #value} and {@link #bytes}; or {@link #INCOMPLETE} or
     *     {@link #MALFORMED}, which are negative.
     */
    public static long decode(ByteBuf in, int index, int limit) {
        int value = 0;
        for (int i = 0; i < MAX_BYTES; i++) {
            if (index + i >= limit) {
                return INCOMPLETE;
            }
            int b = in.getByte(index + i);
            value |= (b & 0x7F) << (7 * i);
            if (b >= 0) {
                return b == 0 && i > 0 ? MALFORMED : value | ((long) (i + 1) << 32);
            }
        }
        return MALFORMED;
    }

    /** The value in what {@link #decode} returned. */
    public static int value(long decoded) {
        return (int) decoded;
    }

    /** The number of bytes read in what {@link #decode} returned. */
    public static int bytes(long decoded) {
        return (int) (decoded >>> 32);
    }

    /** The number of bytes that a value takes. */
    public static int size(int value) {
        requireRange(value);
        return value < 1 << 7 ? 1 : value < 1 << 14 ? 2 : value < 1 << 21 ? 3 : 4;
    }

    /** Writes a value in the fewest bytes; returns how many. */
    public static int write(ByteBuf out, int value) {
        requireRange(value);
        int rest = value;
        int bytes = 1;
        while (rest > 0x7F) {
            out.writeByte((rest & 0x7F) | 0x80);
            rest >>>= 7;
            bytes++;
        }
        out.writeByte(rest);
        return bytes;
    }

    private static void requireRange(int value) {
        if (value < 0 || value > MAX_VALUE) {
            throw new IllegalArgumentException("no Variable Byte Integer holds " + value);
        }
    }
}
