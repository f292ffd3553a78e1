package io.holdfast.proxy.link;

import java.util.SplittableRandom;

/** Capped exponential backoff with jitter. Not thread-safe. */
public final class Backoff {
    private final long initialMs;
    private final long capMs;
    private final SplittableRandom random;
    private int failures;

    /** Waits about {@code initialMs} at first, and never much more than {@code capMs}. */
    public Backoff(long initialMs, long capMs, long seed) {
        this.initialMs = initialMs;
        this.capMs = capMs;
        this.random = new SplittableRandom(seed);
    }

    /** The next delay in milliseconds: between half of the step and the step. */
    public long nextDelayMs() {
        long step = Math.min(capMs, initialMs << Math.min(failures, 20));
        failures++;
        return step / 2 + random.nextLong(step / 2 + 1);
    }

    /** It worked: begin again with the shortest. */
    public void reset() {
        failures = 0;
    }
}
