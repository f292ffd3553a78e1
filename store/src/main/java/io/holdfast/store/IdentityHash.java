package io.holdfast.store;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The hash that stands for a message's identity: SipHash-2-4 with 128 bits, keyed with the random salt of the store, so that
 * nobody outside can make two identities collide. For one thread; allocates nothing per call.
 */
public final class IdentityHash {
    private final long key0;
    private final long key1;
    private long v0;
    private long v1;
    private long v2;
    private long v3;
    private long high;
    private long low;

    IdentityHash(final byte[] key) {
        final UnsafeBuffer buffer = new UnsafeBuffer(key);
        this.key0 = buffer.getLong(0, LITTLE_ENDIAN);
        this.key1 = buffer.getLong(Long.BYTES, LITTLE_ENDIAN);
    }

    /**
     * Hashes some bytes; {@link #high()} and {@link #low()} have the result.
     *
     * @param buffer that holds them.
     * @param offset of the first.
     * @param length in bytes.
     * @return this.
     */
    public IdentityHash hash(final DirectBuffer buffer, final int offset, final int length) {
        v0 = key0 ^ 0x736f6d6570736575L;
        v1 = key1 ^ 0x646f72616e646f6dL ^ 0xee;
        v2 = key0 ^ 0x6c7967656e657261L;
        v3 = key1 ^ 0x7465646279746573L;
        final int wordsEnd = offset + (length & -Long.BYTES);
        for (int at = offset; at < wordsEnd; at += Long.BYTES) {
            absorb(buffer.getLong(at, LITTLE_ENDIAN));
        }
        long last = (long) length << 56;
        for (int at = offset + length - 1; at >= wordsEnd; at--) {
            last |= (buffer.getByte(at) & 0xFFL) << ((at - wordsEnd) * Byte.SIZE);
        }
        absorb(last);
        v2 ^= 0xee;
        low = squeeze();
        v1 ^= 0xdd;
        high = squeeze();
        return this;
    }

    public long high() {
        return high;
    }

    public long low() {
        return low;
    }

    private void absorb(final long word) {
        v3 ^= word;
        round();
        round();
        v0 ^= word;
    }

    private long squeeze() {
        round();
        round();
        round();
        round();
        return v0 ^ v1 ^ v2 ^ v3;
    }

    private void round() {
        v0 += v1;
        v1 = Long.rotateLeft(v1, 13) ^ v0;
        v0 = Long.rotateLeft(v0, 32);
        v2 += v3;
        v3 = Long.rotateLeft(v3, 16) ^ v2;
        v0 += v3;
        v3 = Long.rotateLeft(v3, 21) ^ v0;
        v2 += v1;
        v1 = Long.rotateLeft(v1, 17) ^ v2;
        v2 = Long.rotateLeft(v2, 32);
    }
}
