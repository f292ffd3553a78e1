package io.holdfast.store;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Walks the intact records of a lane in the order of their sequences, from segment to segment, whatever lies between them: at
 * a place that is no intact record it goes on with the next one behind it. Of a record that is there twice (appended again
 * after a failed sync) the first intact copy counts. For one thread.
 */
final class LogScan implements AutoCloseable {
    /** Hears of damaged files. */
    interface DamageListener {
        /**
         * A file holds bytes that are no intact record.
         *
         * @param segment number.
         * @param offset  where the intact records before it end.
         */
        void damaged(int segment, long offset);
    }

    static final long UNKNOWN = -1;

    /** As a limit: all there is. */
    static final long NO_LIMIT = Long.MAX_VALUE;

    private static final Logger LOGGER = LoggerFactory.getLogger(LogScan.class);

    private final SegmentFiles files;
    private final SegmentReader reader;
    private final DamageListener listener;
    private int segment = -1;

    /** Every intact record up to this sequence has been returned, or is not wanted. */
    private long passed = UNKNOWN;

    /** Behind the last intact record of the segment. */
    private long chainEnd;

    private boolean isExhausted;

    LogScan(final SegmentFiles files, final byte[] salt, final DamageListener listener) {
        this.files = files;
        this.reader = new SegmentReader(salt);
        this.listener = listener;
    }

    /** The next record will be the first one at or above a sequence. */
    void seek(final long sequence) throws IOException {
        passed = sequence - 1;
        reader.close();
        segment = files.find(sequence);
    }

    /** The next record will be the one at that position, or the first behind it. */
    void seekTo(final long position) throws IOException {
        passed = UNKNOWN;
        segment = Position.segment(position);
        chainEnd = Position.offset(position);
        reader.open(files.path(segment), chainEnd);
    }

    /** The next record will be the first one of that segment. */
    void seekToSegment(final int number) throws IOException {
        seekTo(Position.of(number, 0));
    }

    /**
     * Goes to the next intact record.
     *
     * @param maxSequence what lies above it is not returned.
     * @param limit       {@link Position} from which on nothing is read, or {@link #NO_LIMIT}.
     * @return false if there is none; {@link #isExhausted()} says whether there can be one up to {@code maxSequence} yet.
     */
    boolean next(final long maxSequence, final long limit) throws IOException {
        isExhausted = false;
        while (reader.isOpen() || open(segment < 0 ? files.first() : segment)) {
            final int limitSegment = Position.segment(limit);
            if (segment > limitSegment) {
                break;
            }
            final boolean isLast = segment == limitSegment;
            final long end = isLast ? Position.offset(limit) : Long.MAX_VALUE;
            final SegmentReader.Step step = reader.step(end);
            if (step == SegmentReader.Step.RECORD) {
                final long sequence = reader.view().sequence();
                if (passed != UNKNOWN && sequence <= passed) {
                    chainEnd = reader.nextOffset();
                    continue;
                }
                if (passed == UNKNOWN || sequence == passed + 1) {
                    return take(maxSequence);
                }
            }
            if (goOn(step, isLast, end)) {
                return take(maxSequence);
            }
            if (isExhausted) {
                return false;
            }
        }
        isExhausted = true;
        return false;
    }

    private boolean take(final long maxSequence) {
        if (reader.view().sequence() > maxSequence) {
            reader.stepBack();
            isExhausted = true;
            return false;
        }
        passed = reader.view().sequence();
        chainEnd = reader.nextOffset();
        return true;
    }

    /** From a place where the expected record is not: true if the reader stands at the one to go on with. */
    private boolean goOn(final SegmentReader.Step step, final boolean isLast, final long end) throws IOException {
        final long expected = passed + 1;
        final int following = isLast ? -1 : files.after(segment);
        final long followingStart = following < 0 ? Long.MAX_VALUE : files.firstSequence(following);
        if (passed != UNKNOWN && followingStart <= expected) {
            leaveFor(following);
            return false;
        }
        final long seen = step == SegmentReader.Step.RECORD ? reader.offset() : -1;
        final boolean isFound = reader.salvage(chainEnd, end, expected);
        if (isFound && reader.view().sequence() <= followingStart) {
            if (reader.offset() != seen) {
                listener.damaged(segment, chainEnd);
            }
            return true;
        }
        if (isFound || reader.hasSeenBytes()) {
            listener.damaged(segment, chainEnd);
        }
        if (following >= 0) {
            leaveFor(following);
        } else {
            isExhausted = true;
            if (isLast) {
                reader.moveTo(end);
                chainEnd = end;
            }
        }
        return false;
    }

    private void leaveFor(final int following) throws IOException {
        reader.close();
        segment = following;
    }

    private boolean open(final int number) throws IOException {
        int candidate = number;
        while (candidate >= 0) {
            try {
                reader.open(files.path(candidate), 0);
                segment = candidate;
                chainEnd = 0;
                return true;
            } catch (final NoSuchFileException e) {
                LOGGER.debug("{} is gone", e.getFile());
            }
            candidate = files.after(candidate);
        }
        return false;
    }

    /** Whether the last {@link #next} has shown that no intact record up to its maximum is left. */
    boolean isExhausted() {
        return isExhausted;
    }

    /** Nothing up to that sequence is wanted any more. */
    void pass(final long sequence) {
        passed = sequence;
    }

    /** Every intact record up to it has been returned, or is not wanted; {@link #UNKNOWN} before the first. */
    long passed() {
        return passed;
    }

    /** The current record; valid until the next move. */
    RecordView view() {
        return reader.view();
    }

    int segment() {
        return segment;
    }

    /** Where the current record's document begins. */
    long offset() {
        return reader.offset();
    }

    /** Behind the current record. */
    long endOffset() {
        return chainEnd;
    }

    @Override
    public void close() throws IOException {
        reader.close();
    }
}
