package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

class RecordTest {
    private static final byte[] CLIENT = "sensor-ä".getBytes(StandardCharsets.UTF_8);
    private static final byte[] TOPIC = "/a//b".getBytes(StandardCharsets.UTF_8);
    private static final byte[] PROPERTIES = {0x26, 0, 1, 'k', 0, 1, 'v'};
    private static final byte[] PAYLOAD = {1, 2, 3, 0, -1};

    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[512]);

    private int encode(final int offset) {
        final int length = new RecordEncoder()
                .publish(buffer, offset, 2, true, 5)
                .times(1_700_000_000_123L, 1_700_000_060_000L)
                .route(65_000)
                .packetId(65_535)
                .clientId(CLIENT)
                .topic(new UnsafeBuffer(TOPIC), 0, TOPIC.length)
                .properties(new UnsafeBuffer(PROPERTIES), 0, PROPERTIES.length)
                .payload(new UnsafeBuffer(PAYLOAD), 0, PAYLOAD.length)
                .finish();
        buffer.putInt(
                offset, new Crc32cChecksum().ofRecord(StoreFixture.SALT, buffer, offset, length), ByteOrder.BIG_ENDIAN);
        return length;
    }

    @Test
    void everyFieldComesBack() {
        final int length = encode(3);
        assertEquals(
                RecordEncoder.encodedLength(CLIENT.length, TOPIC.length, PROPERTIES.length, PAYLOAD.length), length);
        final RecordView view = new RecordView().wrap(buffer, 3, length);
        assertTrue(view.isIntact(new Crc32cChecksum(), StoreFixture.SALT));
        assertEquals(RecordDescriptor.KIND_PUBLISH, view.kind());
        assertEquals(2, view.qos());
        assertTrue(view.retain());
        assertEquals(5, view.protocolLevel());
        assertEquals(1_700_000_000_123L, view.receiveTimeMs());
        assertEquals(1_700_000_060_000L, view.expiryTimeMs());
        assertEquals(65_000, view.routeNumber());
        assertEquals(65_535, view.packetId());
        assertEquals("sensor-ä", view.clientId());
        assertEquals("/a//b", view.topic());
        assertArrayEquals(PROPERTIES, bytes(view, view.propertiesOffset(), view.propertiesLength()));
        assertArrayEquals(PAYLOAD, bytes(view, view.payloadOffset(), view.payloadLength()));
    }

    /** The bytes are a format: they may not change without a new layout version. */
    @Test
    void theLayoutIsBigEndianAtTheNamedOffsets() {
        final int length = encode(0);
        final ByteBuffer bytes = ByteBuffer.wrap(buffer.byteArray(), 0, length);
        assertEquals(1, bytes.get(4));
        assertEquals(0b0101_0110, bytes.get(6));
        assertEquals(-1, bytes.getLong(16));
        assertEquals(1_700_000_000_123L, bytes.getLong(24));
        assertEquals((short) 65_535, bytes.getShort(46));
        assertEquals(CLIENT.length, bytes.getShort(48));
        assertEquals(TOPIC.length, bytes.getShort(50));
        assertEquals(PROPERTIES.length, bytes.getInt(52));
        assertEquals(PAYLOAD.length, bytes.getInt(56));
        final CRC32C content = new CRC32C();
        content.update(TOPIC, 0, TOPIC.length);
        content.update(PAYLOAD, 0, PAYLOAD.length);
        assertEquals((int) content.getValue(), bytes.getInt(40));
    }

    @Test
    void anyFlippedBitAnyOtherLengthAndAnyOtherSaltIsNoticed() {
        final int length = encode(0);
        final RecordView view = new RecordView();
        final Crc32cChecksum checksum = new Crc32cChecksum();
        for (int bit = 0; bit < length * 8; bit++) {
            final byte before = buffer.getByte(bit / 8);
            buffer.putByte(bit / 8, (byte) (before ^ (1 << (bit % 8))));
            assertFalse(view.wrap(buffer, 0, length).isIntact(checksum, StoreFixture.SALT), "bit " + bit);
            buffer.putByte(bit / 8, before);
        }
        for (int other = 0; other < 200; other++) {
            assertEquals(other == length, view.wrap(buffer, 0, other).isIntact(checksum, StoreFixture.SALT));
        }
        assertFalse(view.wrap(buffer, 0, length).isIntact(checksum, new byte[16]));
    }

    @Test
    void theChecksumDoesNotDependOnWhereTheBytesLie() {
        final byte[] source = new byte[10_000];
        for (int i = 0; i < source.length; i++) {
            source[i] = (byte) (i * 31);
        }
        final CRC32C expected = new CRC32C();
        expected.update(source, 7, 9_000);
        final UnsafeBuffer onHeap = new UnsafeBuffer(source);
        final ByteBuffer direct = ByteBuffer.allocateDirect(source.length + 5);
        final UnsafeBuffer offHeap = new UnsafeBuffer(direct, 5, source.length);
        offHeap.putBytes(0, source);
        final UnsafeBuffer byAddress = new UnsafeBuffer(BufferUtil.address(direct) + 5, source.length);
        final Crc32cChecksum checksum = new Crc32cChecksum();
        for (final UnsafeBuffer each : new UnsafeBuffer[] {onHeap, offHeap, byAddress}) {
            assertEquals(
                    (int) expected.getValue(),
                    checksum.reset().update(each, 7, 9_000).value());
        }
        assertEquals(0, direct.position());
    }

    private static byte[] bytes(final RecordView view, final int offset, final int length) {
        final byte[] bytes = new byte[length];
        view.buffer().getBytes(offset, bytes);
        return bytes;
    }
}
