package io.holdfast.proxy.source;

import io.holdfast.proxy.Endpoint;
import io.holdfast.proxy.ProxyServices;
import io.holdfast.proxy.Transport;
import io.holdfast.proxy.admission.LoopContext;
import io.holdfast.proxy.guard.AcceptGuard;
import io.holdfast.proxy.tls.DeviceTls;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.function.Function;

/** A socket that devices connect to. */
public final class Listener {
    private static final int BACKLOG = 1024;
    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(64 * 1024, 256 * 1024);

    private final Endpoint endpoint;
    private final Channel channel;

    private Listener(Endpoint endpoint, Channel channel) {
        this.endpoint = endpoint;
        this.channel = channel;
    }

    /**
     * Binds and accepts.
     *
     * @param tls what secures the devices; null on a listener without TLS
     * @throws IOException naming the address, if it cannot be bound.
     */
    public static Listener open(
            Endpoint endpoint,
            Transport transport,
            EventLoopGroup accepting,
            EventLoopGroup devices,
            AcceptGuard guard,
            ProxyServices services,
            DeviceTls tls,
            Function<EventLoop, LoopContext> loops)
            throws IOException {
        ChannelFuture bound = new ServerBootstrap()
                .group(accepting, devices)
                .channel(transport.serverChannel())
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .option(ChannelOption.SO_REUSEADDR, true)
                .handler(guard)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_KEEPALIVE, true)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK)
                .childHandler(new DevicePipeline(services, tls, loops))
                .bind(new InetSocketAddress(endpoint.host(), endpoint.port()))
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException(
                    "--listen " + endpoint + " cannot be opened: "
                            + bound.cause().getMessage() + "; is another program using the port?",
                    bound.cause());
        }
        return new Listener(endpoint, bound.channel());
    }

    /** The address with the real port. */
    public Endpoint address() {
        int port = ((InetSocketAddress) channel.localAddress()).getPort();
        return new Endpoint(endpoint.host(), port, endpoint.tls());
    }

    /** Whether it accepts. */
    public boolean isOpen() {
        return channel.isActive();
    }

    /** Accepts no more. */
    public void close() {
        channel.close().awaitUninterruptibly();
    }
}
