package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The reference vectors of SipHash-2-4 with 128 bits: key 00 01 … 0f, input 00 01 … of that length. */
class IdentityHashTest {
    @ParameterizedTest
    @CsvSource({
        "0, a3817f04ba25a8e66df67214c7550293",
        "1, da87c1d86b99af44347659119b22fc45",
        "2, 8177228da4a45dc7fca38bdef60affe4",
        "3, 9c70b60c5267a94e5f33b6b02985ed51"
    })
    void isSipHash(int length, String expected) {
        final byte[] key = new byte[16];
        for (int i = 0; i < key.length; i++) {
            key[i] = (byte) i;
        }
        final byte[] input = new byte[length + 3];
        for (int i = 0; i < length; i++) {
            input[3 + i] = (byte) i;
        }
        final IdentityHash hash = new IdentityHash(key).hash(new UnsafeBuffer(input), 3, length);
        final byte[] result = ByteBuffer.allocate(16)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(hash.low())
                .putLong(hash.high())
                .array();
        assertEquals(expected, HexFormat.of().formatHex(result));
    }
}
