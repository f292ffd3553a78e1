package io.holdfast.proxy.guard;

import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.NanoClock;

/** Lets one line of a kind through every ten seconds, so that a flood does not flood the log. Any thread. */
public final class LogThrottle {
    /** What {@link #pass()} answers when the line is to be left out. */
    public static final long LEAVE_OUT = -1;

    private static final long PERIOD_NS = TimeUnit.SECONDS.toNanos(10);

    private final NanoClock clock;
    private long nextNs;
    private long leftOut;

    /** The first line passes. */
    public LogThrottle(NanoClock clock) {
        this.clock = clock;
        this.nextNs = clock.nanoTime();
    }

    /** {@link #LEAVE_OUT}, or how many lines have been left out since the last one. */
    public synchronized long pass() {
        long now = clock.nanoTime();
        if (now - nextNs < 0) {
            leftOut++;
            return LEAVE_OUT;
        }
        nextNs = now + PERIOD_NS;
        long since = leftOut;
        leftOut = 0;
        return since;
    }
}
