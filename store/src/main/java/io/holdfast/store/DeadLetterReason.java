package io.holdfast.store;

/** Why a record went to the dead letters. The codes are written to disk and never change their meaning. */
public enum DeadLetterReason {
    /** The broker refused it for good. */
    REFUSED(1),
    /** The broker refused it for a time, again and again, until attempts and time were used up. */
    ATTEMPTS(2),
    /** The broker hung up on it, again and again, with nothing else in flight. */
    HANG_UP(3),
    /** Its Message Expiry Interval had passed before it was sent. */
    EXPIRED(4),
    /** Beyond what the broker takes (Maximum Packet Size, Maximum QoS, Retain Available). */
    BROKER_LIMIT(5),
    /** Over a cap of the proxy itself, and kept instead of dropped. */
    CAP(6);

    private final int code;

    DeadLetterReason(final int code) {
        this.code = code;
    }

    int code() {
        return code;
    }

    static DeadLetterReason of(final int code) {
        for (final DeadLetterReason reason : values()) {
            if (reason.code == code) {
                return reason;
            }
        }
        return null;
    }
}
