package io.holdfast.proxy.uplink;

import io.holdfast.proxy.metrics.Counters;
import io.holdfast.proxy.metrics.Meter;
import io.holdfast.store.DeadLetterReason;
import io.holdfast.store.DeadLetters;
import io.holdfast.store.Lane;
import io.holdfast.store.LaneReader;
import io.holdfast.store.RecordView;
import io.holdfast.store.StoreException;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The records of a lane that go to the dead letters. A record is finished only when its dead letter, and then the mark that it
 * is given up, are durable (P4); until that has worked it stays pending and is tried again. On the uplink's event loop.
 */
final class GivingUp {
    /** Hears what is on disk. */
    interface Listener {
        /** The dead letter of {@code number} is durable, and so is its mark. */
        void onDeadLetter(long number, boolean maybeAtBroker) throws StoreException;

        /** The log does not have the record any more: it is damaged. */
        void onLost(long number);
    }

    static final String EXPIRED_TEXT = "its Message Expiry Interval passed before it was sent";
    static final String LIMIT_TEXT = "it is beyond what the broker said it takes";

    private record Waiting(long number, DeadLetterReason reason, int reasonCode, String text, boolean maybeAtBroker) {}

    private static final Logger LOG = LoggerFactory.getLogger(GivingUp.class);
    private static final long RETRY_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int BATCH = 1_000;
    private static final int NEAR = 64;

    private final int laneNumber;
    private final Lane lane;
    private final DeadLetters deadLetters;
    private final SendWindow window;
    private final LaneReader reader;
    private final Listener listener;
    private final Counters counters;
    private final EpochClock wallClock;
    private final NanoClock clock;
    private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
    private final ArrayDeque<Waiting> written = new ArrayDeque<>();
    private long retryAtNs;
    private boolean failed;
    private long lastLogNs;

    /** @param reader for this class alone */
    GivingUp(
            int laneNumber,
            Lane lane,
            DeadLetters deadLetters,
            SendWindow window,
            LaneReader reader,
            Listener listener,
            Counters counters,
            EpochClock wallClock,
            NanoClock clock) {
        this.laneNumber = laneNumber;
        this.lane = lane;
        this.deadLetters = deadLetters;
        this.window = window;
        this.reader = reader;
        this.listener = listener;
        this.counters = counters;
        this.wallClock = wallClock;
        this.clock = clock;
        this.lastLogNs = clock.nanoTime() - RETRY_NS;
    }

    /** {@code number} is open in the window; {@link #write} does the rest. */
    void add(long number, DeadLetterReason reason, int reasonCode, String text, boolean maybeAtBroker) {
        window.state(number, SendWindow.GIVING_UP);
        waiting.addLast(new Waiting(number, reason, reasonCode, text, maybeAtBroker));
        long now = clock.nanoTime();
        if (now - lastLogNs >= RETRY_NS) {
            lastLogNs = now;
            LOG.warn(
                    "Lane {}: record {} goes to the dead letters: {} ('holdfast dlq list' shows all)",
                    laneNumber,
                    window.sequence(number),
                    text);
        }
    }

    /** Writes what waits. Returns how many are through. */
    int write() throws StoreException {
        int lost = 0;
        if (written.isEmpty() && !waiting.isEmpty() && isTime()) {
            lost = writeBatch();
        }
        return lost + conclude();
    }

    private int writeBatch() {
        int lost = 0;
        synchronized (deadLetters) { // another lane's failed sync must not come between
            try {
                Waiting next;
                while (written.size() < BATCH && (next = waiting.peekFirst()) != null) {
                    if (find(next.number())) {
                        append(next);
                        written.addLast(next);
                    } else {
                        listener.onLost(next.number());
                        lost++;
                    }
                    waiting.pollFirst();
                }
                failed = false;
            } catch (StoreException e) {
                complain(e);
            }
            try {
                deadLetters.force();
            } catch (StoreException e) {
                complain(e);
                while (!written.isEmpty()) {
                    waiting.addFirst(written.pollLast());
                }
            }
        }
        return lost;
    }

    /** The dead letters are durable: so have to be the marks, before anything is finished. */
    private int conclude() throws StoreException {
        int count = written.size();
        if (count > 0) {
            for (Waiting one : written) {
                if (lane.journal().covers(one.number())) {
                    lane.journal().givenUp(one.number());
                }
            }
            lane.journal().force();
            Waiting one;
            while ((one = written.pollFirst()) != null) {
                listener.onDeadLetter(one.number(), one.maybeAtBroker());
            }
        }
        return count;
    }

    private boolean isTime() {
        return !failed || clock.nanoTime() - retryAtNs >= 0;
    }

    private boolean find(long number) throws StoreException {
        long sequence = window.sequence(number);
        long ahead = sequence - reader.sequence();
        if (reader.sequence() < 0 || ahead <= 0 || ahead > NEAR) {
            reader.seekTo(window.position(number));
        }
        while (reader.next()) {
            if (reader.sequence() >= sequence) {
                return reader.sequence() == sequence;
            }
        }
        return false;
    }

    private void append(Waiting one) throws StoreException {
        deadLetters.append(
                laneNumber,
                reader.record(),
                one.reason(),
                one.reasonCode(),
                window.attempts(one.number()),
                window.firstAttemptMs(one.number()),
                wallClock.time(),
                one.text());
    }

    /** A record of QoS 0, which has no number: written and durable when this returns true; false: try again later. */
    boolean writeUnnumbered(RecordView record, DeadLetterReason reason, String text) {
        if (!isTime()) {
            return false;
        }
        synchronized (deadLetters) {
            try {
                deadLetters.append(laneNumber, record, reason, 0, 0, 0, wallClock.time(), text);
                deadLetters.force();
                failed = false;
                return true;
            } catch (StoreException e) {
                complain(e);
                return false;
            }
        }
    }

    private void complain(StoreException e) {
        if (!failed) {
            LOG.error("Lane {}: {}; the records stay pending, trying again", laneNumber, e.getMessage());
        }
        failed = true;
        retryAtNs = clock.nanoTime() + RETRY_NS;
        counters.increment(Meter.DEAD_LETTER_FAILED);
    }

    /** Whether something waits to be written again. */
    boolean isWaiting() {
        return !waiting.isEmpty() || !written.isEmpty() || failed;
    }

    void close() throws StoreException {
        reader.close();
    }
}
