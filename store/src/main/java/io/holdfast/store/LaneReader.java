package io.holdfast.store;

import java.io.IOException;

/**
 * Reads a lane's records in order, up to what is durable and never beyond. Every record was checked: bounds, checksum, and
 * that its sequence is above the one before. Damage does not stop it: it goes on with the next intact record, and what is
 * missing before that is counted. For one thread, the lane's uplink, which must not be interrupted; reads the disk.
 */
public final class LaneReader implements AutoCloseable {
    private static final long NONE = -1;

    private final Lane lane;
    private final LogScan scan;
    private long sequence = NONE;
    private long missing;
    private long missingUpTo;

    LaneReader(final Lane lane, final SegmentFiles files, final byte[] salt) {
        this.lane = lane;
        this.scan = new LogScan(files, salt, lane::damaged);
    }

    /**
     * Has {@link #next()} go on with the first record at or above a sequence.
     *
     * @param sequence from 1.
     * @throws StoreException if a segment cannot be read.
     */
    public void seek(final long sequence) throws StoreException {
        this.sequence = NONE;
        try {
            scan.seek(sequence);
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
        sequence = NONE;
        try {
            scan.seekTo(position);
        } catch (final IOException e) {
            throw unreadable(e);
        }
    }

    /**
     * Goes to the next intact record. Its sequence may be more than one above the last, and its send number may leave a gap:
     * the records between are damaged or gone, and {@link #missingRecords()} has grown by their number.
     *
     * @return false if there is none that is durable yet; see {@link #exhaustedUpTo()}.
     * @throws StoreException if the disk cannot be read.
     */
    public boolean next() throws StoreException {
        final long durable = lane.durableSequence();
        final long passed = scan.passed();
        if (passed >= durable) {
            return false;
        }
        try {
            if (scan.next(durable, lane.durablePosition())) {
                sequence = scan.passed();
                lost(passed, sequence - 1);
                return true;
            }
        } catch (final IOException e) {
            throw unreadable(e);
        }
        if (scan.isExhausted()) {
            lost(passed, durable);
            scan.pass(durable);
        }
        return false;
    }

    /** The records above one sequence up to another are not there; the cursor's are not wanted any more. */
    private void lost(final long passed, final long last) {
        final long from = Math.max(Math.max(passed, missingUpTo), lane.cursor().sequence());
        if (passed != LogScan.UNKNOWN && last > from) {
            missing += last - from;
            missingUpTo = last;
            lane.missing(from + 1, last);
        }
    }

    /**
     * The current record.
     *
     * @return valid until the next call of any method that moves.
     */
    public RecordView record() {
        return scan.view();
    }

    /**
     * The sequence of the current record.
     *
     * @return sequence, or -1 before the first.
     */
    public long sequence() {
        return sequence;
    }

    /**
     * After {@link #next()} has returned false: there is no intact record up to this sequence that it has not returned. With
     * the end of the log damaged it is above {@link #sequence()}, so that the cursor can pass what will never come.
     *
     * @return sequence, or -1 before the first record if {@link #seek} was not called.
     */
    public long exhaustedUpTo() {
        return scan.passed();
    }

    /**
     * Where the current record lies, for {@link #seekTo(long)}.
     *
     * @return opaque; greater for later records.
     */
    public long position() {
        return Position.of(scan.segment(), scan.offset());
    }

    /**
     * Records that should be there and are not: damaged, or their file is gone or was cut. Each is counted once, also when
     * its place is read again.
     *
     * @return count since the reader was opened.
     */
    public long missingRecords() {
        return missing;
    }

    @Override
    public void close() throws StoreException {
        try {
            scan.close();
        } catch (final IOException e) {
            throw unreadable(e);
        }
    }

    private StoreException unreadable(final IOException cause) {
        return new StoreException("cannot read the log in " + lane.directory() + ": check the disk", cause);
    }
}
