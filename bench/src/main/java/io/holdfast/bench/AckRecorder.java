package io.holdfast.bench;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Counts acknowledgements and their latency while it is on; for the load's one event loop. */
final class AckRecorder {
    private static final long MAX_LATENCY_NANOS = TimeUnit.MINUTES.toNanos(5);
    private static final int DIGITS = 3;

    private final Histogram latencyNanos = new Histogram(MAX_LATENCY_NANOS, DIGITS);
    private long startNanos;
    private long endNanos;
    private boolean on;

    void start(long nowNanos) {
        startNanos = nowNanos;
        on = true;
    }

    void stop(long nowNanos) {
        endNanos = nowNanos;
        on = false;
    }

    void acknowledged(long nanos) {
        if (on) {
            latencyNanos.recordValue(Math.min(nanos, MAX_LATENCY_NANOS));
        }
    }

    /** Acknowledgements while it was on. */
    long count() {
        return latencyNanos.getTotalCount();
    }

    /** Acknowledgements per second. */
    double perSecond() {
        return count() * 1e9 / (endNanos - startNanos);
    }

    /** Milliseconds from the write of a PUBLISH to the read of its PUBACK. */
    double latencyMs(double percentile) {
        return latencyNanos.getValueAtPercentile(percentile) / 1e6;
    }
}
