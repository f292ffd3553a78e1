package io.holdfast.proxy.link;

import io.holdfast.proxy.Endpoint;
import io.holdfast.proxy.guard.ChannelErrors;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Opens TCP connections to the broker, on the caller's event loop. Any thread. */
public final class LinkDialer implements AutoCloseable {
    private static final int CONNECT_TIMEOUT_MS = 10_000;
    private static final int LOOKUPS_WAITING = 65_536;

    private final Class<? extends Channel> channelClass;
    private final Endpoint upstream;
    private final ExecutorService lookups;
    private final OffLoopNameResolver resolver;

    /** Makes a dialer to {@code upstream} for channels of {@code channelClass}. */
    public LinkDialer(Class<? extends Channel> channelClass, Endpoint upstream) {
        this.channelClass = channelClass;
        this.upstream = upstream;
        this.lookups = new ThreadPoolExecutor(
                0,
                1,
                30,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(LOOKUPS_WAITING),
                new DefaultThreadFactory("name-lookup", true));
        this.resolver = new OffLoopNameResolver(lookups);
    }

    /** Connects; {@code handler} is put into the channel's pipeline. The future is completed on {@code eventLoop}. */
    public ChannelFuture dial(EventLoop eventLoop, ChannelHandler handler, WriteBufferWaterMark waterMark) {
        ChannelFuture dialled = new Bootstrap()
                .group(eventLoop)
                .channel(channelClass)
                .resolver(resolver)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MS)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.SO_KEEPALIVE, true)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, waterMark)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(handler, ChannelErrors.INSTANCE);
                    }
                })
                .connect(address());
        if (dialled.isDone() && !dialled.isSuccess()) {
            // Not even a socket could be had (no descriptors): that future is completed on a thread of Netty's own.
            return new DefaultChannelPromise(dialled.channel(), eventLoop).setFailure(dialled.cause());
        }
        return dialled;
    }

    /** An address that is written as a number needs no look-up, and so does not wait behind one. */
    private InetSocketAddress address() {
        boolean numeric = NetUtil.isValidIpV4Address(upstream.host()) || NetUtil.isValidIpV6Address(upstream.host());
        return numeric
                ? new InetSocketAddress(upstream.host(), upstream.port())
                : InetSocketAddress.createUnresolved(upstream.host(), upstream.port());
    }

    /** The broker's address. */
    public Endpoint upstream() {
        return upstream;
    }

    @Override
    public void close() {
        resolver.close();
        lookups.shutdownNow();
    }
}
