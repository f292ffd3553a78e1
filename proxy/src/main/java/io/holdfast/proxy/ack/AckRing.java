package io.holdfast.proxy.ack;

import java.util.Arrays;

/**
 * Acknowledgements in the order they are owed. A slot is opened when its packet comes in, settled in any order, and
 * released only when every earlier slot has been: mark, then pop the completed prefix.
 *
 * <p>Grows in powers of two with what is open, so an idle connection costs little. One event loop.
 */
final class AckRing {
    private static final int INITIAL_CAPACITY = 8;
    private static final byte WAITING = 0;
    private static final byte SETTLED = 1;

    private byte[] states = new byte[INITIAL_CAPACITY];
    private byte[] types = new byte[INITIAL_CAPACITY];
    private int[] packetIds = new int[INITIAL_CAPACITY];
    private int[] reasons = new int[INITIAL_CAPACITY];
    private byte[][] frames = new byte[INITIAL_CAPACITY][];
    private long head;
    private long tail;

    /** Opens the next slot and returns its number, which only this ring understands. */
    long open(int type, int packetId) {
        if (tail - head == states.length) {
            grow();
        }
        int index = index(tail);
        states[index] = WAITING;
        types[index] = (byte) type;
        packetIds[index] = packetId;
        reasons[index] = 0;
        frames[index] = null;
        return tail++;
    }

    /** Settles a slot with an answer of ours. */
    void settle(long slot, int reason) {
        int index = checkedIndex(slot);
        reasons[index] = reason;
        states[index] = SETTLED;
    }

    /** Settles a slot with the broker's own answer, whose bytes pass on as they are. */
    void settle(long slot, int reason, byte[] frame) {
        int index = checkedIndex(slot);
        frames[index] = frame;
        reasons[index] = reason;
        states[index] = SETTLED;
    }

    boolean isHeadSettled() {
        return head < tail && states[index(head)] == SETTLED;
    }

    int headType() {
        return types[index(head)];
    }

    int headPacketId() {
        return packetIds[index(head)];
    }

    int headReason() {
        return reasons[index(head)];
    }

    /** The broker's own bytes for the head, or null when the answer is ours to write. */
    byte[] headFrame() {
        return frames[index(head)];
    }

    void popHead() {
        frames[index(head)] = null;
        head++;
    }

    int size() {
        return (int) (tail - head);
    }

    private int index(long slot) {
        return (int) slot & (states.length - 1);
    }

    private int checkedIndex(long slot) {
        if (slot < head || slot >= tail) {
            throw new IllegalStateException("slot " + slot + " is not in [" + head + ", " + tail + ")");
        }
        return index(slot);
    }

    private void grow() {
        int oldCapacity = states.length;
        int capacity = oldCapacity * 2;
        byte[] newStates = new byte[capacity];
        byte[] newTypes = new byte[capacity];
        int[] newIds = new int[capacity];
        int[] newReasons = new int[capacity];
        byte[][] newFrames = Arrays.copyOf(new byte[0][], capacity);
        for (long slot = head; slot < tail; slot++) {
            int from = (int) slot & (oldCapacity - 1);
            int to = (int) slot & (capacity - 1);
            newStates[to] = states[from];
            newTypes[to] = types[from];
            newIds[to] = packetIds[from];
            newReasons[to] = reasons[from];
            newFrames[to] = frames[from];
        }
        states = newStates;
        types = newTypes;
        packetIds = newIds;
        reasons = newReasons;
        frames = newFrames;
    }
}
