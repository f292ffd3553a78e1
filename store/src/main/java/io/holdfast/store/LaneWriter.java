package io.holdfast.store;

import static io.holdfast.store.RecordDescriptor.FIRST_OF_BATCH_MARK;
import static io.holdfast.store.RecordDescriptor.KIND_OFFSET;
import static io.holdfast.store.RecordDescriptor.KIND_PUBLISH;
import static io.holdfast.store.RecordDescriptor.KIND_RELEASE;
import static io.holdfast.store.RecordDescriptor.KIND_SESSION_RESET;
import static io.holdfast.store.RecordDescriptor.NO_SEND_NUMBER;
import static java.nio.ByteOrder.BIG_ENDIAN;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.agrona.DirectBuffer;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Decides what is appended to a lane: numbers the records, keeps the sets of received QoS 2 Packet Identifiers, refuses when
 * there is no room. Records are appended at once and durable after the next {@link #force()}; until then a copy is kept, so
 * that they can be appended again should the disk refuse to sync their segment.
 *
 * <p>For the lane's one writer thread, which must not be interrupted (the JDK closes a file channel under an interrupted
 * thread). After a {@link StoreException} nothing may be acknowledged and every call throws, until {@link #goOn()} has written
 * the unforced records elsewhere. The call that threw has recorded nothing; {@link #force()} has lost nothing.
 */
public final class LaneWriter {
    /** Kept free at the end of each segment for records that let the outbox drain. */
    private static final int URGENT_HEADROOM = 64 << 10;

    private static final int BATCH_INITIAL = 256 << 10;
    private static final int LENGTH_PREFIX = Integer.BYTES;
    private static final int CHECKPOINTS_PER_ROLL = 2;
    private static final long RETRY_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long DROPS_WRITTEN_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long SWEEP_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int NO_SEGMENT = -1;

    // for the life of the writer
    private final Lane lane;
    private final SegmentFiles files;
    private final LaneLog log;
    private final Checkpoint checkpoint;
    private final LaneState state;
    private final byte[] salt;
    private final boolean isSynced;
    private final int maxRecordLength;
    private final int maxBatchLength;
    private final long defaultExpiryMs;
    private final EpochClock epochClock;
    private final NanoClock nanoClock;
    private final ErrorHandler errorHandler;
    private final Crc32cChecksum checksum = new Crc32cChecksum();
    private final RecordView view = new RecordView();
    private final RecordEncoder encoder = new RecordEncoder();
    private final UnsafeBuffer control =
            new UnsafeBuffer(ByteBuffer.allocateDirect(RecordDescriptor.HEADER_LENGTH + 0xFFFF));

    // since the last force: each record with its length in front
    private final UnsafeBuffer batch = new UnsafeBuffer(ByteBuffer.allocateDirect(BATCH_INITIAL));
    private int batchLength;

    // for the current segment
    private boolean isSegmentFromReserve;
    private int checkpointsDue = 1;

    private long retryAtNs;
    private boolean isRetryTimed;
    private long sweptAtNs;
    private long checkpointAtNs;
    private boolean isDropUnwritten;

    // while the disk refuses
    private StoreException failure;
    private long goOnAtNs;

    LaneWriter(
            final Lane lane,
            final SegmentFiles files,
            final LaneLog log,
            final Checkpoint checkpoint,
            final LaneState state,
            final byte[] salt,
            final StoreContext context) {
        this.lane = lane;
        this.files = files;
        this.log = log;
        this.checkpoint = checkpoint;
        this.state = state;
        this.salt = salt.clone();
        this.isSynced = context.durability() == Durability.FSYNC;
        this.maxRecordLength = context.segmentBytes() / 4;
        this.maxBatchLength = maxRecordLength + 2 * LENGTH_PREFIX;
        this.defaultExpiryMs = context.maxSessionExpiryMs();
        this.epochClock = context.epochClock();
        this.nanoClock = context.nanoClock();
        this.errorHandler = context.errorHandler();
        this.sweptAtNs = nanoClock.nanoTime();
        this.checkpointAtNs = sweptAtNs;
    }

    /**
     * The longest record that fits: a quarter of a segment.
     *
     * @return bytes.
     */
    public int maxRecordLength() {
        return maxRecordLength;
    }

    /**
     * A client has connected. The received Packet Identifiers belong to its session: they are kept if the CONNACK will say
     * Session Present 1, else the set is emptied by a record, which has to be durable ({@link #force()}) before that CONNACK
     * goes out [MQTT-3.2.2-2].
     *
     * @param clientId       the Client Identifier.
     * @param epoch          of the connection; entries of any other are {@link Outcome#STALE} from now on.
     * @param sessionPresent what the CONNACK will say.
     * @return the handle for the connection's entries, or null if there is no room for the record: refuse the connection.
     * @throws StoreException if the log has failed.
     */
    public ClientSession openSession(final String clientId, final long epoch, final boolean sessionPresent)
            throws StoreException {
        checkUsable();
        final ClientSession known = state.sessions.find(clientId);
        if (!sessionPresent && known != null && known.receivedCount() > 0) {
            if (!recordEnd(known)) {
                return null;
            }
            known.clear();
        }
        return state.sessions.connect(clientId, epoch, defaultExpiryMs);
    }

    /**
     * The Packet Identifiers that the session has received and not released.
     *
     * @param session handle.
     * @return a copy, in no order.
     */
    public int[] receivedIds(final ClientSession session) {
        return session.receivedIds();
    }

    /**
     * The client has disconnected.
     *
     * @param session  handle.
     * @param epoch    of the connection; nothing happens if it has been replaced by a newer one.
     * @param expiryMs Session Expiry Interval in milliseconds: 0 ends the session now, {@link Long#MAX_VALUE} never.
     * @throws StoreException if the log has failed.
     */
    public void closeSession(final ClientSession session, final long epoch, final long expiryMs) throws StoreException {
        checkUsable();
        if (session.isOf(epoch)) {
            if (expiryMs == 0 && session.receivedCount() > 0 && recordEnd(session)) {
                session.clear();
            }
            state.sessions.disconnect(session, expiryMs, nanoClock.nanoTime());
        }
    }

    /** The ids must not come back with a restart: an old id would swallow a new message of the next session. */
    private boolean recordEnd(final ClientSession session) throws StoreException {
        return appendControl(KIND_SESSION_RESET, session, 0, epochClock.time());
    }

    /**
     * Appends a PUBLISH record. Sequence, send number and checksum are filled in here; the caller's bytes are not changed.
     *
     * @param record  that holds it, as {@link RecordEncoder} made it.
     * @param offset  of its first byte.
     * @param length  in bytes.
     * @param session handle of the connection's session.
     * @param epoch   of the connection.
     * @return STORED, DUPLICATE, REPEATED, FULL, TOO_LARGE or STALE.
     * @throws StoreException if the log has failed.
     */
    public Outcome publish(
            final DirectBuffer record,
            final int offset,
            final int length,
            final ClientSession session,
            final long epoch)
            throws StoreException {
        checkUsable();
        if (!session.isOf(epoch)) {
            return Outcome.STALE;
        }
        if (length > maxRecordLength) {
            return Outcome.TOO_LARGE;
        }
        view.wrap(record, offset, length);
        if (view.kind() != KIND_PUBLISH || view.routeNumber() >= RouteTable.MAX_ROUTES) {
            throw new IllegalArgumentException(
                    "not a PUBLISH record: kind " + view.kind() + ", route " + view.routeNumber());
        }
        final int qos = view.qos();
        final int packetId = view.packetId();
        final int contentChecksum = view.contentChecksum();
        boolean isReused = false;
        if (isReceived(record, offset, length, session)) {
            return Outcome.DUPLICATE;
        }
        if (qos == 2 && session.checksumOf(packetId) != ClientSession.NOT_RECEIVED) {
            isReused = true;
            lane.countReceivedIdReused();
        }
        if (state.dedup != null && !isReused && state.dedup.isRepeated(view)) {
            LaneState.count(state.droppedDuplicate, view.routeNumber());
            isDropUnwritten = true;
            return Outcome.REPEATED;
        }
        final boolean hasRoom = makeRoom(length, false);
        lane.refused(!hasRoom);
        if (!hasRoom) {
            return Outcome.FULL;
        }
        append(record, offset, length, qos > 0 ? state.nextSendNumber : NO_SEND_NUMBER);
        if (qos > 0) {
            state.nextSendNumber++;
        }
        if (qos == 2) {
            session.receive(packetId, contentChecksum);
        }
        if (state.dedup != null) {
            state.dedup.stored(view);
        }
        return Outcome.STORED;
    }

    /**
     * Whether a PUBLISH is a copy of one that was stored, under the same Packet Identifier, and not released: it needs no room.
     *
     * @param record  that holds it, as for {@link #publish}.
     * @param offset  of its first byte.
     * @param length  in bytes.
     * @param session handle of the connection's session.
     * @return true if {@link #publish} would say DUPLICATE.
     */
    public boolean isReceived(
            final DirectBuffer record, final int offset, final int length, final ClientSession session) {
        view.wrap(record, offset, length);
        return view.qos() == 2 && session.checksumOf(view.packetId()) == Integer.toUnsignedLong(view.contentChecksum());
    }

    /**
     * Appends a PUBLISH record that no device is waiting for, as {@link #publish} does: one that comes back from the dead
     * letters. Its Packet Identifier has to be 0, so that it belongs to no session's set of received ones.
     *
     * @param record that holds it.
     * @param offset of its first byte.
     * @param length in bytes.
     * @return STORED, FULL or TOO_LARGE.
     * @throws StoreException if the log has failed.
     */
    public Outcome inject(final DirectBuffer record, final int offset, final int length) throws StoreException {
        checkUsable();
        if (length > maxRecordLength) {
            return Outcome.TOO_LARGE;
        }
        view.wrap(record, offset, length);
        if (view.kind() != KIND_PUBLISH || view.packetId() != 0 || view.routeNumber() >= RouteTable.MAX_ROUTES) {
            throw new IllegalArgumentException("not a PUBLISH record without a Packet Identifier");
        }
        if (!makeRoom(length, false)) {
            return Outcome.FULL;
        }
        final boolean isNumbered = view.qos() > 0;
        append(record, offset, length, isNumbered ? state.nextSendNumber : NO_SEND_NUMBER);
        if (isNumbered) {
            state.nextSendNumber++;
        }
        return Outcome.STORED;
    }

    /**
     * Counts a PUBLISH that is acknowledged although there was no room for it. Nothing of it is stored; the counter is on disk
     * within seconds, and what a kill takes of it is in neither side of the ledger.
     *
     * @param record that holds it, as for {@link #publish}.
     * @param offset of its first byte.
     * @param length in bytes.
     */
    public void dropNew(final DirectBuffer record, final int offset, final int length) {
        view.wrap(record, offset, length);
        LaneState.count(state.droppedNew, view.routeNumber());
        isDropUnwritten = true;
    }

    /**
     * Asks the uplink to give up the oldest records, so that there is room for new ones: whole segments at the head of the log,
     * {@link Lane#evictionTarget()}. Does nothing while an earlier request is under way.
     */
    public void evictOldest() {
        try {
            lane.evictOldest();
        } catch (final IOException e) {
            errorHandler.onError(new StoreException("cannot look for the oldest records in " + lane.directory(), e));
        }
    }

    /**
     * Records that a PUBREL has come: its Packet Identifier may be used for a new message afterwards. PUBCOMP waits for
     * {@link #force()}.
     *
     * @param session       handle of the connection's session.
     * @param packetId      of the PUBREL.
     * @param receiveTimeMs epoch milliseconds.
     * @param epoch         of the connection.
     * @return STORED, UNKNOWN (not in the set), FULL or STALE.
     * @throws StoreException if the log has failed.
     */
    public Outcome release(final ClientSession session, final int packetId, final long receiveTimeMs, final long epoch)
            throws StoreException {
        checkUsable();
        if (!session.isOf(epoch)) {
            return Outcome.STALE;
        }
        if (session.checksumOf(packetId) == ClientSession.NOT_RECEIVED) {
            return Outcome.UNKNOWN;
        }
        if (!appendControl(KIND_RELEASE, session, packetId, receiveTimeMs)) {
            return Outcome.FULL;
        }
        session.release(packetId);
        return Outcome.STORED;
    }

    /**
     * Makes everything appended so far durable, with one sync; {@link Lane#durableSequence()} has moved when it returns. If
     * the disk refuses, the segment is given up and its unforced records go to a fresh one (an fsync that failed must not be
     * tried again).
     *
     * @throws StoreException if that failed too; they are kept for {@link #goOn()}.
     */
    public void force() throws StoreException {
        checkUsable();
        if (batchLength == 0) {
            return;
        }
        try {
            log.force();
        } catch (final IOException e) {
            errorHandler.onError(e);
            lane.countDeadSegment();
            replaceDeadSegment();
        }
        batchIsDurable();
    }

    private void batchIsDurable() {
        lane.counting();
        countBatch();
        batchLength = 0;
        lane.durable(log.position(), state.nextSequence - 1);
    }

    /**
     * Goes on after a {@link StoreException}: the unforced records go to a fresh segment and are durable then. Tries at most
     * once a second.
     *
     * @return true if everything appended is durable and more can be appended; false if the disk still refuses.
     */
    public boolean goOn() {
        final long nowNs = nanoClock.nanoTime();
        if (failure != null && nowNs - goOnAtNs >= 0) {
            try {
                if (batchLength > 0) {
                    replaceDeadSegment();
                    batchIsDurable();
                }
                failure = null;
                lane.failed(false);
            } catch (final StoreException e) {
                goOnAtNs = nowNs + RETRY_NS;
            }
        }
        return failure == null;
    }

    /**
     * Whether anything has been appended since the last {@link #force()}.
     *
     * @return true if so.
     */
    public boolean isForceNeeded() {
        return batchLength > 0;
    }

    /**
     * Bytes appended since the last {@link #force()}.
     *
     * @return bytes; a call that would take it beyond a quarter of a segment forces by itself.
     */
    public int batchBytes() {
        return batchLength;
    }

    /**
     * What can be done between batches: a checkpoint after a roll, and forgetting sessions that have expired. To be called on
     * each duty cycle, after what {@link #force()} made durable has been acknowledged.
     *
     * @return amount of work done; it may have appended records that {@link #force()} has to make durable in time.
     * @throws StoreException if the log has failed.
     */
    public int maintain() throws StoreException {
        int work = 0;
        final long nowNs = nanoClock.nanoTime();
        if (isDropUnwritten && checkpointsDue == 0 && nowNs - checkpointAtNs >= DROPS_WRITTEN_NS) {
            checkpointsDue = 1;
        }
        if (checkpointsDue > 0 && batchLength == 0 && failure == null && isTime(nowNs)) {
            if (writeCheckpoint()) {
                checkpointsDue--;
                checkpointAtNs = nowNs;
                work++;
            } else {
                retryLater(nowNs);
            }
        }
        if (nowNs - sweptAtNs >= SWEEP_NS) {
            sweptAtNs = nowNs;
            if (failure == null) {
                work += state.sessions.expire(nowNs, this::recordEnd);
            }
            lane.sessions(state.sessions.size());
        }
        return work;
    }

    /** The sequence that the next record gets. */
    long nextSequence() {
        return state.nextSequence;
    }

    boolean writeCheckpoint() {
        final int segment =
                log.isOpen() ? Position.segment(log.position()) : Position.segment(lane.durablePosition()) + 1;
        try {
            if (state.dedup != null) {
                state.dedup.write();
            }
            try {
                checkpoint.write(segment, state);
            } catch (final IOException e) {
                if (!files.giveUpSpare()) {
                    throw e;
                }
                checkpoint.write(segment, state); // it has to grow: without it nothing can be reclaimed
            }
            isDropUnwritten = false;
            return true;
        } catch (final IOException e) {
            errorHandler.onError(new StoreException("cannot write " + checkpoint.file() + ": check the disk", e));
            return false;
        }
    }

    void close() throws StoreException, IOException {
        try {
            goOnAtNs = nanoClock.nanoTime();
            goOn();
            force();
            writeCheckpoint();
        } finally {
            log.close();
        }
    }

    private void checkUsable() throws StoreException {
        if (failure != null) {
            throw new StoreException(failure.getMessage(), failure);
        }
    }

    private boolean appendControl(
            final int kind, final ClientSession session, final int packetId, final long receiveTimeMs)
            throws StoreException {
        final int length = encoder.control(control, 0, kind)
                .times(receiveTimeMs, 0)
                .packetId(packetId)
                .clientId(session.clientIdBytes())
                .finish();
        if (!makeRoom(length, true)) {
            return false;
        }
        append(control, 0, length, NO_SEND_NUMBER);
        return true;
    }

    /** Has the batch and the current segment take a record of that length, going on to the next segment if need be. */
    private boolean makeRoom(final int length, final boolean isUrgent) throws StoreException {
        if (batchLength + LENGTH_PREFIX + length > maxBatchLength) {
            force();
        }
        final int room = log.isOpen() ? log.remaining() - (isUrgent ? 0 : URGENT_HEADROOM) : -1;
        if (length > room) {
            return roll(isUrgent);
        }
        if (isSegmentFromReserve && !isUrgent) {
            isSegmentFromReserve = !files.isWithinLimits();
            return !isSegmentFromReserve;
        }
        return true;
    }

    private boolean roll(final boolean isUrgent) throws StoreException {
        if (!isNextSegmentReady(isUrgent)) {
            return false;
        }
        force();
        final int segment = files.takeReady(state.nextSequence);
        try {
            isSegmentFromReserve = !files.isWithinLimits();
            log.roll(segment);
            checkpointsDue = CHECKPOINTS_PER_ROLL;
            return true;
        } catch (final IOException | RuntimeException | InternalError | AssertionError e) {
            throw failed(segment, "cannot go on to the next segment in " + lane.directory(), e);
        }
    }

    /** Normally housekeeping has made it; a writer that is faster makes it itself. */
    private boolean isNextSegmentReady(final boolean isUrgent) {
        if (files.isReady()) {
            return isUrgent || files.isWithinLimits();
        }
        final long nowNs = nanoClock.nanoTime();
        if (!isTime(nowNs) && !(isUrgent && files.isSpareReady())) {
            return false;
        }
        try {
            final boolean isReady = (log.isWarm() || files.hasRoomForLog()) && files.prepare(isUrgent);
            if (isReady) {
                lane.countSegmentCreatedInline();
            }
            return isReady;
        } catch (final IOException e) {
            errorHandler.onError(
                    new StoreException("cannot make a segment in " + lane.directory() + ": free some space", e));
            retryLater(nowNs);
            return false;
        }
    }

    private void append(final DirectBuffer record, final int offset, final int length, final long sendNumber)
            throws StoreException {
        ensureBatchCapacity(batchLength + LENGTH_PREFIX + length);
        final int start = batchLength + LENGTH_PREFIX;
        batch.putInt(batchLength, length);
        batch.putBytes(start, record, offset, length);
        final int kept = record.getByte(offset + RecordDescriptor.MARKS_OFFSET) & RecordDescriptor.WITHHELD_MASK;
        final int first = isSynced && batchLength == 0 ? FIRST_OF_BATCH_MARK : 0;
        batch.putByte(start + RecordDescriptor.MARKS_OFFSET, (byte) (kept | first));
        batch.putLong(start + RecordDescriptor.SEQUENCE_OFFSET, state.nextSequence, BIG_ENDIAN);
        batch.putLong(start + RecordDescriptor.SEND_NUMBER_OFFSET, sendNumber, BIG_ENDIAN);
        batch.putInt(start + RecordDescriptor.CRC_OFFSET, checksum.ofRecord(salt, batch, start, length), BIG_ENDIAN);
        try {
            log.append(batch, start, length);
        } catch (final IOException | RuntimeException | InternalError | AssertionError e) {
            throw failed(NO_SEGMENT, "cannot append to the log in " + lane.directory(), e);
        }
        batchLength = start + length;
        state.nextSequence++;
    }

    private void replaceDeadSegment() throws StoreException {
        int segment = NO_SEGMENT;
        try {
            if ((!log.isWarm() && !files.hasRoomForLog()) || (!files.isReady() && !files.prepare(true))) {
                throw new IOException("no segment to go on with");
            }
            final long firstSequence = batch.getLong(LENGTH_PREFIX + RecordDescriptor.SEQUENCE_OFFSET, BIG_ENDIAN);
            segment = files.takeReady(firstSequence);
            log.roll(segment);
            isSegmentFromReserve = !files.isWithinLimits();
            checkpointsDue = CHECKPOINTS_PER_ROLL;
            for (int at = 0; at < batchLength; at += LENGTH_PREFIX + batch.getInt(at)) {
                log.append(batch, at + LENGTH_PREFIX, batch.getInt(at));
            }
            log.force();
        } catch (final IOException | RuntimeException | InternalError | AssertionError e) {
            throw failed(segment, "the disk refuses to sync in " + lane.directory() + ": check the disk", e);
        }
    }

    private void countBatch() {
        for (int at = 0; at < batchLength; at += LENGTH_PREFIX + batch.getInt(at)) {
            final int start = at + LENGTH_PREFIX;
            if (batch.getByte(start + KIND_OFFSET) == KIND_PUBLISH) {
                state.count(batch.getShort(start + RecordDescriptor.ROUTE_NUMBER_OFFSET, BIG_ENDIAN) & 0xFFFF);
            }
        }
    }

    /** The log is not trusted any more: {@link #goOn()} opens it anew. */
    private StoreException failed(final int emptySegment, final String message, final Throwable cause) {
        failure = new StoreException(message + "; nothing is acknowledged until it can be written again", cause);
        goOnAtNs = nanoClock.nanoTime() + RETRY_NS;
        lane.failed(true);
        try {
            log.close();
        } catch (final IOException | RuntimeException | InternalError | AssertionError e) {
            errorHandler.onError(e);
        }
        if (emptySegment != NO_SEGMENT) {
            try {
                files.delete(emptySegment); // nothing in it is durable: else each attempt would leave one behind
            } catch (final IOException e) {
                errorHandler.onError(e);
            }
        }
        return failure;
    }

    private void ensureBatchCapacity(final int length) {
        if (length > batch.capacity()) {
            final ByteBuffer larger =
                    ByteBuffer.allocateDirect(Math.min(maxBatchLength, Math.max(length, batch.capacity() * 2)));
            batch.getBytes(0, larger, 0, batchLength);
            batch.wrap(larger.clear());
        }
    }

    private boolean isTime(final long nowNs) {
        return !isRetryTimed || nowNs - retryAtNs >= 0;
    }

    private void retryLater(final long nowNs) {
        isRetryTimed = true;
        retryAtNs = nowNs + RETRY_NS;
    }
}
