package io.holdfast.proxy.link;

import io.holdfast.codec.AckWriter;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.NanoClock;

/**
 * The proxy's own keep-alive on a connection to a broker ([MQTT-3.1.2-20] v5): pings when nothing was sent for half of
 * it, and finds a half-open connection when nothing was read for one and a half. One event loop.
 */
public final class LinkKeepAlive {
    private final ChannelHandlerContext ctx;
    private final NanoClock clock;
    private final Runnable onSilent;
    private long keepAliveNs;
    private long lastReadNs;
    private long lastWriteNs;
    private boolean paused;
    private Future<?> tick;

    /** Watches {@code ctx}'s channel once started; {@code onSilent} is run when the broker is silent too long. */
    public LinkKeepAlive(ChannelHandlerContext ctx, NanoClock clock, Runnable onSilent) {
        this.ctx = ctx;
        this.clock = clock;
        this.onSilent = onSilent;
        this.lastReadNs = clock.nanoTime();
        this.lastWriteNs = lastReadNs;
    }

    /** Begins. {@code seconds} is the Keep Alive in force, at least 1. */
    public void start(int seconds) {
        stop();
        keepAliveNs = TimeUnit.SECONDS.toNanos(seconds);
        lastReadNs = clock.nanoTime();
        long tickMs = Math.max(100, seconds * 1000L / 4);
        tick = ctx.executor().scheduleAtFixedRate(this::check, tickMs, tickMs, TimeUnit.MILLISECONDS);
    }

    /** Ends. */
    public void stop() {
        if (tick != null) {
            tick.cancel(false);
            tick = null;
        }
    }

    /** The broker has sent something. */
    public void read() {
        lastReadNs = clock.nanoTime();
    }

    /** Something is sent to the broker. */
    public void written() {
        lastWriteNs = clock.nanoTime();
    }

    /** While the connection is not read on purpose, silence means nothing. */
    public void paused(boolean isPaused) {
        paused = isPaused;
        read();
    }

    private void check() {
        long now = clock.nanoTime();
        if (!paused && now - lastReadNs > keepAliveNs + keepAliveNs / 2) {
            stop();
            onSilent.run();
        } else if (now - lastWriteNs >= keepAliveNs / 2 || now - lastReadNs >= keepAliveNs / 2) {
            lastWriteNs = now;
            ByteBuf out = ctx.alloc().buffer(2);
            AckWriter.pingreq(out);
            ctx.writeAndFlush(out);
        }
    }
}
