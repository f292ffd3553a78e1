package io.holdfast.proxy.tls;

import io.holdfast.proxy.ProxyContext;
import io.holdfast.proxy.guard.LogThrottle;
import io.holdfast.proxy.metrics.Counters;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLException;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** TLS 1.2 and 1.3 for the listeners, with client certificates if a CA for them is given. Any thread. */
public final class DeviceTls implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DeviceTls.class);

    private final Counters counters;
    private final ReloadingContext context;
    private final Map<DeviceTlsFailure, LogThrottle> lines = new EnumMap<>(DeviceTlsFailure.class);

    /**
     * Reads the files.
     *
     * @throws IOException naming the flag and the file, and what to do.
     */
    public DeviceTls(ProxyContext.DeviceTlsFiles files, Counters counters, EpochClock wallClock, NanoClock clock)
            throws IOException {
        this(TlsProvider.best(), files, counters, wallClock, clock);
    }

    DeviceTls(
            SslProvider provider,
            ProxyContext.DeviceTlsFiles files,
            Counters counters,
            EpochClock wallClock,
            NanoClock clock)
            throws IOException {
        this.counters = counters;
        for (DeviceTlsFailure failure : DeviceTlsFailure.values()) {
            lines.put(failure, new LogThrottle(clock));
        }
        List<Path> watched = new ArrayList<>(List.of(files.certificate(), files.key()));
        files.clientCa().ifPresent(watched::add);
        this.context = new ReloadingContext(watched, () -> make(provider, files, wallClock));
    }

    private static SslContext make(SslProvider provider, ProxyContext.DeviceTlsFiles files, EpochClock clock)
            throws IOException {
        PemFile certificate = new PemFile("--tls-cert", files.certificate());
        TlsIdentity identity = TlsIdentity.load(certificate, new PemFile("--tls-key", files.key()), clock);
        SslContextBuilder builder = SslContextBuilder.forServer(identity.key(), identity.chain())
                .sslProvider(provider)
                .protocols(TlsProvider.VERSIONS);
        if (files.clientCa().isPresent()) {
            builder.clientAuth(ClientAuth.REQUIRE)
                    .trustManager(
                            new PemFile("--tls-client-ca", files.clientCa().get())
                                    .certificates()
                                    .toArray(new X509Certificate[0]));
        }
        try {
            return builder.build();
        } catch (SSLException e) {
            throw certificate.error("cannot be used: " + Causes.innermost(e));
        }
    }

    /** Puts TLS at the beginning of a pipeline. The connect deadline bounds the handshake. */
    public void addTo(ChannelPipeline pipeline) {
        SslHandler handler =
                context.use(tls -> tls.newHandler(pipeline.channel().alloc()));
        handler.setHandshakeTimeoutMillis(0);
        pipeline.addLast(handler, new DeviceTlsHandler(this));
    }

    /** Reads the files again if they have changed. One thread, which may wait for the disk. */
    public void reloadIfChanged() {
        context.reloadIfChanged();
    }

    /** Counts, and writes a line; in a flood only some are at WARN, and who just hangs up never is. */
    void failed(Channel channel, DeviceTlsFailure failure, Throwable error) {
        counters.increment(failure.meter());
        long leftOut = failure == DeviceTlsFailure.CLOSED
                ? LogThrottle.LEAVE_OUT
                : lines.get(failure).pass();
        if (leftOut != LogThrottle.LEAVE_OUT) {
            LOG.warn(
                    "Device at {}: {}; {} more like this since the last line",
                    channel.remoteAddress(),
                    failure.explain(error),
                    leftOut);
        } else if (LOG.isDebugEnabled()) {
            LOG.debug("Device at {}: {}", channel.remoteAddress(), failure.explain(error));
        }
    }

    @Override
    public void close() {
        context.close();
    }
}
