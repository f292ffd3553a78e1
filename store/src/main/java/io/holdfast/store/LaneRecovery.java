package io.holdfast.store;

import java.io.IOException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a lane's log from its newest checkpoint to its tail, to find out what the writer knew. Changes nothing on disk. The
 * time it takes depends on the segment size, not on the backlog, unless checkpoint or cursor are lost.
 */
final class LaneRecovery {
    private static final Logger LOGGER = LoggerFactory.getLogger(LaneRecovery.class);

    private final SegmentFiles files;
    private final SegmentReader reader;
    private final LaneState state;
    private final Cursor cursor;
    private final long[] pending = new long[RouteTable.MAX_ROUTES];

    private boolean isSequenceKnown;
    private long firstSequence = -1;
    private long firstSendNumber = -1;
    private long highestRead = -1;

    /** The last segment with an intact record, or -1. */
    private int lastSegment = -1;

    /** Behind the last intact record of {@link #lastSegment}. */
    private long endOffset;

    /** Whether there are bytes behind {@link #endOffset} that are no intact record. */
    private boolean isTailTorn;

    /** Sequences that are missing between records that are there. */
    private long missingRecords;

    LaneRecovery(final SegmentFiles files, final byte[] salt, final LaneState state, final Cursor cursor) {
        this.files = files;
        this.reader = new SegmentReader(salt);
        this.state = state;
        this.cursor = cursor;
    }

    void run(final Checkpoint checkpoint, final long defaultExpiryMs, final long nowNs) throws IOException {
        final boolean isCheckpointFound = checkpoint.load(state.sessions, state.accepted, nowNs);
        if (isCheckpointFound) {
            state.nextSequence = checkpoint.nextSequence();
            state.nextSendNumber = checkpoint.nextSendNumber();
            isSequenceKnown = true;
        }
        final boolean readAll = !isCheckpointFound || !cursor.wasFound();
        final List<Integer> segments = files.discover();
        try (reader) {
            for (final int segment : segments) {
                if (readAll || segment >= checkpoint.segment()) {
                    read(segment, defaultExpiryMs, nowNs);
                }
            }
            for (int i = segments.size() - 1; lastSegment < 0 && i >= 0; i--) {
                read(segments.get(i), defaultExpiryMs, nowNs);
            }
        }
        if (readAll) {
            for (int route = 0; route < pending.length; route++) {
                state.accepted.set(route, cursor.finished(route) + pending[route]);
            }
        }
        if (cursor.sequence() >= state.nextSequence) {
            uncertain(cursor.sequence() + 1 - state.nextSequence, "the end of the log");
            state.nextSequence = cursor.sequence() + 1;
        }
        state.nextSendNumber = Math.max(state.nextSendNumber, cursor.sendNumber());
    }

    private void read(final int segment, final long defaultExpiryMs, final long nowNs) throws IOException {
        reader.open(files.path(segment), 0);
        SegmentReader.Step step = reader.step(Long.MAX_VALUE);
        while (step == SegmentReader.Step.RECORD) {
            take(segment, defaultExpiryMs, nowNs);
            lastSegment = segment;
            endOffset = reader.nextOffset();
            step = reader.step(Long.MAX_VALUE);
        }
        if (lastSegment == segment) {
            isTailTorn = step == SegmentReader.Step.INVALID;
        }
    }

    private void take(final int segment, final long defaultExpiryMs, final long nowNs) throws IOException {
        final RecordView record = reader.view();
        final long sequence = record.sequence();
        if (firstSequence < 0) {
            firstSequence = sequence;
        }
        if (firstSendNumber < 0 && record.sendNumber() >= 0) {
            firstSendNumber = record.sendNumber();
        }
        if (isSequenceKnown && sequence > state.nextSequence) {
            uncertain(sequence - state.nextSequence, files.path(segment) + " at " + reader.offset());
        }
        if (sequence > highestRead) {
            highestRead = sequence;
            if (sequence > cursor.sequence() && record.kind() == RecordDescriptor.KIND_PUBLISH) {
                pending[record.routeNumber()]++;
            }
        }
        if (!isSequenceKnown || sequence >= state.nextSequence) {
            state.replay(record, defaultExpiryMs, nowNs);
            isSequenceKnown = true;
        }
    }

    private void uncertain(final long missing, final String where) {
        missingRecords += missing;
        final int ids = state.sessions.clear();
        LOGGER.error("{} records are missing before {}; {} received packet ids are forgotten", missing, where, ids);
    }

    /** The first sequence that was read, or -1. */
    long firstSequence() {
        return firstSequence;
    }

    /** The first send number that was read, or -1. */
    long firstSendNumber() {
        return firstSendNumber;
    }

    int lastSegment() {
        return lastSegment;
    }

    long endOffset() {
        return endOffset;
    }

    boolean isTailTorn() {
        return isTailTorn;
    }

    long missingRecords() {
        return missingRecords;
    }
}
