package io.holdfast.store;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.collections.LongHashSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One partition of the outbox: one log with one writer and one uplink. All records of a Client Identifier are in the same
 * lane, in the order they came. Each part says its thread.
 */
public final class Lane {
    private static final Logger LOGGER = LoggerFactory.getLogger(Lane.class);

    private final Path directory;
    private final StoreContext context;
    private final byte[] salt;
    private final SegmentFiles files;
    private final LaneState state = new LaneState();
    private final Cursor cursor;
    private final UplinkJournal journal;
    private final Checkpoint checkpoint;
    private final LaneWriter writer;
    private final LaneDamage damage;

    private volatile long durablePosition;
    private volatile long durableSequence;
    private volatile int sessions;
    private volatile boolean wasRefused;
    private volatile boolean hasFailed;

    /** The records up to it are to be given up; the segments below {@link #evictedBelow} go then. */
    private volatile long evictionTarget;

    /** The writer's. */
    private int evictedBelow;
    /** Odd while the writer counts what has become durable. */
    private final AtomicLong ledgerVersion = new AtomicLong();

    private final AtomicLong segmentsCreatedInline = new AtomicLong();
    private final AtomicLong deadSegments = new AtomicLong();
    private final AtomicLong receivedIdsReused = new AtomicLong();
    private final AtomicLong segmentsReclaimed = new AtomicLong();
    private final LongHashSet deadLettered = new LongHashSet();
    private long firstSendNumberOfProcess;
    private long missingAtStart;
    private boolean wasTailTorn;

    private Lane(
            final Path directory,
            final StoreContext context,
            final byte[] salt,
            final SegmentFiles files,
            final Cursor cursor,
            final UplinkJournal journal,
            final Checkpoint checkpoint,
            final LaneLog log) {
        this.directory = directory;
        this.context = context;
        this.salt = salt;
        this.files = files;
        this.cursor = cursor;
        this.journal = journal;
        this.checkpoint = checkpoint;
        this.damage = new LaneDamage(directory, files);
        this.writer = new LaneWriter(this, files, log, checkpoint, state, salt, context);
    }

    static Lane open(final Path directory, final StoreContext context, final byte[] salt, final LaneLog log)
            throws IOException, StoreException {
        final boolean force = context.durability() == Durability.FSYNC;
        DurableFiles.createDirectory(directory);
        Cursor cursor = null;
        UplinkJournal journal = null;
        Checkpoint checkpoint = null;
        Dedup dedup = null;
        try {
            cursor = Cursor.open(directory, salt, force);
            journal = UplinkJournal.open(directory, salt, force);
            checkpoint = Checkpoint.open(directory, salt, force);
            final SegmentFiles files = new SegmentFiles(directory, context, salt);
            final Lane lane = new Lane(directory, context, salt, files, cursor, journal, checkpoint, log);
            dedup = Dedup.open(directory, context, salt);
            lane.state.dedup = dedup;
            lane.recover();
            if (files.hasRoomForLog()) {
                log.warmUp();
            }
            return lane;
        } catch (final IOException | StoreException | RuntimeException e) {
            closeAll(cursor, journal, checkpoint);
            if (dedup != null) {
                dedup.close();
            }
            throw e;
        }
    }

    private static void closeAll(final Cursor cursor, final UplinkJournal journal, final Checkpoint checkpoint)
            throws IOException {
        if (cursor != null) {
            cursor.abandon();
        }
        if (journal != null) {
            journal.abandon();
        }
        if (checkpoint != null) {
            checkpoint.close();
        }
    }

    private void recover() throws IOException, StoreException {
        for (final Path discarded : files.clean()) {
            LOGGER.warn("{} was set aside by the log library: it may hold records", discarded);
        }
        final LaneRecovery recovery = new LaneRecovery(files, salt, state, cursor, damage);
        recovery.run(
                checkpoint, context.maxSessionExpiryMs(), context.nanoClock().nanoTime());
        missingAtStart = recovery.missingRecords();
        files.seal();
        files.nextSegmentIsAbove(checkpoint.highestSegment() - 1);
        removeEmptySegments(recovery.lastSegment());
        if (recovery.lastSegment() >= 0) {
            keepDamagedCopy(recovery);
            files.cut(recovery.lastSegment(), recovery.unprovenOffset(), recovery.endOffset());
        }
        DurableFiles.forceDirectory(directory);
        durablePosition = recovery.lastSegment() < 0 ? 0 : Position.of(recovery.lastSegment(), recovery.endOffset());
        durableSequence = state.nextSequence - 1;
        recoverUplink(recovery);
        damage.bound();
        if (!writer.writeCheckpoint()) {
            LOGGER.warn("no checkpoint could be written in {}: the next start reads more of the log", directory);
        }
    }

