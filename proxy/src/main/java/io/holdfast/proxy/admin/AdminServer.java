package io.holdfast.proxy.admin;

import io.holdfast.proxy.Endpoint;
import io.holdfast.proxy.Transport;
import io.holdfast.proxy.guard.ChannelErrors;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.timeout.ReadTimeoutHandler;
import java.io.IOException;
import java.net.InetSocketAddress;

/** The admin HTTP server: {@code /metrics}, {@code /health/…}, {@code /ledger}. Reads only. */
public final class AdminServer implements AutoCloseable {
    private static final int MAX_REQUEST = 8 * 1024;
    private static final int IDLE_SECONDS = 60;

    private final Endpoint endpoint;
    private final Channel channel;

    private AdminServer(Endpoint endpoint, Channel channel) {
        this.endpoint = endpoint;
        this.channel = channel;
    }

    /**
     * Binds and serves.
     *
     * @throws IOException naming the flag, if the address cannot be bound.
     */
    public static AdminServer open(Endpoint endpoint, Transport transport, EventLoopGroup group, ProxyReport report)
            throws IOException {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        Gauges.bind(report, registry);
        ChannelFuture bound = new ServerBootstrap()
                .group(group)
                .channel(transport.serverChannel())
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel accepted) {
                        accepted.pipeline()
                                .addLast(
                                        new ReadTimeoutHandler(IDLE_SECONDS),
                                        new HttpServerCodec(),
                                        new HttpObjectAggregator(MAX_REQUEST),
                                        new AdminHandler(report, registry),
                                        ChannelErrors.INSTANCE);
                    }
                })
                .bind(new InetSocketAddress(endpoint.host(), endpoint.port()))
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException(
                    "--admin " + endpoint.hostAndPort() + " cannot be opened: "
                            + bound.cause().getMessage() + "; choose another port, or --admin off",
                    bound.cause());
        }
        return new AdminServer(endpoint, bound.channel());
    }

    /** The address with the real port. */
    public Endpoint address() {
        return new Endpoint(endpoint.host(), ((InetSocketAddress) channel.localAddress()).getPort(), false);
    }

    @Override
    public void close() {
        channel.close().awaitUninterruptibly();
    }
}
