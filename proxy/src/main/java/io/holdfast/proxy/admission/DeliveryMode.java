package io.holdfast.proxy.admission;

/** How a route settles its messages. */
public enum DeliveryMode {
    /** Goes on over the session link; the device's acknowledgement waits for the broker's own. No disk. */
    HOLD,
    /** Appended to the durable outbox; acknowledged when durable; delivered by the uplink. */
    OUTBOX
}