    private void recoverUplink(final LaneRecovery recovery) throws StoreException, IOException {
        if (!cursor.wasFound()) {
            final long firstNumber = recovery.firstSendNumber() < 0 ? state.nextSendNumber : recovery.firstSendNumber();
            cursor.startAt(recovery.firstSequence() < 0 ? durableSequence : recovery.firstSequence() - 1, firstNumber);
            journal.forgetHistory();
        }
        settleDamaged();
        cursor.writeBothSlots();
        journal.forgetBelow(cursor.olderDurableSendNumber());
        state.nextSendNumber = Math.max(state.nextSendNumber, journal.highestMark() + 1);
        journal.markOpen();
        firstSendNumberOfProcess = state.nextSendNumber;
    }

    /** A segment without a single intact record at the end of the log: never used, or never made durable. */
    private void removeEmptySegments(final int lastSegment) throws IOException {
        int segment = lastSegment < 0 ? files.first() : files.after(lastSegment);
        while (segment >= 0) {
            final int next = files.after(segment);
            try (SegmentReader reader = new SegmentReader(salt)) {
                reader.open(files.path(segment), 0);
                if (reader.hasRecordBehind(0)) {
                    wasTailTorn = true;
                    LOGGER.error("the log ends in a damaged segment, kept as {}", files.setAside(segment));
                } else {
                    files.delete(segment);
                }
            }
            files.nextSegmentIsAbove(segment);
            segment = next;
        }
    }

    /** What follows a torn end was never acknowledged; yet if it holds intact records, it may be damage instead. */
    private void keepDamagedCopy(final LaneRecovery recovery) throws IOException {
        final Path file = files.path(recovery.lastSegment());
        try (SegmentReader reader = new SegmentReader(salt)) {
            reader.open(file, recovery.endOffset());
            if (!reader.hasRecordBehind(recovery.endOffset())) {
                if (reader.hasSeenBytes()) {
                    wasTailTorn = true;
                    LOGGER.warn("{}: cut a torn record at offset {}", file, recovery.endOffset());
                }
                return;
            }
        }
        wasTailTorn = true;
        final Path copy = directory.resolve(SegmentName.of(recovery.lastSegment(), SegmentName.DAMAGED));
        try {
            Files.deleteIfExists(copy);
            Files.copy(file, copy);
            LOGGER.warn(
                    "{}: cut at offset {}, with intact records behind that were never acknowledged; kept as {}",
                    file,
                    recovery.endOffset(),
                    copy);
        } catch (final FileSystemException e) {
            LOGGER.error("{}: cut at offset {}; no room to keep a copy", file, recovery.endOffset(), e);
        }
    }

    /**
     * The writer; for the lane's one writer thread.
     *
     * @return always the same.
     */
    public LaneWriter writer() {
        return writer;
    }

    /**
     * A reader, at the lane's first record; for one thread.
     *
     * @return a new one, to be closed.
     */
    public LaneReader openReader() {
        return new LaneReader(this, files, salt);
    }

    /**
     * How far the broker has acknowledged; changed by the lane's uplink thread.
     *
     * @return always the same.
     */
    public Cursor cursor() {
        return cursor;
    }

    /**
     * The uplink's QoS 2 journal; for the lane's uplink thread.
     *
     * @return always the same.
     */
    public UplinkJournal journal() {
        return journal;
    }

    /**
     * Every send number below it was given to a record by an earlier process, all others by this one. Any thread.
     *
     * @return send number.
     */
    public long firstSendNumberOfProcess() {
        return firstSendNumberOfProcess;
    }

    /**
     * Whether a record above the cursor had a dead letter already when the store was opened; it must not be sent. For the
     * lane's uplink thread.
     *
     * @param sequence of the record.
     * @return true if so.
     */
    public boolean isDeadLettered(final long sequence) {
        return deadLettered.contains(sequence);
    }

