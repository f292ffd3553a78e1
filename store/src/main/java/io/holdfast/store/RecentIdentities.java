package io.holdfast.store;

import java.nio.ByteBuffer;
import org.agrona.BitUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The identities of the messages that were stored last, off the heap and of fixed size: a ring in the order in which they came,
 * and a hash table of places in it. Each has a number, counted from where it began. For the lane's writer thread; allocates
 * nothing per message.
 */
final class RecentIdentities {
    private static final int ENTRY_LENGTH = 3 * Long.BYTES;
    private static final int LOW_OFFSET = Long.BYTES;
    private static final int TIME_OFFSET = 2 * Long.BYTES;
    private static final int FORGET_AT_ONCE = 64;
    private static final int FREE = 0;

    private final int capacity;
    private final int mask;
    private final UnsafeBuffer ring;

    /** Of each cell: a place in the ring plus 1, or {@link #FREE}. Linear probing, at most half full. */
    private final UnsafeBuffer table;

    private long first;
    private long next;

    RecentIdentities(final int capacity) {
        this.capacity = capacity;
        final int cells = BitUtil.findNextPositivePowerOfTwo(2 * capacity);
        this.mask = cells - 1;
        this.ring = new UnsafeBuffer(ByteBuffer.allocateDirect(capacity * ENTRY_LENGTH));
        this.table = new UnsafeBuffer(ByteBuffer.allocateDirect(cells * Integer.BYTES));
    }

    /** The number of the oldest that is there. */
    long first() {
        return first;
    }

    /** The number that the next one gets. */
    long next() {
        return next;
    }

    int size() {
        return (int) (next - first);
    }

    long high(final long number) {
        return ring.getLong(place(number) * ENTRY_LENGTH);
    }

    long low(final long number) {
        return ring.getLong(place(number) * ENTRY_LENGTH + LOW_OFFSET);
    }

    long timeMs(final long number) {
        return ring.getLong(place(number) * ENTRY_LENGTH + TIME_OFFSET);
    }

    /** Whether an identity came at that time or later. */
    boolean contains(final long high, final long low, final long sinceMs) {
        final int cell = cellOf(high, low);
        final int place = table.getInt(cell * Integer.BYTES) - 1;
        return place >= 0 && ring.getLong(place * ENTRY_LENGTH + TIME_OFFSET) >= sinceMs;
    }

    /**
     * Adds one, or gives one that is there the new time.
     *
     * @return false if the oldest was forgotten for it.
     */
    boolean add(final long high, final long low, final long timeMs) {
        final boolean isRoom = size() < capacity;
        if (!isRoom) {
            forgetFirst();
        }
        final int place = place(next);
        ring.putLong(place * ENTRY_LENGTH, high);
        ring.putLong(place * ENTRY_LENGTH + LOW_OFFSET, low);
        ring.putLong(place * ENTRY_LENGTH + TIME_OFFSET, timeMs);
        table.putInt(cellOf(high, low) * Integer.BYTES, place + 1);
        next++;
        return isRoom;
    }

    /** Forgets some of those that are older. */
    void forgetBefore(final long sinceMs) {
        for (int i = 0; i < FORGET_AT_ONCE && first < next && timeMs(first) < sinceMs; i++) {
            forgetFirst();
        }
    }

    private void forgetFirst() {
        final int cell = cellOf(high(first), low(first));
        if (table.getInt(cell * Integer.BYTES) == place(first) + 1) { // else it came again later
            free(cell);
        }
        first++;
    }

    /** Moves up those that were pushed on by the one that goes, so that no probe ends early. */
    private void free(final int cell) {
        int gap = cell;
        for (int at = (gap + 1) & mask; ; at = (at + 1) & mask) {
            final int value = table.getInt(at * Integer.BYTES);
            if (value == FREE) {
                break;
            }
            final int home = home(ring.getLong((value - 1) * ENTRY_LENGTH));
            if (((at - home) & mask) >= ((at - gap) & mask)) {
                table.putInt(gap * Integer.BYTES, value);
                gap = at;
            }
        }
        table.putInt(gap * Integer.BYTES, FREE);
    }

    /** The cell that has an identity, or the free one where it would be. */
    private int cellOf(final long high, final long low) {
        int cell = home(high);
        while (true) {
            final int place = table.getInt(cell * Integer.BYTES) - 1;
            if (place < 0
                    || (ring.getLong(place * ENTRY_LENGTH) == high
                            && ring.getLong(place * ENTRY_LENGTH + LOW_OFFSET) == low)) {
                return cell;
            }
            cell = (cell + 1) & mask;
        }
    }

    private int home(final long high) {
        return (int) high & mask;
    }

    private int place(final long number) {
        return (int) (number % capacity);
    }
}
