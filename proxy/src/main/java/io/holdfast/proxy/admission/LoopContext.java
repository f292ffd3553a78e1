package io.holdfast.proxy.admission;

import io.holdfast.codec.Direction;
import io.holdfast.codec.PublishView;
import io.holdfast.proxy.guard.BegunPackets;
import io.holdfast.proxy.guard.ClosingLog;
import io.holdfast.proxy.outbox.LaneFeed;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** What the connections of one event loop share. One event loop. */
public final class LoopContext {
    private static final long PAUSE_CHECK_MS = 20;

    private final EventLoop eventLoop;
    private final LaneFeed[] feeds;
    private final BegunPackets begunPackets;
    private final PublishView publishView = new PublishView(Direction.FROM_CLIENT);
    private final RecordWriter recordWriter;
    private final ClosingLog closingLog = new ClosingLog();
    private final List<PublishAdmission> paused = new ArrayList<>();
    private boolean pauseCheckScheduled;

    /** Makes the context of {@code eventLoop}, with one feed per lane. */
    public LoopContext(
            EventLoop eventLoop, LaneFeed[] feeds, BegunPackets begunPackets, ProducerIdentity producerIdentity) {
        this.recordWriter = new RecordWriter(producerIdentity);
        this.eventLoop = eventLoop;
        this.feeds = feeds;
        this.begunPackets = begunPackets;
    }

    /** The event loop. */
    public EventLoop eventLoop() {
        return eventLoop;
    }

    /** The way into a lane. */
    public LaneFeed feed(int lane) {
        return feeds[lane];
    }

    /** The packets of the loop's devices that are not whole yet. */
    public BegunPackets begunPackets() {
        return begunPackets;
    }

    /** Where closings are logged. */
    public ClosingLog closingLog() {
        return closingLog;
    }

    /** The view that every connection of this loop lays over the PUBLISH at hand. */
    public PublishView publishView() {
        return publishView;
    }

    /** Encodes records. */
    RecordWriter recordWriter() {
        return recordWriter;
    }

    /** Remembers a device that is not read for the sake of bytes, and looks again until there is room. */
    void addPaused(PublishAdmission device) {
        paused.add(device);
        schedulePauseCheck();
    }

    private void schedulePauseCheck() {
        if (!pauseCheckScheduled && !paused.isEmpty()) {
            pauseCheckScheduled = true;
            eventLoop.schedule(this::checkPaused, PAUSE_CHECK_MS, TimeUnit.MILLISECONDS);
        }
    }

    private void checkPaused() {
        pauseCheckScheduled = false;
        List<PublishAdmission> candidates = List.copyOf(paused);
        paused.clear();
        for (PublishAdmission device : candidates) {
            if (!device.resumeIfRoom()) {
                paused.add(device);
            }
        }
        schedulePauseCheck();
    }
}
