package io.holdfast.proxy.deadletter;

import io.holdfast.store.Lane;
import io.holdfast.store.LaneWriter;
import io.holdfast.store.OutboxStore;
import io.holdfast.store.Outcome;
import io.holdfast.store.StoreContext;
import io.holdfast.store.StoreException;
import io.holdfast.store.StoreMeta;
import java.nio.file.Path;
import java.util.List;
import org.agrona.concurrent.SystemEpochClock;
import org.agrona.concurrent.UnsafeBuffer;

/** The desk of a store on which no proxy runs: opens it, and closes it cleanly. One thread. */
public final class OfflineDesk implements AutoCloseable {
    private final OutboxStore store;
    private final DeadLetterDesk desk;

    private OfflineDesk(OutboxStore store) {
        this.store = store;
        this.desk = new DeadLetterDesk(
                store.deadLetters(), store::routeText, this::inject, this::removed, SystemEpochClock.INSTANCE);
    }

    /**
     * Opens the store with the settings it has.
     *
     * @throws StoreException if it is in use or no outbox.
     */
    public static OfflineDesk open(Path directory) throws StoreException {
        StoreMeta meta = OutboxStore.meta(directory);
        return new OfflineDesk(OutboxStore.open(new StoreContext()
                .directory(directory)
                .lanes(meta.lanes())
                .segmentBytes(meta.segmentBytes())
                .uplinkBroker(meta.uplinkBroker())));
    }

    /** What can be done. */
    public DeadLetterDesk desk() {
        return desk;
    }

    private int inject(int lane, List<byte[]> records) throws StoreException {
        LaneWriter writer = store.lane(lane).writer();
        int taken = 0;
        for (byte[] record : records) {
            if (writer.inject(new UnsafeBuffer(record), 0, record.length) != Outcome.STORED) {
                break;
            }
            taken++;
        }
        writer.force();
        return taken;
    }

    private void removed(int lane, int route, io.holdfast.store.DeadLetters.Removal removal, long count) {
        Lane owner = store.lane(lane);
        owner.cursor().deadLetterRemoved(route, removal.dropReason(), count);
    }

    @Override
    public void close() throws StoreException {
        store.close();
    }
}
