package io.holdfast.store;

import java.io.IOException;
import java.nio.file.Path;

/** A lane of a store that no process uses, as a start would find it; changes nothing. For one thread. */
final class StoppedLane implements AutoCloseable {
    final Path directory;
    final Cursor cursor;
    final LaneState state = new LaneState();
    final SegmentFiles files;
    final LaneRecovery recovery;
    private final byte[] salt;
    private final Checkpoint checkpoint;
    private final long firstPending;

    StoppedLane(final Path storeDirectory, final int number, final StoreMeta meta) throws IOException {
        directory = OutboxStore.laneDirectory(storeDirectory, number);
        salt = MetaFile.saltOf(meta);
        cursor = Cursor.openReadOnly(directory, salt);
        checkpoint = Checkpoint.openReadOnly(directory, salt);
        files = new SegmentFiles(directory, new StoreContext().segmentBytes(meta.segmentBytes()), salt);
        recovery = new LaneRecovery(files, salt, state, cursor, (segment, offset) -> {});
        recovery.run(checkpoint, 0, 0);
        firstPending = cursor.wasFound() ? cursor.sequence() + 1 : Math.max(1, recovery.firstSequence());
    }

    /** The first sequence that is not finished. */
    long firstPending() {
        return firstPending;
    }

    /** The sequence that has to follow in a scan of all records, which may begin with finished ones. */
    long expectedAfter(final long passed) {
        return passed == LogScan.UNKNOWN ? firstPending : passed + 1;
    }

    long lastSequence() {
        return state.nextSequence - 1;
    }

    /** What a start would cut off is beyond it. */
    long end() {
        return recovery.lastSegment() < 0 ? 0 : Position.of(recovery.lastSegment(), recovery.endOffset());
    }

    /** Over the records from a sequence on. */
    LogScan scanFrom(final long sequence) throws IOException {
        final LogScan scan = new LogScan(files, salt, (segment, offset) -> {});
        scan.seek(sequence);
        return scan;
    }

    /** Over all records that are there, telling a listener of damage. */
    LogScan scanAll(final LogScan.DamageListener listener) throws IOException {
        final LogScan scan = new LogScan(files, salt, listener);
        if (files.first() >= 0) {
            scan.seekToSegment(files.first());
        }
        return scan;
    }

    /** The next record of a scan, up to the end of the log. */
    boolean next(final LogScan scan) throws IOException {
        return scan.next(Long.MAX_VALUE, end());
    }

    @Override
    public void close() throws IOException {
        try {
            cursor.abandon();
        } finally {
            checkpoint.close();
        }
    }
}
