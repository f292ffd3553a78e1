package io.holdfast.store;

import java.util.concurrent.atomic.AtomicLongArray;

/** What a lane's writer knows, as of the last record. For the writer thread, except the counters. */
final class LaneState {
    final SessionTable sessions = new SessionTable();

    /** PUBLISH records per route; readable by any thread. */
    final AtomicLongArray accepted = new AtomicLongArray(RouteTable.MAX_ROUTES);

    /** PUBLISHes that were acknowledged and not stored, per route; not in {@link #accepted}. Readable by any thread. */
    final AtomicLongArray droppedNew = new AtomicLongArray(RouteTable.MAX_ROUTES);

    final AtomicLongArray droppedDuplicate = new AtomicLongArray(RouteTable.MAX_ROUTES);

    /** Null if messages are not compared. */
    Dedup dedup;

    long nextSequence = 1;
    long nextSendNumber;

    /**
     * Takes in a record of the log behind the checkpoint, after a restart.
     *
     * @param record          with the next sequence.
     * @param defaultExpiryMs of a session that the checkpoint does not know.
     * @param nowNs           monotonic time.
     */
    void replay(final RecordView record, final long defaultExpiryMs, final long nowNs) {
        nextSequence = record.sequence() + 1;
        if (record.sendNumber() >= 0) {
            nextSendNumber = record.sendNumber() + 1;
        }
        switch (record.kind()) {
            case RecordDescriptor.KIND_PUBLISH -> {
                count(record.routeNumber());
                if (dedup != null) {
                    dedup.replay(record);
                }
                if (record.qos() == 2 && record.packetId() != 0) {
                    sessions.restore(record.clientId(), defaultExpiryMs, nowNs)
                            .receive(record.packetId(), record.contentChecksum());
                }
            }
            case RecordDescriptor.KIND_RELEASE -> {
                final ClientSession session = sessions.find(record.clientId());
                if (session != null) {
                    session.release(record.packetId());
                }
            }
            case RecordDescriptor.KIND_SESSION_RESET -> {
                final ClientSession session = sessions.find(record.clientId());
                if (session != null) {
                    session.clear();
                }
            }
            default -> throw new IllegalStateException("unknown record kind " + record.kind());
        }
    }

    void count(final int route) {
        count(accepted, route);
    }

    static void count(final AtomicLongArray counters, final int route) {
        counters.setRelease(route, counters.getPlain(route) + 1);
    }

    /** What was acknowledged without having been stored. */
    long droppedUnstored(final int route, final DropReason reason) {
        return switch (reason) {
            case NEW -> droppedNew.getAcquire(route);
            case DUPLICATE -> droppedDuplicate.getAcquire(route);
            default -> 0;
        };
    }
}
