package io.holdfast.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Bytes of packets for tests, from hexadecimal text or field by field. */
final class Bytes {
    private static final HexFormat SPACED = HexFormat.ofDelimiter(" ");

    private Bytes() {}

    static byte[] hex(String text) {
        return HexFormat.of().parseHex(text.replace(" ", ""));
    }

    static ByteBuf buf(String hex) {
        return Unpooled.wrappedBuffer(hex(hex));
    }

    static String hex(ByteBuf buf) {
        return SPACED.formatHex(ByteBufUtil.getBytes(buf));
    }

    static String hex(byte[] bytes) {
        return SPACED.formatHex(bytes);
    }

    /** A packet: first byte, Remaining Length, and the parts: String (with length prefix), byte[], Integer (a byte). */
    static byte[] packet(int firstByte, Object... parts) {
        byte[] body = join(parts);
        ByteBuf out = Unpooled.buffer();
        out.writeByte(firstByte);
        VariableByteInteger.write(out, body.length);
        out.writeBytes(body);
        return ByteBufUtil.getBytes(out);
    }

    static byte[] join(Object... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (Object part : parts) {
            if (part instanceof String text) {
                byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
                out.writeBytes(u16(utf8.length));
                out.writeBytes(utf8);
            } else if (part instanceof Integer value) {
                out.write(value);
            } else {
                out.writeBytes((byte[]) part);
            }
        }
        return out.toByteArray();
    }

    static byte[] u16(int value) {
        return new byte[] {(byte) (value >> 8), (byte) value};
    }

    static byte[] u32(long value) {
        return new byte[] {(byte) (value >> 24), (byte) (value >> 16), (byte) (value >> 8), (byte) value};
    }

    /** Properties with their length in front. */
    static byte[] properties(Object... parts) {
        byte[] content = join(parts);
        ByteBuf out = Unpooled.buffer();
        VariableByteInteger.write(out, content.length);
        out.writeBytes(content);
        return ByteBufUtil.getBytes(out);
    }

    /** The index behind the fixed header of a packet that begins at 0. */
    static int bodyOffset(ByteBuf packet) {
        return 1 + VariableByteInteger.bytes(VariableByteInteger.decode(packet, 1, packet.writerIndex()));
    }
}
