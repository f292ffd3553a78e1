package io.holdfast.proxy.admission;

/** What an outbox route does with a QoS 1 or 2 PUBLISH while the outbox is full. */
public enum WhenFull {
    /** No acknowledgement until there is room (the default): backpressure. */
    HOLD,
    /** PUBACK or PUBREC with 0x97 Quota exceeded for MQTT 5; as {@link #HOLD} for 3.x, which cannot be told no. */
    REJECT,
    /** The oldest records of the lane are given up, whatever their route, counted; as {@link #HOLD} until there is room. */
    DROP_OLDEST,
    /** It is acknowledged, counted and not stored. */
    DROP_NEW
}
