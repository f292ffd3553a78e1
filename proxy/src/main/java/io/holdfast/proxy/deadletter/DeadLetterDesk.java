package io.holdfast.proxy.deadletter;

import io.holdfast.store.DeadLetter;
import io.holdfast.store.DeadLetters;
import io.holdfast.store.RecordDescriptor;
import io.holdfast.store.StoreException;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.UnsafeBuffer;

/** What can be done with the dead letters of a store, whether a proxy runs on it or not. One call at a time. */
public final class DeadLetterDesk {
    /** Brings records back into their lanes. */
    public interface Injector {
        /**
         * Appends them, in order; when this returns they are durable.
         *
         * @return how many, from the first, were appended; fewer than given if the outbox is full
         * @throws StoreException if the log has failed
         */
        int inject(int lane, List<byte[]> records) throws StoreException;
    }

    /** Hears what left the dead letters, for the ledger. */
    public interface Ledger {
        /** {@code count} dead letters of a lane and a route were taken out. */
        void removed(int lane, int route, DeadLetters.Removal removal, long count);
    }

    /**
     * What a replay did.
     *
     * @param replayed appended to their lanes again
     * @param expired  left where they are: their Message Expiry Interval has passed
     * @param isFull   whether it stopped because the outbox is full
     */
    public record Replay(long replayed, long expired, boolean isFull) {}

    private static final int BATCH = 256;

    private final DeadLetters letters;
    private final IntFunction<String> routeTexts;
    private final Injector injector;
    private final Ledger ledger;
    private final EpochClock clock;

    /** @param routeTexts the text of a route by the store's number */
    public DeadLetterDesk(
            DeadLetters letters, IntFunction<String> routeTexts, Injector injector, Ledger ledger, EpochClock clock) {
        this.letters = letters;
        this.routeTexts = routeTexts;
        this.injector = injector;
        this.ledger = ledger;
        this.clock = clock;
    }

    /** How many there are. */
    public long count() {
        return letters.count();
    }

    /** The text of the route of a dead letter. */
    public String routeOf(DeadLetter letter) {
        return routeTexts.apply(letter.view().routeNumber());
    }

    /** Shows the dead letters that are wanted, oldest first. */
    public void show(Predicate<DeadLetter> wanted, long limit, DeadLetters.Visitor visitor) throws StoreException {
        long[] shown = {0};
        letters.forEach(
                0, letter -> shown[0] < limit && (!wanted.test(letter) || (++shown[0] > 0 && visitor.visit(letter))));
    }

    /**
     * Sends dead letters again: each is appended to its lane first and removed then, so that a kill in between leaves both,
     * and never neither.
     *
     * @param evenExpired whether those go too whose Message Expiry Interval has passed; they never expire then
     */
    public synchronized Replay replay(Predicate<DeadLetter> wanted, long limit, boolean evenExpired)
            throws StoreException {
        List<DeadLetter> batch = new ArrayList<>();
        long[] counts = new long[3]; // taken, replayed, expired
        boolean[] isFull = new boolean[1];
        letters.forEach(0, letter -> {
            if (counts[0] >= limit || isFull[0]) {
                return false;
            }
            if (wanted.test(letter)) {
                if (isExpired(letter) && !evenExpired) {
                    counts[2]++;
                } else {
                    counts[0]++;
                    if (!batch.isEmpty() && (batch.get(0).lane() != letter.lane() || batch.size() == BATCH)) {
                        isFull[0] = !replayBatch(batch, counts);
                    }
                    batch.add(letter);
                }
            }
            return true;
        });
        if (!isFull[0] && !batch.isEmpty()) {
            isFull[0] = !replayBatch(batch, counts);
        }
        return new Replay(counts[1], counts[2], isFull[0]);
    }

    /** False if the outbox took not all of them. */
    private boolean replayBatch(List<DeadLetter> batch, long[] counts) throws StoreException {
        List<byte[]> records = new ArrayList<>();
        for (DeadLetter letter : batch) {
            records.add(recordOf(letter));
        }
        int taken = injector.inject(batch.get(0).lane(), records);
        List<DeadLetter> removed = letters.remove(batch.subList(0, taken), DeadLetters.Removal.REPLAYED);
        tellLedger(removed, DeadLetters.Removal.REPLAYED);
        counts[1] += taken;
        boolean all = taken == batch.size();
        batch.clear();
        return all;
    }

    /** Without the packet id: no device waits for it. And to be sent now, if that was why it came here. */
    private byte[] recordOf(DeadLetter letter) {
        byte[] bytes = letter.bytes();
        UnsafeBuffer record = new UnsafeBuffer(bytes);
        record.putShort(RecordDescriptor.PACKET_ID_OFFSET, (short) 0, ByteOrder.BIG_ENDIAN);
        record.putByte(RecordDescriptor.MARKS_OFFSET, (byte) 0);
        if (isExpired(letter)) {
            record.putLong(RecordDescriptor.EXPIRY_TIME_OFFSET, 0, ByteOrder.BIG_ENDIAN);
        }
        return bytes;
    }

    private boolean isExpired(DeadLetter letter) {
        long expiry = letter.view().expiryTimeMs();
        return expiry != 0 && clock.time() >= expiry;
    }

    /** Throws dead letters away. Returns how many. */
    public synchronized long purge(Predicate<DeadLetter> wanted, long limit) throws StoreException {
        List<DeadLetter> batch = new ArrayList<>();
        long[] counts = new long[2]; // taken, purged
        letters.forEach(0, letter -> {
            if (wanted.test(letter)) {
                if (counts[0] >= limit) {
                    return false;
                }
                counts[0]++;
                batch.add(letter);
                if (batch.size() == BATCH) {
                    counts[1] += purgeBatch(batch);
                }
            }
            return true;
        });
        return counts[1] + purgeBatch(batch);
    }

    private long purgeBatch(List<DeadLetter> batch) throws StoreException {
        List<DeadLetter> removed = letters.remove(batch, DeadLetters.Removal.PURGED);
        tellLedger(removed, DeadLetters.Removal.PURGED);
        batch.clear();
        return removed.size();
    }

    private void tellLedger(List<DeadLetter> removed, DeadLetters.Removal removal) {
        for (DeadLetter letter : removed) {
            ledger.removed(letter.lane(), letter.view().routeNumber(), removal, 1);
        }
    }
}
