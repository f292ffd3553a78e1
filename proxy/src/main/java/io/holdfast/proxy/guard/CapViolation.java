package io.holdfast.proxy.guard;

import io.holdfast.proxy.metrics.Meter;

/** A cap that a PUBLISH is over. The order is on disk. */
public enum CapViolation {
    /** Too many User Properties. */
    USER_PROPERTIES(
            Meter.DROPPED_CAP_USER_PROPERTIES,
            Meter.REJECTED_CAP_USER_PROPERTIES,
            "more User Properties than --max-user-properties"),
    /** Too large a payload. */
    PAYLOAD(Meter.DROPPED_CAP_PAYLOAD, Meter.REJECTED_CAP_PAYLOAD, "a payload over --max-payload"),
    /** Too many bytes of topic and properties. */
    METADATA(Meter.DROPPED_CAP_METADATA, Meter.REJECTED_CAP_METADATA, "topic and properties over --max-metadata");

    private final Meter dropped;
    private final Meter rejected;
    private final String what;

    CapViolation(Meter dropped, Meter rejected, String what) {
        this.dropped = dropped;
        this.rejected = rejected;
        this.what = what;
    }

    /** For {@link io.holdfast.store.RecordEncoder#withheld}: on disk, so the constants keep their places. */
    public int number() {
        return ordinal() + 1;
    }

    /** In words, for {@link io.holdfast.store.RecordView#withheld()}. */
    public static String whatOf(int number) {
        return number > 0 && number <= values().length ? values()[number - 1].what : "over a cap";
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
