package io.holdfast.store;

import java.nio.charset.StandardCharsets;
import org.agrona.DirectBuffer;

/** Which lane a Client Identifier belongs to: FNV-1a with 64 bits over its UTF-8 bytes, modulo the number of lanes. */
final class LaneHash {
    /** The name that the {@code meta} file carries; another hash would need another name. */
    static final String NAME = "fnv1a-64";

    private static final long OFFSET_BASIS = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;

    private LaneHash() {}

    static int laneOf(final String clientId, final int lanes) {
        long hash = OFFSET_BASIS;
        for (final byte b : clientId.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (b & 0xFF)) * PRIME;
        }
        return (int) Long.remainderUnsigned(hash, lanes);
    }

    static int laneOf(final DirectBuffer buffer, final int offset, final int length, final int lanes) {
        long hash = OFFSET_BASIS;
        for (int i = offset, end = offset + length; i < end; i++) {
            hash = (hash ^ (buffer.getByte(i) & 0xFF)) * PRIME;
        }
        return (int) Long.remainderUnsigned(hash, lanes);
    }
}
