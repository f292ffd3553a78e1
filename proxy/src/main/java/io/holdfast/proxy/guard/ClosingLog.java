package io.holdfast.proxy.guard;

import io.holdfast.codec.ReasonCode;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One line for each device that is closed, but at most 200 in ten seconds, so that a scanner does not fill the disk. The
 * counters have them all. One event loop.
 */
public final class ClosingLog {
    static final int LINES = 200;
    static final long PERIOD_NS = TimeUnit.SECONDS.toNanos(10);

    private static final Logger LOG = LoggerFactory.getLogger(ClosingLog.class);

    private boolean begun;
    private long periodStartNs;
    private int lines;
    private long leftOut;

    /** Says that a device is being closed, and why. */
    public void closing(String clientId, SocketAddress address, String why, int reasonCode, long nowNs) {
        if (!begun || nowNs - periodStartNs >= PERIOD_NS) {
            begun = true;
            periodStartNs = nowNs;
            lines = 0;
        }
        if (lines == LINES) {
            leftOut++;
            return;
        }
        lines++;
        if (leftOut > 0) {
            LOG.warn("{} closings before this were not logged: more than {} in ten seconds", leftOut, LINES);
            leftOut = 0;
        }
        LOG.info("Closing client '{}' at {}: {} ({})", clientId, address, why, ReasonCode.name(reasonCode));
    }
}
