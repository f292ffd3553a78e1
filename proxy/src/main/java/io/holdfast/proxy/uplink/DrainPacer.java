package io.holdfast.proxy.uplink;

import java.util.concurrent.TimeUnit;

/** Holds an uplink to so many messages and so many bytes per second, with a burst of a tenth of a second. One thread. */
final class DrainPacer {
    private static final long BURST_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private final double nsPerMessage;
    private final double nsPerByte;
    private long nextAtNs;

    /** A rate of 0 is no limit. */
    DrainPacer(long messagesPerSecond, long bytesPerSecond, long nowNs) {
        nsPerMessage = messagesPerSecond == 0 ? 0 : 1e9 / messagesPerSecond;
        nsPerByte = bytesPerSecond == 0 ? 0 : 1e9 / bytesPerSecond;
        nextAtNs = nowNs;
    }

    boolean isLimited() {
        return nsPerMessage > 0 || nsPerByte > 0;
    }

    /** Nanoseconds until the next message may go; 0 for now. */
    long waitNs(long nowNs) {
        return Math.max(0, nextAtNs - BURST_NS - nowNs);
    }

    void sent(int bytes, long nowNs) {
        if (nowNs - nextAtNs > 0) {
            nextAtNs = nowNs; // what was not used is not saved up
        }
        nextAtNs += (long) Math.max(nsPerMessage, bytes * nsPerByte);
    }
}
