package io.holdfast.proxy;

import io.holdfast.store.Lane;
import io.holdfast.store.OutboxStore;
import io.holdfast.store.StoreException;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What may take its time: makes each lane's next segment in advance, deletes those that are finished, and looks at what
 * may change: files, the wall clock.
 */
final class HousekeepingAgent implements Agent {
    private static final Logger LOG = LoggerFactory.getLogger(HousekeepingAgent.class);
    private static final long RECLAIM_NS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long WATCH_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long RETRY_NS = TimeUnit.SECONDS.toNanos(1);

    private final OutboxStore store;
    private final List<Runnable> watches;
    private final NanoClock clock;
    private long watchAtNs;
    private long reclaimAtNs;
    private long prepareAtNs;
    private String lastComplaint = "";

    /** {@code watches} look at what may change while the proxy runs: files, the wall clock. Each is run once a second. */
    HousekeepingAgent(OutboxStore store, List<Runnable> watches, NanoClock clock) {
        this.store = store;
        this.watches = watches;
        this.clock = clock;
        this.reclaimAtNs = clock.nanoTime();
        this.prepareAtNs = reclaimAtNs;
        this.watchAtNs = reclaimAtNs;
    }

    @Override
    public String roleName() {
        return "housekeeping";
    }

    @Override
    public int doWork() {
        return prepareSegments() + reclaim() + watch();
    }

    private int prepareSegments() {
        if (clock.nanoTime() - prepareAtNs < 0) {
            return 0;
        }
        for (int i = 0; i < store.laneCount(); i++) {
            try {
                if (!store.lane(i).prepareSegment()) {
                    prepareAtNs = clock.nanoTime() + RETRY_NS;
                }
            } catch (IOException e) {
                prepareAtNs = clock.nanoTime() + RETRY_NS;
                complain("no room for the next segment of lane " + i + ": " + e.getMessage());
            }
        }
        try {
            store.deadLetters().prepare();
        } catch (StoreException e) {
            prepareAtNs = clock.nanoTime() + RETRY_NS;
            complain(e.getMessage());
        }
        return 0;
    }

    private int reclaim() {
        if (clock.nanoTime() - reclaimAtNs < 0) {
            return 0;
        }
        reclaimAtNs = clock.nanoTime() + RECLAIM_NS;
        int deleted = 0;
        for (int i = 0; i < store.laneCount(); i++) {
            Lane lane = store.lane(i);
            try {
                deleted += lane.reclaim();
            } catch (StoreException e) {
                complain(e.getMessage());
            }
        }
        return deleted;
    }

    private int watch() {
        if (clock.nanoTime() - watchAtNs < 0) {
            return 0;
        }
        watchAtNs = clock.nanoTime() + WATCH_NS;
        watches.forEach(Runnable::run);
        return 0;
    }

    /** One line per kind of trouble. */
    private void complain(String what) {
        if (!what.equals(lastComplaint)) {
            lastComplaint = what;
            LOG.error("{}", what);
        }
    }
}