    /** Takes over which unfinished records have a dead letter, and brings the counters up to what was removed since. */
    void reconcile(final int number, final DeadLetters letters, final int routes) {
        final LongHashSet.LongIterator sequences = letters.sequencesOf(number).iterator();
        while (sequences.hasNext()) {
            final long sequence = sequences.nextValue();
            if (sequence > cursor.sequence()) {
                deadLettered.add(sequence);
            }
        }
        for (int route = 0; route < routes; route++) {
            final long removed = cursor.deadLettered(route) - letters.count(number, route);
            if (removed > 0 && deadLettered.isEmpty()) {
                cursor.deadLetterRemoved(route, DropReason.PURGED, removed);
            }
        }
    }

    /**
     * Every record up to this one is durable. Any thread.
     *
     * @return sequence, 0 if there is none.
     */
    public long durableSequence() {
        return durableSequence;
    }

    /** To be read after {@link #durableSequence()}: it is the place of that record's end or of a later one's. */
    long durablePosition() {
        return durablePosition;
    }

    void durable(final long position, final long sequence) {
        durablePosition = position;
        durableSequence = sequence;
        ledgerVersion.incrementAndGet();
    }

    /** The writer is about to count records; {@link #durable} follows. */
    void counting() {
        ledgerVersion.incrementAndGet();
    }

    void damaged(final int segment, final long offset) {
        damage.damaged(segment, offset);
    }

    void missing(final long firstSequence, final long lastSequence) {
        damage.missing(firstSequence, lastSequence);
    }

    /** Route numbers that occur are below it. */
    int usedRoutes() {
        int used = RouteTable.MAX_ROUTES;
        while (used > 0 && state.accepted.get(used - 1) == 0 && cursor.finished(used - 1) == 0) {
            used--;
        }
        return used;
    }

    /**
     * Counts as dropped, {@link DropReason#DAMAGED}, what was accepted and can never be finished because it is not in the log
     * any more. Which routes damaged records had nobody can read; once everything else is finished, it is what is left over.
     * Does nothing until then, that is, until the cursor has reached {@link #durableSequence()}. To be called by the lane's
     * uplink thread, with nothing in flight, when {@link LaneReader#missingRecords()} is not 0; each start does it too.
     *
     * @return records counted as dropped; -1 if the lane is not drained, so that it has to be called again.
     */
    public long settleDamaged() {
        final long version = ledgerVersion.get();
        final long[] left = new long[RouteTable.MAX_ROUTES];
        if (cursor.sequence() < durableSequence) {
            return -1;
        }
        for (int route = 0; route < left.length; route++) {
            left[route] = state.accepted.getAcquire(route) - cursor.finished(route);
        }
        if ((version & 1) != 0 || ledgerVersion.get() != version) {
            return -1; // the writer has counted more meanwhile
        }
        long settled = 0;
        for (int route = 0; route < left.length; route++) {
            if (left[route] > 0) {
                cursor.dropped(route, DropReason.DAMAGED, left[route]);
                settled += left[route];
            }
        }
        if (settled > 0) {
            LOGGER.warn("{} damaged records of {} are counted as dropped", settled, directory);
        }
        return settled;
    }

    Path directory() {
        return directory;
    }

    /**
     * Deletes the segments that lie below both cursor slots and both checkpoints. For one housekeeping thread.
     *
     * @return number of files deleted.
     * @throws StoreException if a file cannot be deleted.
     */
    public int reclaim() throws StoreException {
        try {
            final int deleted = files.reclaim(cursor.olderDurableSequence(), checkpoint.olderSegment());
            if (deleted > 0) {
                segmentsReclaimed.addAndGet(deleted);
            }
            return deleted;
        } catch (final IOException e) {
            throw new StoreException("cannot delete a segment in " + directory + ": check its permissions", e);
        }
    }

    /**
     * Makes the next segment file in advance, one ahead of the writer, and a spare one for records that must not wait for free
     * space. Takes up to a second. For one housekeeping thread.
     *
     * @return true if one is ready; false if the limits forbid it: the outbox is filling up.
     * @throws IOException if the disk is full or broken; try again later.
     */
    public boolean prepareSegment() throws IOException {
        final boolean isReady = files.prepare(false);
        files.prepareSpare();
        return isReady;
    }

