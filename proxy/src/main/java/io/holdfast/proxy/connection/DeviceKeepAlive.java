package io.holdfast.proxy.connection;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.NanoClock;

/**
 * Ends a device that was silent for one and a half times its Keep Alive ([MQTT-3.1.2-22] v5, [MQTT-3.1.2-24] 3.1.1).
 * One timer that is set again only when it runs out, so a packet costs one store. One event loop.
 */
final class DeviceKeepAlive {
    private final EventLoop eventLoop;
    private final NanoClock clock;
    private final long limitNs;
    private final Runnable onSilent;
    private long lastReadNs;
    private boolean paused;
    private Future<?> timer;

    /** @param keepAliveSeconds 0 for no limit */
    DeviceKeepAlive(EventLoop eventLoop, NanoClock clock, int keepAliveSeconds, Runnable onSilent) {
        this.eventLoop = eventLoop;
        this.clock = clock;
        this.limitNs = TimeUnit.MILLISECONDS.toNanos(keepAliveSeconds * 1500L);
        this.onSilent = onSilent;
    }

    void start() {
        read();
        if (limitNs > 0) {
            timer = eventLoop.schedule(this::check, limitNs, TimeUnit.NANOSECONDS);
        }
    }

    void read() {
        lastReadNs = clock.nanoTime();
    }

    /** While the device is not read on purpose, the deadline stands still. */
    void paused(boolean isPaused) {
        paused = isPaused;
        read();
    }

    void stop() {
        if (timer != null) {
            timer.cancel(false);
        }
    }

    private void check() {
        long silentNs = paused ? 0 : clock.nanoTime() - lastReadNs;
        if (silentNs >= limitNs) {
            onSilent.run();
        } else {
            timer = eventLoop.schedule(this::check, limitNs - silentNs, TimeUnit.NANOSECONDS);
        }
    }
}
