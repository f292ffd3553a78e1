package io.holdfast.proxy.uplink;

import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.NanoClock;

/**
 * What an uplink says of itself to others: derived from progress, not from the socket. Written by the uplink's thread, read
 * by any.
 */
public final class UplinkStatus {
    private final NanoClock clock;
    private final long ackTimeoutNs;
    private volatile UplinkState state = UplinkState.DISCONNECTED;
    private volatile long lastProgressNs;
    private volatile int inFlight;
    private volatile String lastError = "";

    UplinkStatus(NanoClock clock, long ackTimeoutMs) {
        this.clock = clock;
        this.ackTimeoutNs = TimeUnit.MILLISECONDS.toNanos(ackTimeoutMs);
        this.lastProgressNs = clock.nanoTime();
    }

    void state(UplinkState newState) {
        state = newState;
    }

    void progress(int unfinished) {
        lastProgressNs = clock.nanoTime();
        inFlight = unfinished;
    }

    void inFlight(int unfinished) {
        inFlight = unfinished;
    }

    void error(String text) {
        lastError = text;
    }

    /** Where the connection is in its life. */
    public UplinkState state() {
        return state;
    }

    /** Send numbers between the oldest unfinished record and the newest sent. */
    public int inFlight() {
        return inFlight;
    }

    /** Why the last connection failed; empty if none did. */
    public String lastError() {
        return lastError;
    }

    /** Seconds since a record was finished or the connection was made. */
    public double secondsSinceProgress() {
        return (clock.nanoTime() - lastProgressNs) / 1e9;
    }

    /** Whether records flow, or there are none to flow. */
    public boolean isHealthy(boolean backlog) {
        return state == UplinkState.RUNNING && (!backlog || clock.nanoTime() - lastProgressNs <= ackTimeoutNs);
    }
}
