package io.holdfast.proxy.guard;

import io.holdfast.proxy.metrics.Meter;

/** A cap that a PUBLISH is over. */
public enum CapViolation {
    /** Too many User Properties. */
    USER_PROPERTIES(
            1,
            Meter.DROPPED_CAP_USER_PROPERTIES,
            Meter.REJECTED_CAP_USER_PROPERTIES,
            "more User Properties than --max-user-properties"),
    /** Too large a payload. */
    PAYLOAD(2, Meter.DROPPED_CAP_PAYLOAD, Meter.REJECTED_CAP_PAYLOAD, "a payload over --max-payload"),
    /** Too many bytes of topic and properties. */
    METADATA(3, Meter.DROPPED_CAP_METADATA, Meter.REJECTED_CAP_METADATA, "topic and properties over --max-metadata");

    private final int number;
    private final Meter dropped;
    private final Meter rejected;
    private final String what;

    CapViolation(int number, Meter dropped, Meter rejected, String what) {
        this.number = number;
        this.dropped = dropped;
        this.rejected = rejected;
        this.what = what;
    }

    /** For {@link io.holdfast.store.RecordEncoder#withheld}; it is on disk and never changes. */
    public int number() {
        return number;
    }

    /** In words, for {@link io.holdfast.store.RecordView#withheld()}. */
    public static String whatOf(int number) {
        for (CapViolation violation : values()) {
            if (violation.number == number) {
                return violation.what;
            }
        }
        return "over a cap";
    }

    /** Counts what was acknowledged with success, and dropped. */
    public Meter dropped() {
        return dropped;
    }

    /** Counts what was refused. */
    public Meter rejected() {
        return rejected;
    }

    /** What the PUBLISH has, in words, with the flag that sets the limit. */
    public String what() {
        return what;
    }
}
