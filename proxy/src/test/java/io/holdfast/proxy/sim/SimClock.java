package io.holdfast.proxy.sim;

import io.netty.util.concurrent.Ticker;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;

/** The one clock of a simulation; it moves only when it is told to. */
final class SimClock implements Ticker, NanoClock, EpochClock {
    private static final long EPOCH_MS = 1_800_000_000_000L;

    private long nowNs;

    void advance(long ns) {
        nowNs += ns;
    }

    void advanceTo(long ns) {
        nowNs = Math.max(nowNs, ns);
    }

    @Override
    public long nanoTime() {
        return nowNs;
    }

    @Override
    public long time() {
        return EPOCH_MS + TimeUnit.NANOSECONDS.toMillis(nowNs);
    }

    @Override
    public long initialNanoTime() {
        return 0;
    }

    @Override
    public void sleep(long delay, TimeUnit unit) {
        throw new UnsupportedOperationException("nothing sleeps in a simulation");
    }
}
