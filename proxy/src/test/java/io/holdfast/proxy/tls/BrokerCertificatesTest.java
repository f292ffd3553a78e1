package io.holdfast.proxy.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.Endpoint;
import io.holdfast.proxy.ProxyContext;
import io.holdfast.proxy.Transport;
import io.holdfast.proxy.link.LinkDialer;
import io.holdfast.proxy.metrics.Counters;
import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.FreePorts;
import io.holdfast.proxy.testing.MosquittoBroker;
import io.holdfast.proxy.testing.TestAuthority;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.ssl.SslProvider;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.SystemEpochClock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is made of the certificates of a real broker, by both TLS providers: the verdict, the counter and the message. */
class BrokerCertificatesTest {
    private enum Server {
        GOOD,
        RSA,
        EXPIRED,
        SELF_SIGNED,
        OTHER_HOST,
        CN_ONLY,
        WANTS_CLIENT,
        PLAIN
    }

    @TempDir
    static Path directory;

    private static final List<String> LISTENERS = new ArrayList<>();
    private static final Map<Server, Integer> PORTS = new EnumMap<>(Server.class);
    private static final EventLoopGroup LOOPS = Transport.best().newGroup(1, "test-loop");

    private static MosquittoBroker broker;
    private static TestAuthority ca;
    private static TestAuthority stranger;
    private static TestAuthority.Issued selfSigned;

    @BeforeAll
    static void start() {
        ca = new TestAuthority(directory, "test-ca");
        stranger = new TestAuthority(directory, "stranger-ca");
        selfSigned = ca.selfSigned("selfsigned", "localhost");
        listen(Server.GOOD, ca.server("good", "localhost", "127.0.0.1", "::1"));
        listen(Server.RSA, ca.rsaServer("rsa", "localhost"));
        listen(Server.EXPIRED, ca.expiredServer("expired", "localhost"));
        listen(Server.SELF_SIGNED, selfSigned);
        listen(Server.OTHER_HOST, ca.server("other", "broker.example", "10.1.2.3"));
        listen(Server.CN_ONLY, ca.server("localhost"));
        listen(Server.WANTS_CLIENT, ca.server("wants", "localhost"), "cafile " + ca.file(), "require_certificate true");
        broker = MosquittoBroker.create(directory.resolve("broker"), LISTENERS.toArray(new String[0]));
        broker.start();
        PORTS.put(Server.PLAIN, broker.port());
    }

    private static void listen(Server server, TestAuthority.Issued identity, String... extra) {
        int port = FreePorts.next();
        PORTS.put(server, port);
        LISTENERS.addAll(List.of(
                "listener " + port + " localhost", "certfile " + identity.certificate(), "keyfile " + identity.key()));
        LISTENERS.addAll(List.of(extra));
    }

    @AfterAll
    static void stop() {
        broker.close();
        LOOPS.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }

    private static ProxyContext.BrokerTlsFiles trust(Path authority) {
        return new ProxyContext.BrokerTlsFiles(Optional.ofNullable(authority), Optional.empty(), Optional.empty());
    }

    private static ProxyContext.BrokerTlsFiles client(TestAuthority.Issued identity) {
        return new ProxyContext.BrokerTlsFiles(
                Optional.of(ca.file()), Optional.of(identity.certificate()), Optional.of(identity.key()));
    }

    /** Dials and, unless that fails, waits whether the connection is kept; null if it is, else why not. */
    private static String dial(
            SslProvider provider, Server server, String host, ProxyContext.BrokerTlsFiles files, Meter expected)
            throws IOException, InterruptedException {
        Counters counters = new Counters();
        Endpoint endpoint = new Endpoint(host, PORTS.get(server), true);
        String why;
        try (BrokerTls tls = new BrokerTls(provider, endpoint, files, counters, SystemEpochClock.INSTANCE);
                LinkDialer dialer = new LinkDialer(Transport.best().channel(), endpoint, tls)) {
            CompletableFuture<String> ended = new CompletableFuture<>();
            Future<Channel> dialled = dialer.dial(LOOPS.next(), new Ending(ended), WriteBufferWaterMark.DEFAULT)
                    .await();
            if (dialled.isSuccess()) {
                // In TLS 1.3 the broker looks at our certificate when we are through already.
                why = ended.completeOnTimeout(null, 300, TimeUnit.MILLISECONDS).join();
                dialled.getNow().close().await();
            } else {
                why = dialled.cause().getMessage();
            }
        }
        for (Meter meter : Meter.values()) {
            if (meter.meterName().startsWith("holdfast.tls")) {
                assertEquals(meter == expected ? 1 : 0, counters.get(meter), meter + ": " + why);
            }
        }
        return why;
    }

