package io.holdfast.proxy.uplink;

import io.holdfast.store.Cursor;
import io.holdfast.store.DropReason;
import io.holdfast.store.Lane;
import io.holdfast.store.LaneReader;
import io.holdfast.store.StoreException;
import io.holdfast.store.UplinkJournal;
import java.util.ArrayDeque;
import org.agrona.collections.LongArrayQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves a lane's cursor over what is finished and counts it then, not before (P4, P7): what is counted and what would be read
 * again after a crash do not overlap. On the uplink's event loop.
 */
final class LaneProgress {
    private static final Logger LOG = LoggerFactory.getLogger(LaneProgress.class);
    private static final int QOS0_BEHIND_LIMIT = 32 * 1024;

    private record Removed(int route, DropReason reason, long count) {}

    private final Lane lane;
    private final Cursor cursor;
    private final UplinkJournal journal;
    private final SendWindow window;
    private final LongArrayQueue qos0Sequences = new LongArrayQueue(Long.MIN_VALUE);
    private final LongArrayQueue qos0Routes = new LongArrayQueue(Long.MIN_VALUE);
    private final ArrayDeque<Removed> removedEarly = new ArrayDeque<>();
    private long readUpTo;
    private long missingSettled;

    LaneProgress(Lane lane, SendWindow window) {
        this.lane = lane;
        this.cursor = lane.cursor();
        this.journal = lane.journal();
        this.window = window;
    }

    /** Reading begins again behind what is finished. Returns the sequence to go on with. */
    long restart() {
        readUpTo = cursor.sequence();
        return readUpTo + 1;
    }

    /** Every record up to it is finished or in the window. */
    void readUpTo(long sequence) {
        readUpTo = Math.max(readUpTo, sequence);
    }

    boolean hasRoomForQos0() {
        return qos0Sequences.size() < QOS0_BEHIND_LIMIT;
    }

    /** A record of QoS 0 was sent; it counts as delivered when the cursor passes it. */
    void qos0Sent(long sequence, int route) {
        qos0Sequences.addLong(sequence);
        qos0Routes.addLong(route);
    }

    /** Passes over what is finished at the head of the window. */
    void advance() {
        while (window.isBaseFinished()) {
            long number = window.base();
            count(window.route(number), window.state(number));
            window.popBase();
        }
        long sequence = window.isEmpty() ? readUpTo : window.sequence(window.base()) - 1;
        if (sequence > cursor.sequence()) {
            cursor.advance(sequence, window.base());
            while (!qos0Sequences.isEmpty() && qos0Sequences.peekLong() <= sequence) {
                qos0Sequences.removeLong();
                cursor.delivered((int) qos0Routes.removeLong(), 1);
            }
        }
    }

    private void count(int route, byte state) {
        switch (state) {
            case SendWindow.DELIVERED -> cursor.delivered(route, 1);
            case SendWindow.EXPIRED -> cursor.expired(route, 1);
            case SendWindow.BEYOND_BROKER_LIMIT -> cursor.dropped(route, DropReason.BROKER_LIMIT, 1);
            case SendWindow.DEAD_LETTERED -> cursor.deadLettered(route, 1);
            case SendWindow.EVICTED -> cursor.dropped(route, DropReason.OLDEST, 1);
            case SendWindow.LOST -> {}
            default -> cursor.dropped(route, DropReason.PERMANENT_FAILURE, 1);
        }
    }

    /** A dead letter may be taken out before the cursor has passed its record; it is counted when that has happened. */
    void deadLettersRemoved(int route, DropReason reason, long count) {
        long now = Math.min(count, cursor.deadLettered(route));
        cursor.deadLetterRemoved(route, reason, now);
        if (now < count) {
            removedEarly.addLast(new Removed(route, reason, count - now));
        }
    }

    private void countRemoved() {
        for (int i = removedEarly.size(); i > 0; i--) {
            Removed removed = removedEarly.pollFirst();
            deadLettersRemoved(removed.route(), removed.reason(), removed.count());
        }
    }

    /** Once everything is through that is still in the log, the ledger takes leave of what is damaged. */
    void settleDamaged(LaneReader reader) {
        if (reader.missingRecords() > missingSettled
                && window.isEmpty()
                && cursor.sequence() >= lane.durableSequence()) {
            long missing = reader.missingRecords();
            long settled = lane.settleDamaged();
            if (settled >= 0) {
                LOG.error("{} damaged records are counted as dropped", settled);
                missingSettled = missing;
            }
        }
    }

    /** Whether a send number can carry marks; if need be, the cursor is written first. */
    boolean journalCovers(long number) throws StoreException {
        if (journal.covers(number)) {
            return true;
        }
        write();
        write(); // both slots
        return journal.covers(number);
    }

    /** Writes the cursor if it has moved; what it leaves behind may be forgotten only then. */
    void write() throws StoreException {
        if (journal.isForceNeeded()) {
            journal.force();
        }
        countRemoved();
        if (cursor.writeIfDirty()) {
            journal.forgetBelow(cursor.olderDurableSendNumber());
        }
    }
}
