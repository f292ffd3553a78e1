package io.holdfast.proxy.tls;

import io.holdfast.proxy.Endpoint;
import io.holdfast.proxy.ProxyContext;
import io.holdfast.proxy.metrics.Counters;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.util.AttributeKey;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.agrona.concurrent.EpochClock;

/**
 * TLS 1.2 and 1.3 to the broker: session links and uplinks alike. The broker's certificate has to name the host of
 * {@code --upstream}. Any thread.
 */
public final class BrokerTls implements AutoCloseable {
    private static final int HANDSHAKE_TIMEOUT_MS = 10_000;
    private static final AttributeKey<String> FAILURE = AttributeKey.valueOf(BrokerTls.class, "FAILURE");

    private final Endpoint broker;
    private final boolean hasClientCertificate;
    private final Counters counters;
    private final ReloadingContext context;
    private final List<SNIHostName> serverNames;

    /**
     * Reads the files.
     *
     * @throws IOException naming the flag and the file, and what to do.
     */
    public BrokerTls(Endpoint broker, ProxyContext.BrokerTlsFiles files, Counters counters, EpochClock clock)
            throws IOException {
        this(TlsProvider.best(), broker, files, counters, clock);
    }

    BrokerTls(
            SslProvider provider,
            Endpoint broker,
            ProxyContext.BrokerTlsFiles files,
            Counters counters,
            EpochClock clock)
            throws IOException {
        this.broker = broker;
        this.hasClientCertificate = files.certificate().isPresent();
        this.counters = counters;
        this.serverNames = serverNames(broker.host());
        List<Path> watched = Stream.of(files.ca(), files.certificate(), files.key())
                .flatMap(Optional::stream)
                .toList();
        this.context = new ReloadingContext(watched, () -> make(provider, broker, files, clock));
    }

    private static SslContext make(
            SslProvider provider, Endpoint broker, ProxyContext.BrokerTlsFiles files, EpochClock clock)
            throws IOException {
        SslContextBuilder builder = SslContextBuilder.forClient()
                .sslProvider(provider)
                .protocols(TlsProvider.VERSIONS)
                .endpointIdentificationAlgorithm("HTTPS")
                .trustManager(new BrokerCertificateCheck(
                        jdkTrustManager(files.ca()),
                        broker.host(),
                        files.ca().map(path -> "--upstream-ca " + path).orElse("the trust store of Java"),
                        clock));
        if (files.certificate().isPresent()) {
            TlsIdentity identity = TlsIdentity.load(
                    new PemFile("--upstream-cert", files.certificate().get()),
                    new PemFile("--upstream-key", files.key().orElseThrow()),
                    clock);
            builder.keyManager(identity.key(), identity.chain());
        }
        try {
            return builder.build();
        } catch (SSLException e) {
            throw new IOException("TLS to " + broker + " cannot be set up: " + Causes.innermost(e), e);
        }
    }

    private static X509ExtendedTrustManager jdkTrustManager(Optional<Path> ca) throws IOException {
        try {
            KeyStore store = null; // null: Java's own
            if (ca.isPresent()) {
                store = KeyStore.getInstance(KeyStore.getDefaultType());
                store.load(null, null);
                int number = 0;
                for (X509Certificate certificate : new PemFile("--upstream-ca", ca.get()).certificates()) {
                    store.setCertificateEntry("ca" + number++, certificate);
                }
            }
            TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
            factory.init(store);
            for (TrustManager manager : factory.getTrustManagers()) {
                if (manager instanceof X509ExtendedTrustManager trustManager) {
                    return trustManager;
                }
            }
            throw new IOException("this Java has no X.509 trust manager");
        } catch (GeneralSecurityException e) {
            throw new IOException("--upstream-ca cannot be used: " + e.getMessage(), e);
        }
    }

    /** SNI is for names, never for addresses (RFC 6066 §3); a name that cannot be one is not sent. */
    private static List<SNIHostName> serverNames(String host) {
        if (NetUtil.isValidIpV4Address(host) || NetUtil.isValidIpV6Address(host)) {
            return List.of();
        }
        try {
            return List.of(new SNIHostName(host));
        } catch (IllegalArgumentException e) {
            return List.of();
        }
    }

    /**
     * Puts TLS at the beginning of a pipeline. {@code secured} is completed when the broker's certificate has been accepted;
     * it fails with an {@link IOException} that says why not, or with what made the connection fail before.
     */
    public void addTo(ChannelPipeline pipeline, Promise<Channel> secured) {
        SslHandler handler =
                context.use(tls -> tls.newHandler(pipeline.channel().alloc(), broker.host(), broker.port()));
        handler.setHandshakeTimeoutMillis(HANDSHAKE_TIMEOUT_MS);
        SSLEngine engine = handler.engine();
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setServerNames(new ArrayList<>(serverNames));
        engine.setSSLParameters(parameters);
        pipeline.addLast(handler, new BrokerTlsHandler(this, secured));
    }

    /** Reads the files again if they have changed. One thread, which may wait for the disk. */
    public void reloadIfChanged() {
        context.reloadIfChanged();
    }

    /** Counts, and remembers for {@link #failure}; returns the whole sentence. */
    String failed(Channel channel, Throwable error) {
        BrokerTlsFailure failure = BrokerTlsFailure.of(error);
        counters.increment(failure.meter());
        String why = "Broker " + broker.hostAndPort() + ": " + failure.explain(error, hasClientCertificate);
        channel.attr(FAILURE).set(why);
        return why;
    }

    /** Why TLS ended this connection, or null if it did not. In TLS 1.3 a broker may refuse us after it has begun. */
    public static String failure(Channel channel) {
        return channel.attr(FAILURE).get();
    }

    @Override
    public void close() {
        context.close();
    }
}
