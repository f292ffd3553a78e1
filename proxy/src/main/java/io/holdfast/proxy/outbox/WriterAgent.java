package io.holdfast.proxy.outbox;

import io.holdfast.proxy.metrics.Counters;
import io.holdfast.proxy.metrics.Meter;
import io.holdfast.store.Lane;
import io.holdfast.store.LaneWriter;
import io.holdfast.store.Outcome;
import io.holdfast.store.StoreException;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.IdleStrategy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one writer of a lane: takes entries off the queue, appends them, syncs once for all of them, and only then says so
 * (P1).
 */
public final class WriterAgent implements Agent {
    private static final Logger LOG = LoggerFactory.getLogger(WriterAgent.class);
    private static final int BATCH_ENTRIES = 4096;

    private final int number;
    private final LaneWriter writer;
    private final WriterQueue queue;
    private final Counters counters;
    private final int batchBytes;
    private final List<OutboxEntry> batch = new ArrayList<>();
    private final List<LaneFeed> touched = new ArrayList<>();

    /** The first that the disk has refused; it comes before all that wait in the queue. */
    private OutboxEntry unappended;

    private volatile Runnable onDurable = () -> {};
    private volatile boolean failed;

    /**
     * Makes the writer of {@code lane}.
     *
     * @param number     of the lane
     * @param queueSlots entries that may wait
     * @param batchBytes record bytes after which a batch is synced although more is waiting
     */
    public WriterAgent(int number, Lane lane, int queueSlots, int batchBytes, Counters counters) {
        this.number = number;
        this.writer = lane.writer();
        this.queue = new WriterQueue(queueSlots);
        this.batchBytes = batchBytes;
        this.counters = counters;
    }

    /** Makes the feed through which one event loop hands entries to this lane. */
    public LaneFeed feedFor(EventLoop eventLoop) {
        return new LaneFeed(eventLoop, queue, counters);
    }

    /** Sets what is told each time the lane's durable sequence has moved; it must not block. */
    public void onDurable(Runnable listener) {
        onDurable = listener;
    }

    /** The idle strategy to run this agent with: it sleeps until an entry is offered. */
    public IdleStrategy idleStrategy() {
        return queue;
    }

    /** Whether the disk refuses: nothing is answered until it takes what waits. Any thread. */
    public boolean isFailed() {
        return failed;
    }

    @Override
    public String roleName() {
        return "writer-" + number;
    }

    @Override
    public int doWork() {
        if (failed && !goOn()) {
            return 0;
        }
        int work = appendWaiting();
        if (work > 0) {
            syncAndAnswer();
        }
        return work + maintain();
    }

    /** Answers what was waiting for the disk, if that takes it now. */
    private boolean goOn() {
        if (!writer.goOn()) {
            return false;
        }
        LOG.info("Lane {} can write again", number);
        failed = false;
        queue.pause(false);
        onDurable.run();
        answer();
        return true;
    }

    private int maintain() {
        if (failed) {
            return 0;
        }
        try {
            int work = writer.maintain();
            if (writer.isForceNeeded()) {
                syncAndAnswer();
            }
            return work;
        } catch (StoreException e) {
            fail(e);
            return 0;
        }
    }

    private int appendWaiting() {
        OutboxEntry entry;
        int bytes = 0;
        while (batch.size() < BATCH_ENTRIES && bytes < batchBytes && (entry = poll()) != null) {
            if (!append(entry)) {
                unappended = entry;
                break;
            }
            bytes += entry.chargedBytes;
            batch.add(entry);
            decided(entry);
        }
        return batch.size();
    }

    private void decided(OutboxEntry entry) {
        entry.feed.decided = entry.number;
        if (!entry.feed.inBatch) {
            entry.feed.inBatch = true;
            touched.add(entry.feed);
        }
    }

    private OutboxEntry poll() {
        OutboxEntry entry = unappended;
        unappended = null;
        return entry == null ? queue.poll() : entry;
    }

