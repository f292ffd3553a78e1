package io.holdfast.proxy.guard;

import io.holdfast.proxy.ProxyContext;
import io.holdfast.proxy.metrics.Counters;
import io.holdfast.proxy.metrics.Meter;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.EnumMap;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * In front of a listener's acceptor: refuses a socket before anything is made for it, and pauses when the system gives no
 * more. One for all listeners, on the one event loop that accepts.
 */
@Sharable
public final class AcceptGuard extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(AcceptGuard.class);
    /** Without it an acceptor that has no descriptors would try again at once, for ever. */
    private static final long PAUSE_MS = 200;

    private final NanoClock clock;
    private final Counters counters;
    private final ConnectionLimit connections;
    private final AddressLimit addresses;
    private final TokenBucket rate;
    private final UnconnectedSockets unconnected;
    private final EnumMap<Meter, LogThrottle> lines = new EnumMap<>(Meter.class);

    /**
     * @param maxConnections of devices, at once
     * @param unconnected    those of them that have not sent CONNECT
     */
    public AcceptGuard(
            ProxyContext.Guards settings,
            int maxConnections,
            UnconnectedSockets unconnected,
            Counters counters,
            NanoClock clock) {
        this.clock = clock;
        this.counters = counters;
        this.connections = new ConnectionLimit(maxConnections);
        this.addresses = new AddressLimit(settings.maxConnectionsPerAddress());
        this.rate = settings.acceptRate() == 0 ? null : new TokenBucket(settings.acceptRate(), clock.nanoTime());
        this.unconnected = unconnected;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        Channel socket = (Channel) message;
        InetAddress address = ((InetSocketAddress) socket.remoteAddress()).getAddress();
        Meter refusal = refusal(address);
        if (refusal != null) {
            report(refusal, socket);
            socket.unsafe().closeForcibly();
            return;
        }
        connections.opened();
        addresses.opened(address);
        unconnected.accepted(socket);
        socket.closeFuture().addListener(closed -> {
            connections.closed();
            addresses.closed(address);
            unconnected.remove(socket);
        });
        ctx.fireChannelRead(socket);
    }

    private Meter refusal(InetAddress address) {
        if (rate != null && !rate.tryTake(clock.nanoTime())) {
            return Meter.SHED_ACCEPT_RATE;
        }
        if (addresses.isReached(address)) {
            return Meter.SHED_ADDRESS;
        }
        boolean makeRoom = connections.isReached() || unconnected.isFull();
        return makeRoom && !closeOldestUnconnected() ? Meter.SHED_CONNECTIONS : null;
    }

    private boolean closeOldestUnconnected() {
        Channel oldest = unconnected.takeOldest();
        if (oldest == null) {
            return false;
        }
        report(Meter.SHED_UNCONNECTED, oldest);
        oldest.close();
        return true;
    }

    /** Accepting failed, most likely for want of descriptors: tries again after a pause; what is connected lives on. */
    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        counters.increment(Meter.ACCEPT_FAILED);
        long leftOut = throttle(Meter.ACCEPT_FAILED).pass();
        if (leftOut != LogThrottle.LEAVE_OUT) {
            LOG.error(
                    "Cannot accept connections at {}: {} ({}; {} more like this). It goes on when there is room: raise"
                            + " ulimit -n or lower --max-connections",
                    ctx.channel().localAddress(),
                    cause.getMessage(),
                    Descriptors.now(),
                    leftOut);
        }
        closeOldestUnconnected();
        ctx.channel().config().setAutoRead(false);
        ctx.executor().schedule(() -> ctx.channel().config().setAutoRead(true), PAUSE_MS, TimeUnit.MILLISECONDS);
    }

    private void report(Meter meter, Channel socket) {
        counters.increment(meter);
        long leftOut = throttle(meter).pass();
        if (leftOut != LogThrottle.LEAVE_OUT) {
            LOG.warn("{} {}; {} more like this since the last line", meter.sentence(), socket.remoteAddress(), leftOut);
        }
    }

    private LogThrottle throttle(Meter meter) {
        return lines.computeIfAbsent(meter, kind -> new LogThrottle(clock));
    }
}
