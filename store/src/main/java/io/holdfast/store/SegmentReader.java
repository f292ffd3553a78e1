package io.holdfast.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Walks the records of one segment file, in order, by reading the file: not by mapping it (a short or damaged disk would kill
 * the JVM instead of failing the read), and not with the log library's own reader, which stops silently at a hole and believes
 * any length. The file is a chain of documents: a 4 byte little-endian header (bit 31 not ready, bit 30 library's own data,
 * the rest the length), the content, padding to a multiple of 4; header 0 is the end. For one thread.
 */
final class SegmentReader implements AutoCloseable {
    /** What {@link #step(long)} found. */
    enum Step {
        RECORD,
        /** Nothing more up to the limit. */
        END,
        /** Bytes that are no intact record. */
        INVALID
    }

    private static final int HEADER_LENGTH = 4;
    private static final int NOT_READY = 0x8000_0000;
    private static final int OWN_DATA = 0x4000_0000;
    private static final int LENGTH_MASK = 0x3FFF_FFFF;
    private static final int END_OF_FILE = NOT_READY | OWN_DATA;

    /** What the log library writes behind an end of file. */
    private static final int END_OF_FILE_TEXT = 0x464F_45C3;

    private static final int CHUNK = 256 << 10;

    private final byte[] salt;
    private final Crc32cChecksum checksum = new Crc32cChecksum();
    private final RecordView view = new RecordView();
    private ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK);
    private final UnsafeBuffer buffer = new UnsafeBuffer(chunk);

    private FileChannel channel;
    private Path file;
    private long fileLength;
    private long chunkStart;
    private int chunkLength;
    private long offset;
    private long next;
    private boolean hasSeenBytes;

    SegmentReader(final byte[] salt) {
        this.salt = salt;
    }

    void open(final Path path, final long startOffset) throws IOException {
        close();
        channel = FileChannel.open(path, StandardOpenOption.READ);
        file = path;
        fileLength = channel.size();
        chunkStart = 0;
        chunkLength = 0;
        offset = startOffset;
        next = startOffset;
    }

    /**
     * Goes to the next record.
     *
     * @param limit offset that nothing is read from or beyond: what lies there is not durable yet.
     * @return what was found there.
     */
    Step step(final long limit) throws IOException {
        final long end = Math.min(limit, fileLength);
        while (true) {
            offset = next;
            if (offset + HEADER_LENGTH > end || !fill(offset, HEADER_LENGTH, end)) {
                return Step.END;
            }
            final int header = buffer.getInt((int) (offset - chunkStart), ByteOrder.LITTLE_ENDIAN);
            if (header == 0 || header == END_OF_FILE) {
                return Step.END;
            }
            final int length = header & LENGTH_MASK;
            final long contentEnd = offset + HEADER_LENGTH + length;
            if ((header & NOT_READY) != 0 || contentEnd > end) {
                return Step.INVALID;
            }
            if ((header & OWN_DATA) == 0) {
                return record(length, end);
            }
            next = align(contentEnd);
        }
    }

    private Step record(final int length, final long end) throws IOException {
        if (length < RecordDescriptor.HEADER_LENGTH || !fill(offset, HEADER_LENGTH + length, end)) {
            return Step.INVALID;
        }
        view.wrap(buffer, (int) (offset - chunkStart) + HEADER_LENGTH, length);
        if (!view.isIntact(checksum, salt)) {
            return Step.INVALID;
        }
        next = align(offset + HEADER_LENGTH + length);
        return Step.RECORD;
    }

    /** The record that the last step found; valid until the next one. */
    RecordView view() {
        return view;
    }

    /** Where the last step looked: the offset of its document header. */
    long offset() {
        return offset;
    }

    /** Where the next step will look. */
    long nextOffset() {
        return next;
    }

    /** The next step will look there again. */
    void stepBack() {
        next = offset;
    }

    boolean isOpen() {
        return channel != null;
    }

    Path file() {
        return file;
    }

    /** The next step will look there. */
    void moveTo(final long position) {
        offset = position;
        next = position;
    }

    /**
     * Whether an intact record lies anywhere behind an offset. To tell a torn end from damage in the middle.
     *
     * @param from offset to begin at.
     * @return true if one was found.
     */
    boolean hasRecordBehind(final long from) throws IOException {
        return salvage(from, Long.MAX_VALUE, 0);
    }

    /**
     * Looks for an intact record at every multiple of 4, whatever the bytes before it are, and goes to it as {@link #step}
     * does. What a payload holds is never taken for one: it cannot know the store's salt. If there is none, stays where it was.
     *
     * @param from          offset to begin at.
     * @param limit         offset that nothing is read from or beyond.
     * @param leastSequence of the record.
     * @return true if one was found.
     */
    boolean salvage(final long from, final long limit, final long leastSequence) throws IOException {
        final long end = Math.min(limit, fileLength);
        hasSeenBytes = false;
        for (long at = align(from); at + HEADER_LENGTH <= end; at += Integer.BYTES) {
            if (!fill(at, HEADER_LENGTH, end)) {
                return false;
            }
            final int header = buffer.getInt((int) (at - chunkStart), ByteOrder.LITTLE_ENDIAN);
            if (header == 0) {
                continue;
            }
            hasSeenBytes |= header != END_OF_FILE && header != END_OF_FILE_TEXT;
            if (header >= RecordDescriptor.HEADER_LENGTH
                    && header <= end - at - HEADER_LENGTH
                    && isRecord(at, header, end)
                    && view.sequence() >= leastSequence) {
                offset = at;
                next = align(at + HEADER_LENGTH + header);
                return true;
            }
        }
        return false;
    }

    /** Whether the last {@link #salvage} came over anything but zeros. */
    boolean hasSeenBytes() {
        return hasSeenBytes;
    }

    /** The cheap questions first: a payload may be full of what looks like long records. */
    private boolean isRecord(final long at, final int length, final long end) throws IOException {
        if (!fill(at, HEADER_LENGTH + RecordDescriptor.HEADER_LENGTH, end)
                || !RecordView.isWellFormed(buffer, (int) (at - chunkStart) + HEADER_LENGTH, length)
                || !fill(at, HEADER_LENGTH + length, end)) {
            return false;
        }
        return view.wrap(buffer, (int) (at - chunkStart) + HEADER_LENGTH, length)
                .isIntact(checksum, salt);
    }

    /** Has the chunk hold these bytes; false if the file ends before. Bytes at or beyond the end are never cached. */
    private boolean fill(final long from, final int length, final long end) throws IOException {
        if (from >= chunkStart && from + length <= chunkStart + chunkLength) {
            return true;
        }
        if (length > chunk.capacity()) {
            chunk = ByteBuffer.allocateDirect((length + CHUNK - 1) / CHUNK * CHUNK);
            buffer.wrap(chunk);
        }
        chunkStart = from;
        chunkLength = 0;
        chunk.limit((int) Math.min(chunk.capacity(), end - from)).position(0);
        while (chunk.hasRemaining()) {
            final int read = channel.read(chunk, chunkStart + chunk.position());
            if (read < 0) {
                break;
            }
        }
        chunkLength = chunk.position();
        chunk.clear();
        return chunkLength >= length;
    }

    private static long align(final long position) {
        return (position + 3) & ~3L;
    }

    @Override
    public void close() throws IOException {
        if (channel != null) {
            channel.close();
            channel = null;
        }
    }
}
