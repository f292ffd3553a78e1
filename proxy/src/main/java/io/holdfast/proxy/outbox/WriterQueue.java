package io.holdfast.proxy.outbox;

import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.IdleStrategy;
import org.jctools.queues.varhandle.MpscVarHandleArrayQueue;

/**
 * The queue in front of one lane's writer: many event loops, one writer. It also wakes a writer that has gone to sleep,
 * which is why it is the writer's idle strategy.
 */
final class WriterQueue implements IdleStrategy {
    private static final long PARK_NS = 50_000_000L;

    private final MpscVarHandleArrayQueue<OutboxEntry> queue;
    private volatile Thread sleeper;

    /** The writer's own: it takes nothing off the queue for now. */
    private boolean isPaused;

    /** Makes a queue of at least {@code slots} slots. */
    WriterQueue(int slots) {
        queue = new MpscVarHandleArrayQueue<>(slots);
    }

    /** Hands an entry to the writer; false leaves it with the caller. Any event loop. */
    boolean offer(OutboxEntry entry) {
        if (!queue.offer(entry)) {
            return false;
        }
        wake();
        return true;
    }

    /** The next entry, or null. Writer only. */
    OutboxEntry poll() {
        return queue.relaxedPoll();
    }

    /** While it is paused the writer sleeps although entries wait. Writer only. */
    void pause(boolean paused) {
        isPaused = paused;
    }

    void wake() {
        Thread thread = sleeper;
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }

    @Override
    public void idle(int workCount) {
        if (workCount == 0) {
            idle();
        }
    }

    @Override
    public void idle() {
        sleeper = Thread.currentThread();
        if (isPaused || queue.isEmpty()) {
            LockSupport.parkNanos(this, PARK_NS);
        }
        sleeper = null;
    }

    @Override
    public void reset() {
        // nothing is kept between two idles
    }

    @Override
    public String alias() {
        return "writer-queue";
    }
}
