package io.holdfast.proxy.link;

import io.holdfast.proxy.Endpoint;
import io.holdfast.proxy.guard.ChannelErrors;
import io.holdfast.proxy.tls.BrokerTls;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Opens connections to the broker, with TLS if it is to be spoken, on the caller's event loop. Any thread. */
public final class LinkDialer implements AutoCloseable {
    private static final int CONNECT_TIMEOUT_MS = 10_000;
    private static final int LOOKUPS_WAITING = 65_536;

    private final Class<? extends Channel> channelClass;
    private final Endpoint upstream;
    private final BrokerTls tlsOrNull;
    private final ExecutorService lookups;
    private final OffLoopNameResolver resolver;

    /** Makes a dialer to {@code upstream} for channels of {@code channelClass}; {@code tlsOrNull} secures them. */
    public LinkDialer(Class<? extends Channel> channelClass, Endpoint upstream, BrokerTls tlsOrNull) {
        this.channelClass = channelClass;
        this.upstream = upstream;
        this.tlsOrNull = tlsOrNull;
        this.lookups = new ThreadPoolExecutor(
                0,
                1,
                30,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(LOOKUPS_WAITING),
                new DefaultThreadFactory("name-lookup", true));
        this.resolver = new OffLoopNameResolver(lookups);
    }

    /**
     * Connects; {@code handler} is put into the channel's pipeline. The future is completed on {@code eventLoop}, with TLS
     * once the broker's certificate has been accepted; if it fails, the message of its cause says why.
     */
    public Future<Channel> dial(EventLoop eventLoop, ChannelHandler handler, WriteBufferWaterMark waterMark) {
        Promise<Channel> ready = eventLoop.newPromise();
        new Bootstrap()
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
                        if (tlsOrNull != null) {
                            tlsOrNull.addTo(channel.pipeline(), ready);
                        }
                        channel.pipeline().addLast(handler, ChannelErrors.INSTANCE);
                    }
                })
                .connect(address())
                .addListener((ChannelFutureListener) connected -> {
                    if (!connected.isSuccess()) {
                        ready.tryFailure(connected.cause());
                    } else if (tlsOrNull == null) {
                        ready.trySuccess(connected.channel());
                    }
                });
        return ready;
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
