package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MqttUtf8Test {
    private static boolean isWellFormed(byte[] bytes) {
        return MqttUtf8.isWellFormed(Unpooled.wrappedBuffer(bytes), 0, bytes.length);
    }

    private static boolean javaSays(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8
                            .newDecoder()
                            .decode(ByteBuffer.wrap(bytes))
                            .toString()
                            .indexOf('\0')
                    < 0;
        } catch (CharacterCodingException e) {
            return false;
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "c0 af",
                "c1 bf",
                "e0 80 af",
                "e0 9f bf",
                "f0 80 80 af",
                "f0 8f bf bf", // overlong
                "ed a0 80",
                "ed bf bf",
                "ed a0 80 ed b0 80", // surrogates
                "f4 90 80 80",
                "f5 80 80 80",
                "fe",
                "ff", // beyond U+10FFFF
                "80",
                "bf",
                "c2",
                "e2 82",
                "f0 9f 98",
                "c2 41",
                "e2 82 41", // continuation bytes
                "00",
                "61 00 62",
                "61 62 63 64 65 66 67 00",
                "61 62 63 64 65 66 67 68 00"
            })
    void refuses(String hex) {
        assertFalse(isWellFormed(Bytes.hex(hex)));
        assertFalse(isWellFormed(Bytes.hex("61 61 61 61 61 61 61 61 61" + hex + "61 61 61 61 61 61 61 61")));
    }

    @Test
    void takesEveryCodePointButZeroAndSurrogates() {
        ByteBuf buf = Unpooled.buffer();
        for (int codePoint = 1; codePoint <= Character.MAX_CODE_POINT; codePoint++) {
            if (codePoint < Character.MIN_SURROGATE || codePoint > Character.MAX_SURROGATE) {
                buf.clear();
                buf.writeBytes(Character.toString(codePoint).getBytes(StandardCharsets.UTF_8));
                assertTrue(MqttUtf8.isWellFormed(buf, 0, buf.readableBytes()));
            }
        }
    }

    @Test
    void saysWhatTheJdkSaysOfRandomBytes() {
        Random random = Seed.random(getClass());
        byte[] alphabet = Bytes.hex("41 41 41 41 7f 00 80 8f 90 9f a0 bf c0 c1 c2 df e0 e1 ed ee ef f0 f1 f4 f5 ff");
        for (int round = 0; round < 200_000; round++) {
            byte[] bytes = new byte[random.nextInt(24)];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = random.nextInt(3) == 0 ? alphabet[random.nextInt(alphabet.length)] : (byte) 0x41;
            }
            assertEquals(javaSays(bytes), isWellFormed(bytes), () -> Bytes.hex(bytes));
        }
    }
}
