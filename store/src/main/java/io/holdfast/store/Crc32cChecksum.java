package io.holdfast.store;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.agrona.DirectBuffer;

/** CRC32C over whatever a {@link DirectBuffer} wraps, without an object per call. For one thread. */
final class Crc32cChecksum {
    private static final int SCRATCH_LENGTH = 4096;

    private final CRC32C crc = new CRC32C();
    private byte[] scratch;
    private ByteBuffer lastSource;
    private ByteBuffer lastView;

    Crc32cChecksum reset() {
        crc.reset();
        return this;
    }

    Crc32cChecksum update(final byte[] bytes) {
        crc.update(bytes, 0, bytes.length);
        return this;
    }

    Crc32cChecksum update(final DirectBuffer buffer, final int offset, final int length) {
        buffer.boundsCheck(offset, length);
        if (length == 0) {
            return this;
        }
        final byte[] array = buffer.byteArray();
        if (array != null) {
            crc.update(array, buffer.wrapAdjustment() + offset, length);
        } else if (buffer.byteBuffer() != null) {
            final ByteBuffer view = viewOf(buffer.byteBuffer());
            final int start = buffer.wrapAdjustment() + offset;
            view.limit(start + length).position(start);
            crc.update(view);
        } else {
            updateInPieces(buffer, offset, length);
        }
        return this;
    }

    int value() {
        return (int) crc.getValue();
    }

    /** The checksum of a record: over the salt, then over everything behind the checksum field. */
    int ofRecord(final byte[] salt, final DirectBuffer record, final int offset, final int length) {
        return reset().update(salt)
                .update(record, offset + RecordDescriptor.LAYOUT_OFFSET, length - RecordDescriptor.LAYOUT_OFFSET)
                .value();
    }

    /** A view of our own, so that position and limit of the caller's buffer stay as they are. */
    @SuppressWarnings("ReferenceEquality")
    private ByteBuffer viewOf(final ByteBuffer source) {
        if (source != lastSource) {
            lastSource = source;
            lastView = source.duplicate();
        }
        return lastView.clear();
    }

    /** Memory without an array or a ByteBuffer: the JDK's CRC32C takes neither an address nor a segment on Java 17. */
    private void updateInPieces(final DirectBuffer buffer, final int offset, final int length) {
        if (scratch == null) {
            scratch = new byte[SCRATCH_LENGTH];
        }
        int done = 0;
        while (done < length) {
            final int piece = Math.min(SCRATCH_LENGTH, length - done);
            buffer.getBytes(offset + done, scratch, 0, piece);
            crc.update(scratch, 0, piece);
            done += piece;
        }
    }
}
