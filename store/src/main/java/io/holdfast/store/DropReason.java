package io.holdfast.store;

/** Why a record of the outbox was dropped. The codes are written to disk and never change their meaning. */
public enum DropReason {
    /** The broker refused it for good and the policy is to drop. */
    PERMANENT_FAILURE(0),
    /** Evicted to make room for newer ones. */
    OLDEST(1),
    /** Its bytes on disk were damaged. */
    DAMAGED(2),
    /** Beyond what the broker takes (Maximum Packet Size, Maximum QoS, Retain Available). */
    BROKER_LIMIT(3),
    /** Removed by the operator. */
    PURGED(4),
    /** Taken out of the dead letters and appended again; the copy counts as accepted once more. */
    REPLAYED(5),
    /** Acknowledged but not stored, because the outbox was full. The lane's writer counts it, not the cursor. */
    NEW(6),
    /** Acknowledged but not stored, because its producer had sent it before. The lane's writer counts it, not the cursor. */
    DUPLICATE(7);

    /** Counters kept per route on disk; codes stay below it. */
    static final int SLOTS = 8;

    private final int code;

    DropReason(final int code) {
        this.code = code;
    }

    /**
     * The code on disk.
     *
     * @return 0 to 7.
     */
    public int code() {
        return code;
    }
}
