package io.holdfast.store;

import static io.holdfast.store.DeadLetterDescriptor.HEADER_LENGTH;
import static java.nio.ByteOrder.BIG_ENDIAN;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Walks the entries of one file of dead letters. What is damaged is passed over: the walk goes on with the next header that is
 * intact. For one thread.
 */
final class DeadLetterFile implements AutoCloseable {
    private static final int STEP = 8;
    private static final int CHUNK = 64 << 10;

    private final int segment;
    private final byte[] salt;
    private final FileChannel channel;
    private final long length;
    private final Crc32cChecksum checksum = new Crc32cChecksum();
    private final UnsafeBuffer chunk = new UnsafeBuffer(ByteBuffer.allocateDirect(CHUNK));
    private long chunkStart;
    private int chunkLength;
    private int header;
    private long offset;
    private long next;
    private int damaged;

    DeadLetterFile(final Path file, final int segment, final byte[] salt, final long limit) throws IOException {
        this.segment = segment;
        this.salt = salt;
        this.channel = FileChannel.open(file, StandardOpenOption.READ);
        this.length = Math.min(limit, channel.size());
    }

    /** Goes to the next entry with an intact header, whatever its status; false at the end. */
    boolean next() throws IOException {
        boolean inDamage = false;
        while (next + HEADER_LENGTH <= length && fill(next)) {
            final int magic = chunk.getInt(header, BIG_ENDIAN);
            if (isIntact()) {
                offset = next;
                next = DeadLetterDescriptor.align(next + HEADER_LENGTH + recordLength() + textLength());
                return true;
            }
            if (magic != 0 || inDamage) {
                damaged += inDamage ? 0 : 1;
                inDamage = true;
            } else if (!isAnythingBehind()) {
                return false;
            } else {
                damaged++;
                inDamage = true;
            }
            next += STEP;
        }
        return false;
    }

    private boolean isIntact() {
        return chunk.getInt(header, BIG_ENDIAN) == DeadLetterDescriptor.MAGIC
                && chunk.getByte(header + DeadLetterDescriptor.LAYOUT_OFFSET) == DeadLetterDescriptor.LAYOUT_VERSION
                && checksum.reset()
                                .update(salt)
                                .update(
                                        chunk,
                                        header + DeadLetterDescriptor.LAYOUT_OFFSET,
                                        HEADER_LENGTH - DeadLetterDescriptor.LAYOUT_OFFSET)
                                .value()
                        == chunk.getInt(header + DeadLetterDescriptor.CRC_OFFSET, BIG_ENDIAN)
                && next + HEADER_LENGTH + recordLength() + textLength() <= length;
    }

    /** Whether a byte that is not zero follows: then this is a hole and not the end. */
    private boolean isAnythingBehind() throws IOException {
        final ByteBuffer bytes = ByteBuffer.allocate(CHUNK);
        for (long at = next; at < length; at += bytes.limit()) {
            bytes.clear().limit((int) Math.min(CHUNK, length - at));
            if (channel.read(bytes, at) <= 0) {
                return false;
            }
            bytes.flip();
            while (bytes.hasRemaining()) {
                if (bytes.get() != 0) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Places where bytes were passed over that are no entry. */
    int damaged() {
        return damaged;
    }

    /** Where the current entry begins. */
    long offset() {
        return offset;
    }

    /** Where the next entry would begin. */
    long nextOffset() {
        return next;
    }

    byte status() {
        return chunk.getByte(header + DeadLetterDescriptor.STATUS_OFFSET);
    }

    long id() {
        return chunk.getLong(header + DeadLetterDescriptor.ID_OFFSET, BIG_ENDIAN);
    }

    int lane() {
        return chunk.getInt(header + DeadLetterDescriptor.LANE_OFFSET, BIG_ENDIAN);
    }

    int route() {
        return chunk.getShort(header + DeadLetterDescriptor.ROUTE_NUMBER_OFFSET, BIG_ENDIAN) & 0xFFFF;
    }

    long sequence() {
        return chunk.getLong(header + DeadLetterDescriptor.SEQUENCE_OFFSET, BIG_ENDIAN);
    }

    long sendNumber() {
        return chunk.getLong(header + DeadLetterDescriptor.SEND_NUMBER_OFFSET, BIG_ENDIAN);
    }

    private int recordLength() {
        return chunk.getInt(header + DeadLetterDescriptor.RECORD_LENGTH_OFFSET, BIG_ENDIAN);
    }

    private int textLength() {
        return chunk.getShort(header + DeadLetterDescriptor.TEXT_LENGTH_OFFSET, BIG_ENDIAN) & 0xFFFF;
    }

    /** Reads the whole of the current entry; null if its body is damaged. */
    DeadLetter letter() throws IOException {
        final byte[] body = new byte[recordLength() + textLength()];
        final ByteBuffer target = ByteBuffer.wrap(body);
        while (target.hasRemaining()) {
            if (channel.read(target, offset + HEADER_LENGTH + target.position()) < 0) {
                return null;
            }
        }
        final int bodyCrc = checksum.reset().update(salt).update(body).value();
        final DeadLetterReason reason = DeadLetterReason.of(chunk.getByte(header + DeadLetterDescriptor.REASON_OFFSET));
        if (bodyCrc != chunk.getInt(header + DeadLetterDescriptor.BODY_CRC_OFFSET, BIG_ENDIAN) || reason == null) {
            damaged++;
            return null;
        }
        final byte[] record = Arrays.copyOf(body, recordLength());
        return new DeadLetter(
                id(),
                lane(),
                reason,
                chunk.getByte(header + DeadLetterDescriptor.REASON_CODE_OFFSET) & 0xFF,
                chunk.getInt(header + DeadLetterDescriptor.ATTEMPTS_OFFSET, BIG_ENDIAN),
                chunk.getLong(header + DeadLetterDescriptor.FIRST_ATTEMPT_OFFSET, BIG_ENDIAN),
                chunk.getLong(header + DeadLetterDescriptor.GIVEN_UP_OFFSET, BIG_ENDIAN),
                new String(body, recordLength(), textLength(), StandardCharsets.UTF_8),
                new RecordView().wrap(new UnsafeBuffer(record), 0, record.length),
                segment,
                offset);
    }

    private boolean fill(final long at) throws IOException {
        if (at < chunkStart || at + HEADER_LENGTH > chunkStart + chunkLength) {
            final ByteBuffer bytes = chunk.byteBuffer();
            bytes.clear();
            chunkStart = at;
            int read = 0;
            while (bytes.hasRemaining() && read >= 0) {
                read = channel.read(bytes, at + bytes.position());
            }
            chunkLength = bytes.position();
        }
        header = (int) (at - chunkStart);
        return chunkLength - header >= HEADER_LENGTH;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
