package io.holdfast.proxy;

import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Wall time that passes as the monotonic clock does. It follows the wall clock in small corrections, but not in a step of more
 * than a minute: a box without a clock battery that meets its time server must not expire what it has stored. After such a
 * step the time is off until a restart. {@link #time} for any thread.
 */
final class SteadyEpochClock implements EpochClock {
    private static final Logger LOG = LoggerFactory.getLogger(SteadyEpochClock.class);
    private static final long STEP_MS = TimeUnit.MINUTES.toMillis(1);

    private final EpochClock wall;
    private final NanoClock monotonic;
    private final long startNs;
    private volatile long startMs;
    private long loggedStepMs;

    SteadyEpochClock(EpochClock wall, NanoClock monotonic) {
        this.wall = wall;
        this.monotonic = monotonic;
        this.startNs = monotonic.nanoTime();
        this.startMs = wall.time();
    }

    @Override
    public long time() {
        return startMs + TimeUnit.NANOSECONDS.toMillis(monotonic.nanoTime() - startNs);
    }

    /** Looks at the wall clock; to be called every second or so, by one thread. */
    void look() {
        long ahead = wall.time() - time();
        if (Math.abs(ahead - loggedStepMs) <= STEP_MS && loggedStepMs != 0) {
            return; // known already
        }
        if (Math.abs(ahead) <= STEP_MS) {
            loggedStepMs = 0;
            final long corrected = startMs + ahead; // this thread alone writes it
            startMs = corrected;
            return;
        }
        loggedStepMs = ahead;
        LOG.warn(
                "The wall clock was set {} s {}: stored messages do not expire by that; their times are off until a restart",
                Math.abs(ahead) / 1000,
                ahead > 0 ? "forward" : "back");
    }
}
