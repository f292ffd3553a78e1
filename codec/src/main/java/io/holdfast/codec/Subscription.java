package io.holdfast.codec;

/**
 * One Topic Filter of a SUBSCRIBE (v5 §3.8.3).
 *
 * @param filter the Topic Filter, with {@code $share/…/} if it has it. Its UTF-8 bytes are those of the packet.
 * @param options the Subscription Options byte; before v5 only the QoS.
 */
public record Subscription(String filter, int options) {
    static final int NO_LOCAL = 0x04;

    /** The QoS asked for, 0 to 2. */
    public int qos() {
        return options & 0x3;
    }
}
