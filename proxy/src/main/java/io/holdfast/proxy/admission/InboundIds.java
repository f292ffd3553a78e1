package io.holdfast.proxy.admission;

import org.agrona.collections.Int2IntHashMap;

/**
 * Who answers for the QoS 2 packet ids that the device has open: the outbox, the broker over the session link, or this
 * connection itself. Hold and outbox ids share the device's id space. One event loop.
 */
final class InboundIds {
    static final int NONE = 0;
    static final int OUTBOX = 1;
    static final int HOLD = 2;
    static final int HERE = 3;
    private static final int OWNER_MASK = 3;
    private static final int COUNTED = 4;

    private Int2IntHashMap owners;
    private int holdCount;

    /** The owner of an id, or {@link #NONE}. */
    int ownerOf(int packetId) {
        return owners == null ? NONE : owners.get(packetId) & OWNER_MASK;
    }

    /**
     * Gives an id an owner.
     *
     * @param counted whether its PUBLISH came on this connection and so counts against the Receive Maximum
     */
    void put(int packetId, int owner, boolean counted) {
        if (owners == null) {
            owners = new Int2IntHashMap(NONE);
        }
        int before = owners.put(packetId, counted ? owner | COUNTED : owner);
        holdCount += (owner == HOLD ? 1 : 0) - ((before & OWNER_MASK) == HOLD ? 1 : 0);
    }

    /** Gives an id that is open another owner. */
    void move(int packetId, int owner) {
        if (ownerOf(packetId) != NONE) {
            put(packetId, owner, (owners.get(packetId) & COUNTED) != 0);
        }
    }

    /** Forgets an id; true if it counted against the Receive Maximum. */
    boolean remove(int packetId) {
        if (owners == null) {
            return false;
        }
        int before = owners.remove(packetId);
        if ((before & OWNER_MASK) == HOLD) {
            holdCount--;
        }
        return (before & COUNTED) != 0;
    }

    /** Whether the broker has QoS 2 state of this device, or may have. */
    boolean anyHold() {
        return holdCount > 0;
    }
}
