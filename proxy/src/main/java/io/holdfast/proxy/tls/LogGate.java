package io.holdfast.proxy.tls;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.NanoClock;

/** Lets one log line a minute through, so that whoever can cause lines cannot fill the disk. Any thread. */
final class LogGate {
    private static final long INTERVAL_NS = TimeUnit.MINUTES.toNanos(1);

    private final NanoClock clock;
    private final AtomicLong openAtNs;

    LogGate(NanoClock clock) {
        this.clock = clock;
        this.openAtNs = new AtomicLong(clock.nanoTime());
    }

    boolean pass() {
        long now = clock.nanoTime();
        long openAt = openAtNs.get();
        return now - openAt >= 0 && openAtNs.compareAndSet(openAt, now + INTERVAL_NS);
    }
}