    /**
     * PUBLISH records that became durable, as counted for the ledger; survives restarts. Read the cursor's counters first:
     * pending = accepted - finished is then never negative. Any thread.
     *
     * @param route number.
     * @return count.
     */
    public long accepted(final int route) {
        return state.accepted.getAcquire(route);
    }

    /**
     * Message identities that are remembered to know one that is sent once more. Any thread.
     *
     * @return count; 0 if messages are not compared.
     */
    public long identities() {
        return state.dedup == null ? 0 : state.dedup.size();
    }

    /**
     * Message identities that were forgotten within the window, because there were more than are remembered, since the start.
     * Any thread.
     *
     * @return count.
     */
    public long identitiesForgottenEarly() {
        return state.dedup == null ? 0 : state.dedup.forgottenEarly();
    }

    /**
     * PUBLISHes that were acknowledged and not stored; not in {@link #accepted}, to be added on both sides of the ledger.
     * Survives restarts, but for the last seconds before a kill. Any thread.
     *
     * @param route  number.
     * @param reason {@link DropReason#NEW} or {@link DropReason#DUPLICATE}; 0 for the others, which the cursor counts.
     * @return count.
     */
    public long droppedUnstored(final int route, final DropReason reason) {
        return state.droppedUnstored(route, reason);
    }

    /**
     * Up to which sequence records are to be given up to make room, {@link DropReason#OLDEST}, by a route with drop-oldest. The
     * lane's uplink finishes those that it has not sent in this broker session; once the cursor has passed them their segments
     * are reclaimed. Changes from one call to the next. Any thread.
     *
     * @return sequence; at or below the cursor's if nothing is to be given up.
     */
    public long evictionTarget() {
        return evictionTarget;
    }

    void evictOldest() throws IOException {
        if (files.first() >= evictedBelow) {
            final int first = files.firstKeptForRoom();
            evictionTarget = Math.min(durableSequence, files.firstSequence(first) - 1);
            evictedBelow = first;
        }
    }

    /**
     * Gauges of the lane. Any thread.
     *
     * @return a snapshot; allocates.
     */
    public LaneStat stat() {
        final long finishedSequence = cursor.sequence();
        return new LaneStat(
                files.count(),
                files.bytesOnDisk(),
                durableSequence,
                finishedSequence,
                sessions,
                segmentsCreatedInline.get(),
                segmentsReclaimed.get(),
                deadSegments.get(),
                receivedIdsReused.get(),
                missingAtStart,
                wasTailTorn,
                damage.missingRecords(),
                damage.placeCount(),
                damage.filesDeleted());
    }

    /**
     * Whether PUBLISH records are refused for want of room. Any thread.
     *
     * @return true from the first {@link Outcome#FULL} until there is room again.
     */
    public boolean isFull() {
        return wasRefused && !files.isReady();
    }

    /**
     * Whether the disk refuses what the writer has to write: nothing is acknowledged meanwhile. Any thread.
     *
     * @return true from the time when a method of the writer has thrown until {@link LaneWriter#goOn()} has succeeded.
     */
    public boolean hasFailed() {
        return hasFailed;
    }

    void refused(final boolean isRefused) {
        if (wasRefused != isRefused) {
            wasRefused = isRefused;
        }
    }

    void failed(final boolean isFailed) {
        hasFailed = isFailed;
    }

    void sessions(final int count) {
        sessions = count;
    }

    void countSegmentCreatedInline() {
        segmentsCreatedInline.incrementAndGet();
    }

    void countDeadSegment() {
        deadSegments.incrementAndGet();
    }

    void countReceivedIdReused() {
        receivedIdsReused.incrementAndGet();
    }

    /** Clean end, with all other threads gone: force, checkpoint, cursor, journal. */
    void close() throws StoreException, IOException {
        try {
            writer.close();
        } finally {
            try {
                checkpoint.force();
                checkpoint.close();
                if (state.dedup != null) {
                    state.dedup.close();
                }
            } finally {
                try {
                    cursor.close(true);
                } finally {
                    journal.close();
                }
            }
        }
    }
}