    private static final class Ending extends ChannelInboundHandlerAdapter {
        private final CompletableFuture<String> ended;

        Ending(CompletableFuture<String> ended) {
            this.ended = ended;
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            ended.complete(String.valueOf(BrokerTls.failure(ctx.channel())));
        }
    }

    private static void refused(
            SslProvider provider,
            Server server,
            String host,
            ProxyContext.BrokerTlsFiles files,
            Meter expected,
            String... parts)
            throws Exception {
        String why = dial(provider, server, host, files, expected);
        assertTrue(why != null, "not refused");
        assertTrue(why.startsWith("Broker " + host + ":" + PORTS.get(server) + ": "), why);
        for (String part : parts) {
            assertTrue(why.contains(part), why);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = SslProvider.class,
            names = {"JDK", "OPENSSL_REFCNT"})
    void whatIsRightIsAccepted(SslProvider provider) throws Exception {
        assertNull(dial(provider, Server.GOOD, "localhost", trust(ca.file()), null));
        assertNull(dial(provider, Server.GOOD, "127.0.0.1", trust(ca.file()), null), "an address among the names");
        assertNull(dial(provider, Server.RSA, "localhost", trust(ca.file()), null));
        assertNull(dial(provider, Server.SELF_SIGNED, "localhost", trust(selfSigned.certificate()), null));
        assertNull(dial(provider, Server.WANTS_CLIENT, "localhost", client(ca.client("proxy")), null));
    }

    @ParameterizedTest
    @EnumSource(
            value = SslProvider.class,
            names = {"JDK", "OPENSSL_REFCNT"})
    void whoHasSigned(SslProvider provider) throws Exception {
        refused(
                provider,
                Server.GOOD,
                "localhost",
                trust(stranger.file()),
                Meter.BROKER_TLS_UNTRUSTED,
                "signed by 'CN=test-ca'",
                "nobody in --upstream-ca " + stranger.file());
        refused(
                provider,
                Server.GOOD,
                "localhost",
                trust(null),
                Meter.BROKER_TLS_UNTRUSTED,
                "nobody in the trust store of Java");
        refused(
                provider,
                Server.SELF_SIGNED,
                "localhost",
                trust(ca.file()),
                Meter.BROKER_TLS_UNTRUSTED,
                "signed by itself only");
    }

    @ParameterizedTest
    @EnumSource(
            value = SslProvider.class,
            names = {"JDK", "OPENSSL_REFCNT"})
    void whenItEnds(SslProvider provider) throws Exception {
        refused(
                provider,
                Server.EXPIRED,
                "localhost",
                trust(ca.file()),
                Meter.BROKER_TLS_EXPIRED,
                "its certificate expired on 20");
    }

    @ParameterizedTest
    @EnumSource(
            value = SslProvider.class,
            names = {"JDK", "OPENSSL_REFCNT"})
    void whoseItIs(SslProvider provider) throws Exception {
        ProxyContext.BrokerTlsFiles files = trust(ca.file());
        Meter wrong = Meter.BROKER_TLS_WRONG_HOST;
        refused(
                provider,
                Server.OTHER_HOST,
                "localhost",
                files,
                wrong,
                "for 'broker.example', '10.1.2.3', not for 'localhost'");
        refused(provider, Server.OTHER_HOST, "127.0.0.1", files, wrong, "not for '127.0.0.1'");
        refused(provider, Server.RSA, "127.0.0.1", files, wrong, "for 'localhost', not for '127.0.0.1'");
        refused(provider, Server.CN_ONLY, "localhost", files, wrong, "no Subject Alternative Name", "'CN=localhost'");
    }

    @ParameterizedTest
    @EnumSource(
            value = SslProvider.class,
            names = {"JDK", "OPENSSL_REFCNT"})
    void whoWeAre(SslProvider provider) throws Exception {
        Meter meter = Meter.BROKER_TLS_CLIENT_CERTIFICATE;
        refused(provider, Server.WANTS_CLIENT, "localhost", trust(ca.file()), meter, "asks for a client certificate");
        refused(
                provider,
                Server.WANTS_CLIENT,
                "localhost",
                client(stranger.client("proxy")),
                meter,
                "does not accept our client certificate");
        refused(
                provider,
                Server.WANTS_CLIENT,
                "localhost",
                client(ca.expiredClient("proxy")),
                meter,
                "does not accept our client certificate");
    }

    @ParameterizedTest
    @EnumSource(
            value = SslProvider.class,
            names = {"JDK", "OPENSSL_REFCNT"})
    void aPortWithoutTls(SslProvider provider) throws Exception {
        refused(provider, Server.PLAIN, "localhost", trust(ca.file()), Meter.BROKER_TLS_NO_TLS, "does not speak TLS");
    }
}