    /** False if the disk refuses: nothing is recorded of it. */
    private boolean append(OutboxEntry entry) {
        try {
            switch (entry.kind) {
                case PUBLISH -> entry.outcome = publish(entry);
                case INJECT -> entry.outcome = inject(entry);
                case RELEASE ->
                    entry.outcome = outcome(writer.release(entry.session, entry.packetId, entry.timeMs, entry.epoch));
                case OPEN_SESSION -> {
                    entry.session = writer.openSession(entry.clientId, entry.epoch, entry.sessionPresent);
                    entry.outcome = entry.session == null ? OutboxEntry.Outcome.FULL : OutboxEntry.Outcome.STORED;
                    entry.receivedIds = entry.session == null ? null : writer.receivedIds(entry.session);
                }
                case CLOSE_SESSION -> {
                    writer.closeSession(entry.session, entry.epoch, entry.expiryMs);
                    entry.outcome = OutboxEntry.Outcome.STORED;
                }
            }
            return true;
        } catch (StoreException e) {
            fail(e);
            return false;
        }
    }

    private OutboxEntry.Outcome publish(OutboxEntry entry) throws StoreException {
        LaneFeed feed = entry.feed;
        if (entry.probesForRoom) {
            feed.refusing = false;
        }
        final int length = entry.view.capacity();
        if (feed.refusing && !writer.isReceived(entry.view, 0, length, entry.session)) {
            return full(entry); // behind one that waits for room
        }
        OutboxEntry.Outcome outcome = outcome(writer.publish(entry.view, 0, length, entry.session, entry.epoch));
        if (outcome == OutboxEntry.Outcome.FULL) {
            return full(entry);
        } else if (outcome == OutboxEntry.Outcome.STALE) {
            counters.increment(Meter.STALE_ENTRIES);
        } else if (outcome == OutboxEntry.Outcome.DUPLICATE) {
            counters.increment(Meter.PUBLISH_DUPLICATE);
        }
        return outcome;
    }

    /** The slot is the place in its batch: behind one that found no room nothing of the batch is stored. */
    private OutboxEntry.Outcome inject(OutboxEntry entry) throws StoreException {
        LaneFeed feed = entry.feed;
        if (entry.slot == 0) {
            feed.refusing = false;
        }
        if (!feed.refusing) {
            OutboxEntry.Outcome outcome = outcome(writer.inject(entry.view, 0, entry.view.capacity()));
            feed.refusing = outcome != OutboxEntry.Outcome.STORED;
            return outcome;
        }
        return OutboxEntry.Outcome.FULL;
    }

    private OutboxEntry.Outcome full(OutboxEntry entry) {
        switch (entry.ifFull) {
            case WAIT -> entry.feed.refusing = true;
            case EVICT -> {
                entry.feed.refusing = true;
                writer.evictOldest();
            }
            case REFUSE -> {}
            case DROP -> {
                writer.dropNew(entry.view, 0, entry.view.capacity());
                return OutboxEntry.Outcome.DROPPED;
            }
        }
        return OutboxEntry.Outcome.FULL;
    }

    private static OutboxEntry.Outcome outcome(Outcome outcome) {
        return switch (outcome) {
            case STORED -> OutboxEntry.Outcome.STORED;
            case DUPLICATE -> OutboxEntry.Outcome.DUPLICATE;
            case REPEATED -> OutboxEntry.Outcome.DROPPED;
            case UNKNOWN -> OutboxEntry.Outcome.UNKNOWN;
            case STALE -> OutboxEntry.Outcome.STALE;
            case FULL -> OutboxEntry.Outcome.FULL;
            case TOO_LARGE -> OutboxEntry.Outcome.TOO_LARGE;
        };
    }

    /** If the disk refuses, what it was asked to take waits unanswered, and so does all that comes behind. */
    private void syncAndAnswer() {
        try {
            writer.force();
        } catch (StoreException e) {
            fail(e);
            return;
        }
        onDurable.run();
        answer();
    }

    private void answer() {
        batch.clear();
        for (int i = 0; i < touched.size(); i++) {
            LaneFeed feed = touched.get(i);
            feed.inBatch = false;
            feed.complete(feed.decided);
        }
        touched.clear();
    }

    private void fail(StoreException e) {
        if (!failed) {
            failed = true;
            queue.pause(true);
            LOG.error("Lane {} cannot write; tries again each second: {}", number, e.getMessage(), e);
        }
    }

    @Override
    public void onClose() {
        while (!failed && appendWaiting() > 0) {
            syncAndAnswer();
        }
        if (failed) {
            leaveUnanswered();
        }
    }

    /** Nobody may be told anything: a start may yet find the records. */
    private void leaveUnanswered() {
        OutboxEntry entry;
        while ((entry = poll()) != null) {
            batch.add(entry);
            decided(entry);
        }
        for (int i = 0; i < batch.size(); i++) {
            batch.get(i).outcome = OutboxEntry.Outcome.STALE;
        }
        answer();
    }
}
