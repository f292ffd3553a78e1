package io.holdfast.store;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a lane's records in order, up to what is durable and never beyond. Every record was checked: bounds, checksum, and
 * that its sequence follows the one before. For one thread, the lane's uplink, which must not be interrupted; reads the disk.
 */
public final class LaneReader implements AutoCloseable {
    private static final Logger LOGGER = LoggerFactory.getLogger(LaneReader.class);

    private static final long NONE = -1;

    private final Lane lane;
    private final SegmentFiles files;
    private final SegmentReader reader;
    private int segment = -1;
    private long lastSequence = NONE;
    private long target = 1;
    private boolean isSegmentStart;
    private long missing;

    LaneReader(final Lane lane, final SegmentFiles files, final byte[] salt) {
        this.lane = lane;
        this.files = files;
        this.reader = new SegmentReader(salt);
    }

    /**
     * Has {@link #next()} go on with the first record at or above a sequence.
     *
     * @param sequence from 1.
     * @throws StoreException if a segment cannot be read.
     */
    public void seek(final long sequence) throws StoreException {
        target = sequence;
        lastSequence = NONE;
        try {
            reader.close();
            segment = files.find(sequence);
        } catch (final IOException e) {
            throw unreadable(e);
        }
    }

    /**
     * Has {@link #next()} return again the record that was at that position.
     *
     * @param position from {@link #position()}; its segment must not have been reclaimed.
     * @throws StoreException if the segment cannot be read.
     */
    public void seekTo(final long position) throws StoreException {
        target = 1;
        lastSequence = NONE;
        segment = Position.segment(position);
        try {
            reader.open(files.path(segment), Position.offset(position));
            isSegmentStart = false;
        } catch (final IOException e) {
            throw unreadable(e);
        }
    }

    /**
     * Goes to the next record.
     *
     * @return false if there is none that is durable yet.
     * @throws StoreException if the log is damaged there; the message names file and offset.
     */
    public boolean next() throws StoreException {
        final long durable = lane.durableSequence();
        if (Math.max(lastSequence, target - 1) >= durable) {
            return false;
        }
        try {
            while (reader.isOpen() || openSegment(segment < 0 ? files.first() : segment)) {
                final long durablePosition = lane.durablePosition();
                final boolean isLast = segment == Position.segment(durablePosition);
                final long limit = isLast ? Position.offset(durablePosition) : Long.MAX_VALUE;
                final SegmentReader.Step step = reader.step(limit);
                if (step == SegmentReader.Step.RECORD) {
                    if (reader.view().sequence() > durable) {
                        reader.stepBack();
                        return false;
                    }
                    if (take()) {
                        return true;
                    }
                } else if (isLast) {
                    if (step == SegmentReader.Step.INVALID || reader.offset() + Integer.BYTES < limit) {
                        throw damaged("the record is damaged");
                    }
                    return false;
                } else if (!goOn(step)) {
                    return false;
                }
            }
            return false;
        } catch (final IOException e) {
            throw unreadable(e);
        }
    }

    /** Whether the record is one to hand out. Those appended again after a failed sync are there twice: the first counts. */
    private boolean take() throws StoreException {
        final long sequence = reader.view().sequence();
        if (sequence <= lastSequence || sequence < target) {
            isSegmentStart &= sequence <= lastSequence;
            return false;
        }
        if (lastSequence != NONE && sequence != lastSequence + 1) {
            if (!isSegmentStart) {
                throw damaged("the record should have sequence " + (lastSequence + 1) + ", not " + sequence);
            }
            missing += sequence - lastSequence - 1;
            LOGGER.error("records {} to {} are missing before {}", lastSequence + 1, sequence - 1, reader.file());
        }
        isSegmentStart = false;
        lastSequence = sequence;
        return true;
    }

    /** From the end of what is readable in this segment to the next one. */
    private boolean goOn(final SegmentReader.Step step) throws IOException, StoreException {
        final int next = files.after(segment);
        if (step == SegmentReader.Step.INVALID
                && (next < 0 || files.firstSequence(next) > Math.max(lastSequence, target - 1) + 1)) {
            throw damaged("the record is damaged");
        }
        return next >= 0 && openSegment(next);
    }

    private boolean openSegment(final int number) throws IOException {
        int candidate = number;
        while (candidate >= 0) {
            try {
                reader.open(files.path(candidate), 0);
                segment = candidate;
                isSegmentStart = true;
                return true;
            } catch (final NoSuchFileException e) {
                LOGGER.debug("{} is gone", e.getFile());
            }
            candidate = files.after(candidate);
        }
        return false;
    }

    /**
     * The current record.
     *
     * @return valid until the next call of any method that moves.
     */
    public RecordView record() {
        return reader.view();
    }

    /**
     * The sequence of the current record.
     *
     * @return sequence, or -1 before the first.
     */
    public long sequence() {
        return lastSequence;
    }

    /**
     * Where the current record lies, for {@link #seekTo(long)}.
     *
     * @return opaque; greater for later records.
     */
    public long position() {
        return Position.of(segment, reader.offset());
    }

    /**
     * Records that should be there and are not: their file is gone or was cut.
     *
     * @return count since the reader was opened.
     */
    public long missingRecords() {
        return missing;
    }

    @Override
    public void close() throws StoreException {
        try {
            reader.close();
        } catch (final IOException e) {
            throw unreadable(e);
        }
    }

    private StoreException damaged(final String what) {
        return new StoreException(reader.file() + " at offset " + reader.offset() + ": " + what
                + "; keep the file, the records behind it are still there");
    }

    private StoreException unreadable(final IOException cause) {
        return new StoreException("cannot read the log in " + lane.directory() + ": check the disk", cause);
    }
}
