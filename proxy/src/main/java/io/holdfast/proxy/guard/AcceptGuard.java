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
import java.util.EnumSet;
import java.util.Set;
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
    /** Only after that it is unlikely that a CONNECT is on its way; one crowd of devices must not push itself out. */
    private static final long SILENT_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private static final Set<Meter> LOGGED = EnumSet.of(
            Meter.SHED_CONNECTIONS,
            Meter.SHED_ADDRESS,
            Meter.SHED_ACCEPT_RATE,
            Meter.SHED_UNCONNECTED,
            Meter.ACCEPT_FAILED);

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
        for (Meter meter : LOGGED) { // now, since without descriptors not even a class may be found
            lines.put(meter, new LogThrottle(clock));
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        Channel socket = (Channel) message;
        if (!(socket.remoteAddress() instanceof InetSocketAddress remote)) {
            socket.unsafe().closeForcibly(); // it has gone before it could be accepted
            return;
        }
        InetAddress address = remote.getAddress();
        Meter refusal = refusal(address);
        if (refusal != null) {
            report(refusal, socket);
            socket.unsafe().closeForcibly();
            return;
        }
        connections.opened();
        addresses.opened(address);
        unconnected.accepted(socket, clock.nanoTime());
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
        if (connections.isReached()) {
            return closeOldestUnconnected(SILENT_NS) ? null : Meter.SHED_CONNECTIONS;
        }
        if (unconnected.isFull()) {
            closeOldestUnconnected(0);
        }
        return null;
    }

    private boolean closeOldestUnconnected(long leastAgeNs) {
        Channel oldest = unconnected.takeOldest(clock.nanoTime() - leastAgeNs);
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
        long leftOut = lines.get(Meter.ACCEPT_FAILED).pass();
        if (leftOut != LogThrottle.LEAVE_OUT) {
            LOG.error(
                    "Cannot accept at {}: {} ({} more like this since the last line). It goes on when there is room:"
                            + " raise ulimit -n or lower --max-connections",
                    ctx.channel().localAddress(),
                    cause.getMessage(),
                    leftOut);
        }
        closeOldestUnconnected(0);
        ctx.channel().config().setAutoRead(false);
        ctx.executor().schedule(() -> ctx.channel().config().setAutoRead(true), PAUSE_MS, TimeUnit.MILLISECONDS);
    }

    private void report(Meter meter, Channel socket) {
        counters.increment(meter);
        long leftOut = lines.get(meter).pass();
        if (leftOut != LogThrottle.LEAVE_OUT) {
            LOG.warn("{} {}; {} more like this since the last line", meter.sentence(), socket.remoteAddress(), leftOut);
        }
    }
}
