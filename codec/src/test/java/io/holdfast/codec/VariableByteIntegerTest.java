package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VariableByteIntegerTest {
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 268_435_455})
    void readsWhatItWrites(int value) {
        ByteBuf buf = Unpooled.buffer();
        int bytes = VariableByteInteger.write(buf, value);
        assertEquals(buf.readableBytes(), bytes);
        assertEquals(bytes, VariableByteInteger.size(value));
        long decoded = VariableByteInteger.decode(buf, 0, bytes);
        assertEquals(value, VariableByteInteger.value(decoded));
        assertEquals(bytes, VariableByteInteger.bytes(decoded));
        for (int limit = 0; limit < bytes; limit++) {
            assertEquals(VariableByteInteger.INCOMPLETE, VariableByteInteger.decode(buf, 0, limit));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"80 00", "ff 80 00", "80 80 80 00", "ff ff ff ff", "80 80 80 80 01"})
    void refusesMoreBytesThanFourOrThanNeeded(String hex) {
        ByteBuf buf = Bytes.buf(hex);
        assertEquals(VariableByteInteger.MALFORMED, VariableByteInteger.decode(buf, 0, buf.readableBytes()));
    }

    @Test
    void writesNothingOutOfRange() {
        assertThrows(IllegalArgumentException.class, () -> VariableByteInteger.size(-1));
        assertThrows(IllegalArgumentException.class, () -> VariableByteInteger.size(268_435_456));
    }
}
