package io.holdfast.proxy.guard;

import java.util.concurrent.TimeUnit;

/**
 * So many events per second, and at once as many as one second brings. Kept as one instant (the generic cell rate
 * algorithm), so a bucket is two numbers and nothing has to refill it. One thread.
 */
public final class TokenBucket {
    private static final long BURST_NS = TimeUnit.SECONDS.toNanos(1);

    private final long intervalNs;
    private long emptyUntilNs;

    /**
     * A full bucket.
     *
     * @param perSecond 1 to 1,000,000,000
     * @param nowNs     of the clock that all calls use
     */
    public TokenBucket(int perSecond, long nowNs) {
        this.intervalNs = TimeUnit.SECONDS.toNanos(1) / perSecond;
        this.emptyUntilNs = nowNs - BURST_NS;
    }

    /** Takes a token; false if there is none. */
    public boolean tryTake(long nowNs) {
        if (waitNs(nowNs) > 0) {
            return false;
        }
        emptyUntilNs += intervalNs;
        return true;
    }

    /** Nanoseconds until there is a token; 0 if there is one now. */
    public long waitNs(long nowNs) {
        if (nowNs - emptyUntilNs > BURST_NS) {
            emptyUntilNs = nowNs - BURST_NS; // full: more than that is not saved up
        }
        return Math.max(0, emptyUntilNs + intervalNs - nowNs);
    }
}
