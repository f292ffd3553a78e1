package io.holdfast.store;

import java.io.IOException;
import java.util.List;
import org.agrona.collections.LongArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a lane's log from its newest checkpoint to its tail, to find out what the writer knew. Changes nothing on disk. The
 * time it takes depends on the segment size, not on the backlog, unless checkpoint or cursor are lost.
 */
final class LaneRecovery {
    private static final Logger LOGGER = LoggerFactory.getLogger(LaneRecovery.class);

    private final SegmentFiles files;
    private final byte[] salt;
    private final LogScan.DamageListener damageListener;
    private final LaneState state;
    private final Cursor cursor;
    private final long[] pending = new long[RouteTable.MAX_ROUTES];

    /** Damage that no intact record has followed yet: at the end of the log it is but a torn batch. */
    private final LongArrayList suspected = new LongArrayList();

    private boolean isSequenceKnown;

    /** Records up to it were durable once, whatever is there now. */
    private long knownDurable;

    private boolean hasSeenMarks;
    private long firstSequence = -1;
    private long firstSendNumber = -1;
    private long highestRead = -1;

    /** The last segment with an intact record, or -1. */
    private int lastSegment = -1;

    /** Behind the last intact record of {@link #lastSegment}. */
    private long endOffset;

    /** Of {@link #lastSegment}: whatever lies before it was there when a sync returned. */
    private long unprovenOffset;

    /** Sequences that are missing between records that are there. */
    private long missingRecords;

    /** Records that are finished or there, and were not counted as accepted. */
    private long uncounted;

    LaneRecovery(
            final SegmentFiles files,
            final byte[] salt,
            final LaneState state,
            final Cursor cursor,
            final LogScan.DamageListener damageListener) {
        this.files = files;
        this.salt = salt;
        this.state = state;
        this.cursor = cursor;
        this.damageListener = damageListener;
    }

    void run(final Checkpoint checkpoint, final long defaultExpiryMs, final long nowNs) throws IOException {
        final boolean isCheckpointFound = checkpoint.load(state, nowNs);
        if (isCheckpointFound) {
            state.nextSequence = checkpoint.nextSequence();
            state.nextSendNumber = checkpoint.nextSendNumber();
            isSequenceKnown = true;
        }
        knownDurable = Math.max(cursor.sequence(), isCheckpointFound ? checkpoint.nextSequence() - 1 : 0);
        final boolean readAll = !isCheckpointFound || !cursor.wasFound();
        final List<Integer> segments = files.discover();
        for (final int segment : segments) {
            if (readAll || segment >= checkpoint.segment()) {
                readFrom(segment, LogScan.NO_LIMIT, defaultExpiryMs, nowNs);
                break;
            }
        }
        for (int i = segments.size() - 1; lastSegment < 0 && i >= 0; i--) {
            readFrom(segments.get(i), Position.endOf(segments.get(i)), defaultExpiryMs, nowNs);
        }
        for (int route = 0; route < pending.length; route++) {
            final long least = cursor.finished(route) + pending[route];
            uncounted += readAll ? 0 : Math.max(0, least - state.accepted.get(route));
            state.accepted.set(route, readAll ? least : Math.max(least, state.accepted.get(route)));
        }
        if (cursor.sequence() >= state.nextSequence) {
            uncertain(cursor.sequence() + 1 - state.nextSequence, "the end of the log");
            state.nextSequence = cursor.sequence() + 1;
        }
        state.nextSendNumber = Math.max(state.nextSendNumber, cursor.sendNumber());
    }

    private void readFrom(final int segment, final long limit, final long defaultExpiryMs, final long nowNs)
            throws IOException {
        suspected.clear();
        try (LogScan scan = new LogScan(files, salt, (at, offset) -> suspected.addLong(Position.of(at, offset)))) {
            scan.seekToSegment(segment);
            long passed = LogScan.UNKNOWN;
            while (scan.next(Long.MAX_VALUE, limit)) {
                if (passed != LogScan.UNKNOWN && scan.passed() > passed + 1 && !wasDurable(passed + 1, scan)) {
                    LOGGER.warn(
                            "the log ends in a batch that was never made durable, torn behind record {}: what is left of"
                                    + " it is not used",
                            passed);
                    return;
                }
                passed = scan.passed();
                confirmDamage();
                take(scan, defaultExpiryMs, nowNs);
                if (scan.segment() != lastSegment) {
                    unprovenOffset = 0;
                } else if (scan.view().isFirstOfBatch()) {
                    unprovenOffset = scan.offset();
                }
                lastSegment = scan.segment();
                endOffset = scan.endOffset();
            }
            if (passed < knownDurable) {
                confirmDamage();
            }
        }
    }

    private void confirmDamage() {
        for (int i = 0; i < suspected.size(); i++) {
            final long position = suspected.getLong(i);
            damageListener.damaged(Position.segment(position), Position.offset(position));
        }
        suspected.clear();
    }

    /**
     * Whether a record that is not there had been durable, so that this is damage; else a power cut has torn a batch that
     * nobody had an acknowledgement for, and to deliver what lies behind the tear would bring it out of order.
     */
    private boolean wasDurable(final long sequence, final LogScan at) throws IOException {
        if (sequence <= knownDurable) {
            return true;
        }
        try (LogScan ahead = new LogScan(files, salt, (segment, offset) -> {})) {
            ahead.seekTo(Position.of(at.segment(), at.offset()));
            while (ahead.next(Long.MAX_VALUE, LogScan.NO_LIMIT)) {
                if (ahead.view().isFirstOfBatch()) {
                    knownDurable = ahead.passed() - 1;
                    return true;
                }
            }
        }
        return !hasSeenMarks;
    }

    private void take(final LogScan scan, final long defaultExpiryMs, final long nowNs) throws IOException {
        final RecordView record = scan.view();
        final long sequence = record.sequence();
        hasSeenMarks |= record.isFirstOfBatch();
        if (firstSequence < 0) {
            firstSequence = sequence;
        }
        if (firstSendNumber < 0 && record.sendNumber() >= 0) {
            firstSendNumber = record.sendNumber();
        }
        if (isSequenceKnown && sequence > state.nextSequence) {
            uncertain(sequence - state.nextSequence, files.path(scan.segment()) + " at " + scan.offset());
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

    /** Where the last batch of {@link #lastSegment()} begins: its sync may have failed, or never have been asked for. */
    long unprovenOffset() {
        return unprovenOffset;
    }

    long missingRecords() {
        return missingRecords;
    }

    long uncounted() {
        return uncounted;
    }
}
