package io.holdfast.store;

/** What became of an entry that was handed to a {@link LaneWriter}. */
public enum Outcome {
    /** Appended; durable once {@link LaneWriter#force()} has returned. */
    STORED,
    /** A QoS 2 packet id that has been received already, with the same content: nothing recorded, answer it again. */
    DUPLICATE,
    /** A message whose producer has sent it before, by its identity: counted, nothing recorded, answer it with success. */
    REPEATED,
    /** A PUBREL for a packet id that is not in the session's set: nothing recorded. */
    UNKNOWN,
    /** No room now; nothing recorded, nothing may be acknowledged. The same entry may be offered again later. */
    FULL,
    /** Larger than {@link LaneWriter#maxRecordLength()}: it will never fit. */
    TOO_LARGE,
    /** The entry's connection has been replaced by a newer one of the same client, or its session has ended: throw it away. */
    STALE
}
