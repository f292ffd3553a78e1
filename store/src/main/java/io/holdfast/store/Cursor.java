package io.holdfast.store;

import static java.nio.ByteOrder.BIG_ENDIAN;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLongArray;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * How far the broker has finally acknowledged a lane, with the counters of what became of its records, which are written
 * together and so always fit each other. Moves in memory at once and on disk at {@link #writeIfDirty()}: what lies on disk may
 * lag, never lead.
 *
 * <p>Changed by the lane's uplink thread alone; the getters may be called by any thread.
 *
 * <pre>
 *  0  long  sequence: every record up to it is finished
 *  8  long  send number: every one below it is finished
 * 16  int   number of routes that follow
 * 20  per route, a long each: delivered, expired, dead-lettered, dropped by reason 0 to 7
 * </pre>
 */
public final class Cursor {
    static final String FILE_NAME = "cursor";

    private static final int KIND = 1;
    private static final int SEND_NUMBER_OFFSET = 8;
    private static final int ROUTES_OFFSET = 16;
    private static final int COUNTERS_OFFSET = 20;
    private static final int DELIVERED = 0;
    private static final int EXPIRED = 1;
    private static final int DEAD_LETTERED = 2;
    private static final int DROPPED = 3;
    private static final int COUNTERS_PER_ROUTE = DROPPED + DropReason.SLOTS;
    private static final int CAPACITY = COUNTERS_OFFSET + RouteTable.MAX_ROUTES * COUNTERS_PER_ROUTE * Long.BYTES;

    private final SlotPair slots;
    private final boolean wasFound;
    private final AtomicLongArray counters = new AtomicLongArray(RouteTable.MAX_ROUTES * COUNTERS_PER_ROUTE);
    private int routes;
    private boolean isDirty;

    private volatile long sequence;
    private volatile long nextSendNumber;
    private volatile long durableSequence;
    private volatile long olderDurableSequence;
    private volatile long olderDurableSendNumber;
    private long durableSendNumber;

    private Cursor(final SlotPair slots) throws IOException {
        this.slots = slots;
        final int newest = slots.load();
        this.wasFound = newest >= 0;
        if (wasFound) {
            final int older = 1 - newest;
            if (slots.isIntact(older) && slots.read(older) >= 0) {
                olderDurableSequence = slots.content().getLong(SlotPair.HEADER_LENGTH, BIG_ENDIAN);
                olderDurableSendNumber =
                        slots.content().getLong(SlotPair.HEADER_LENGTH + SEND_NUMBER_OFFSET, BIG_ENDIAN);
            }
            slots.read(newest);
            decode(slots.content());
            durableSequence = sequence;
            durableSendNumber = nextSendNumber;
        }
    }

    static Cursor open(final Path laneDirectory, final byte[] salt, final boolean force) throws IOException {
        return new Cursor(SlotPair.inOneFile(laneDirectory.resolve(FILE_NAME), CAPACITY, KIND, salt, force));
    }

    static Cursor openReadOnly(final Path laneDirectory, final byte[] salt) throws IOException {
        return new Cursor(slotsOf(laneDirectory, salt));
    }

    /** For a look that changes nothing. */
    static SlotPair slotsOf(final Path laneDirectory, final byte[] salt) throws IOException {
        final Path file = laneDirectory.resolve(FILE_NAME);
        return SlotPair.readOnly(file, file, CAPACITY, KIND, salt);
    }

    /** Whether an intact slot was there when it was opened; without one nobody knows what the broker has had. */
    boolean wasFound() {
        return wasFound;
    }

    /**
     * Every record with a sequence up to this one is finished. In memory.
     *
     * @return sequence; 0 if none is finished.
     */
    public long sequence() {
        return sequence;
    }

    /**
     * Every record with a send number below this one is finished. In memory.
     *
     * @return send number.
     */
    public long sendNumber() {
        return nextSendNumber;
    }

    /**
     * The sequence in the newest slot on disk.
     *
     * @return sequence.
     */
    public long durableSequence() {
        return durableSequence;
    }

    /**
     * The sequence in the older slot on disk, 0 if that slot is not intact. What may be reclaimed lies at or below it.
     *
     * @return sequence.
     */
    public long olderDurableSequence() {
        return olderDurableSequence;
    }

    /**
     * The send number in the older slot on disk: journal entries below it may be forgotten.
     *
     * @return send number.
     */
    public long olderDurableSendNumber() {
        return olderDurableSendNumber;
    }

    /**
     * Moves forward.
     *
     * @param sequence       every record up to it is finished.
     * @param nextSendNumber every send number below it is finished.
     */
    public void advance(final long sequence, final long nextSendNumber) {
        if (sequence < this.sequence || nextSendNumber < this.nextSendNumber) {
            throw new IllegalArgumentException("the cursor does not go back: from " + this.sequence + "/"
                    + this.nextSendNumber + " to " + sequence + "/" + nextSendNumber);
        }
        this.nextSendNumber = nextSendNumber;
        this.sequence = sequence;
        isDirty = true;
    }

    /**
     * Counts records that the broker acknowledged. A record is counted when the cursor passes it, not before: what is counted
     * and what will be read again after a crash must not overlap. The same holds for the other counters.
     *
     * @param route number.
     * @param count of records.
     */
    public void delivered(final int route, final long count) {
        add(route, DELIVERED, count);
    }

    /**
     * Counts records that expired before they were sent.
     *
     * @param route number.
     * @param count of records.
     */
    public void expired(final int route, final long count) {
        add(route, EXPIRED, count);
    }

    /**
     * Counts records that went to the dead letters.
     *
     * @param route number.
     * @param count of records.
     */
    public void deadLettered(final int route, final long count) {
        add(route, DEAD_LETTERED, count);
    }

    /**
     * Counts records that were dropped.
     *
     * @param route  number.
     * @param reason why.
     * @param count  of records.
     */
    public void dropped(final int route, final DropReason reason, final long count) {
        add(route, DROPPED + reason.code(), count);
    }

    /**
     * Moves dead letters that were taken out to the dropped ones, so that the ledger adds up.
     *
     * @param route  number.
     * @param reason {@link DropReason#REPLAYED} or {@link DropReason#PURGED}.
     * @param count  of records; not more than were counted as dead-lettered.
     */
    public void deadLetterRemoved(final int route, final DropReason reason, final long count) {
        final long moved = Math.min(count, deadLettered(route));
        add(route, DEAD_LETTERED, -moved);
        add(route, DROPPED + reason.code(), moved);
    }

    public long delivered(final int route) {
        return get(route, DELIVERED);
    }

    public long expired(final int route) {
        return get(route, EXPIRED);
    }

    public long deadLettered(final int route) {
        return get(route, DEAD_LETTERED);
    }

    public long dropped(final int route, final DropReason reason) {
        return get(route, DROPPED + reason.code());
    }

    /**
     * Everything of a route that is not pending any more.
     *
     * @param route number.
     * @return delivered + expired + dead-lettered + dropped.
     */
    public long finished(final int route) {
        long sum = 0;
        for (int i = 0; i < COUNTERS_PER_ROUTE; i++) {
            sum += get(route, i);
        }
        return sum;
    }

    /**
     * Writes and (with {@link Durability#FSYNC}) forces the older of the two slots if anything has changed. To be called every
     * 100 ms or so and once more when all is quiet: the call after the last change brings the other slot up to date too, which
     * is what lets the last segments go.
     *
     * @return true if a slot was written.
     * @throws StoreException if the disk refused; the slot that holds the last good state is untouched, try again later.
     */
    public boolean writeIfDirty() throws StoreException {
        final boolean isWhole = slots.isIntact(0) && slots.isIntact(1);
        if (!isDirty && isWhole && olderDurableSequence == sequence && durableSequence == sequence) {
            return false;
        }
        write();
        return true;
    }

    /** At a start: what was read may be in the page cache alone, left by a sync that failed. */
    void writeBothSlots() throws StoreException {
        write();
        write();
    }

    private void write() throws StoreException {
        slots.ensureCapacity(CAPACITY);
        final UnsafeBuffer content = slots.content();
        final int start = SlotPair.HEADER_LENGTH;
        content.putLong(start, sequence, BIG_ENDIAN);
        content.putLong(start + SEND_NUMBER_OFFSET, nextSendNumber, BIG_ENDIAN);
        content.putInt(start + ROUTES_OFFSET, routes, BIG_ENDIAN);
        final int count = routes * COUNTERS_PER_ROUTE;
        for (int i = 0; i < count; i++) {
            content.putLong(start + COUNTERS_OFFSET + i * Long.BYTES, counters.getPlain(i), BIG_ENDIAN);
        }
        try {
            slots.write(COUNTERS_OFFSET + count * Long.BYTES);
        } catch (final IOException e) {
            throw new StoreException("cannot write " + slots.file() + ": check the disk", e);
        }
        olderDurableSendNumber = durableSendNumber;
        olderDurableSequence = durableSequence;
        durableSendNumber = nextSendNumber;
        durableSequence = sequence;
        isDirty = false;
    }

    /** Without an intact slot: everything that is still in the log counts as unfinished. */
    void startAt(final long sequence, final long nextSendNumber) {
        this.sequence = sequence;
        this.nextSendNumber = nextSendNumber;
        isDirty = true;
    }

    void close(final boolean force) throws IOException, StoreException {
        try {
            writeIfDirty();
            if (force) {
                slots.force();
            }
        } finally {
            slots.close();
        }
    }

    void abandon() throws IOException {
        slots.close();
    }

    private void decode(final UnsafeBuffer content) {
        final int start = SlotPair.HEADER_LENGTH;
        sequence = content.getLong(start, BIG_ENDIAN);
        nextSendNumber = content.getLong(start + SEND_NUMBER_OFFSET, BIG_ENDIAN);
        routes = content.getInt(start + ROUTES_OFFSET, BIG_ENDIAN);
        final int count = routes * COUNTERS_PER_ROUTE;
        for (int i = 0; i < count; i++) {
            counters.setPlain(i, content.getLong(start + COUNTERS_OFFSET + i * Long.BYTES, BIG_ENDIAN));
        }
    }

    private void add(final int route, final int counter, final long count) {
        final int index = index(route, counter);
        counters.setRelease(index, counters.getPlain(index) + count);
        routes = Math.max(routes, route + 1);
        isDirty = true;
    }

    private long get(final int route, final int counter) {
        return counters.getAcquire(index(route, counter));
    }

    private static int index(final int route, final int counter) {
        if (route < 0 || route >= RouteTable.MAX_ROUTES) {
            throw new IllegalArgumentException("no such route number: " + route);
        }
        return route * COUNTERS_PER_ROUTE + counter;
    }
}
