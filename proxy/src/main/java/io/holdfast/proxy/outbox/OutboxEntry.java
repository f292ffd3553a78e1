package io.holdfast.proxy.outbox;

import io.holdfast.codec.ReasonCode;
import io.holdfast.proxy.metrics.Meter;
import io.holdfast.store.ClientSession;
import io.netty.buffer.ByteBuf;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One thing that an event loop asks of a lane's writer. Pooled per event loop; the writer owns it from the offer until
 * the watermark has passed its number, and no field is touched by two threads at once.
 */
public final class OutboxEntry {
    /** What is asked. */
    public enum Kind {
        /** Append a PUBLISH record. */
        PUBLISH,
        /** Append a PUBLISH record that no device waits for. */
        INJECT,
        /** Record the PUBREL of a received packet id. */
        RELEASE,
        /** A connection of this client begins; answers the ids that are received and not released. */
        OPEN_SESSION,
        /** The connection of this client ended. */
        CLOSE_SESSION
    }

    /** What becomes of a PUBLISH that there is no room for. */
    public enum IfFull {
        /** It waits for room. */
        WAIT,
        /** It waits, and the lane's oldest records make room. */
        EVICT,
        /** It is handed back. */
        REFUSE,
        /** It is counted and acknowledged. */
        DROP
    }

    /** What became of it. */
    public enum Outcome {
        /** Not decided. */
        NONE(ReasonCode.UNSPECIFIED_ERROR),
        /** Durable. */
        STORED(ReasonCode.SUCCESS),
        /** The packet id is already received with the same content; its original is durable. */
        DUPLICATE(ReasonCode.SUCCESS),
        /** Counted and not stored: there was no room, or its producer had sent it before and that one is durable. */
        DROPPED(ReasonCode.SUCCESS),
        /** RELEASE of an id that is not received. */
        UNKNOWN(ReasonCode.PACKET_IDENTIFIER_NOT_FOUND),
        /** The connection has been replaced. */
        STALE(ReasonCode.UNSPECIFIED_ERROR),
        /** No room. */
        FULL(ReasonCode.QUOTA_EXCEEDED),
        /** Larger than a record can be. */
        TOO_LARGE(ReasonCode.QUOTA_EXCEEDED),
        /** The store could not write it. */
        FAILED(ReasonCode.UNSPECIFIED_ERROR);

        private final int reasonCode;

        Outcome(int reasonCode) {
            this.reasonCode = reasonCode;
        }

        /** What a device is told. */
        public int reasonCode() {
            return reasonCode;
        }

        /** The counter of a refusal. */
        public Meter rejectedMeter() {
            return switch (this) {
                case FULL -> Meter.REJECTED_FULL;
                case TOO_LARGE -> Meter.REJECTED_TOO_LARGE;
                default -> Meter.REJECTED_STORE_FAILED;
            };
        }
    }

    final UnsafeBuffer view = new UnsafeBuffer(0, 0);
    ByteBuf buffer;
    Kind kind;
    Outcome outcome = Outcome.NONE;
    LaneFeed feed;
    long number;
    boolean probesForRoom;
    boolean waitsBehind;

    ClientSession session;
    long epoch;
    int packetId;
    long timeMs;
    String clientId;
    boolean sessionPresent;
    long expiryMs;
    int[] receivedIds;

    OutboxClient client;
    long slot;
    int chargedBytes;
    boolean isQos2;
    IfFull ifFull = IfFull.WAIT;

    OutboxEntry() {}

    void reset() {
        if (buffer != null) {
            buffer.release();
            buffer = null;
        }
        outcome = Outcome.NONE;
        probesForRoom = false;
        waitsBehind = false;
        session = null;
        clientId = null;
        receivedIds = null;
        client = null;
        ifFull = IfFull.WAIT;
        chargedBytes = 0;
    }

    /** What was asked. */
    public Kind kind() {
        return kind;
    }

    /** What became of it; valid when the entry is handed back. */
    public Outcome outcome() {
        return outcome;
    }

    /** The ack stage's slot, as given at submission. */
    public long slot() {
        return slot;
    }

    /** Whether it is a PUBLISH of QoS 2; valid until it is handed back. */
    public boolean isQos2() {
        return isQos2;
    }

    /** The device's packet id, 0 for none. */
    public int packetId() {
        return packetId;
    }

    /** Bytes charged to the ingress budget. */
    public int chargedBytes() {
        return chargedBytes;
    }

    /** The session that OPEN_SESSION made. */
    public ClientSession session() {
        return session;
    }

    /** The ids received and not yet released, answered by OPEN_SESSION. */
    public int[] receivedIds() {
        return receivedIds;
    }
}
