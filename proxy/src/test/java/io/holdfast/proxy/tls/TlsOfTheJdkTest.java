package io.holdfast.proxy.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.testing.FreePorts;
import io.holdfast.proxy.testing.HoldfastProcess;
import io.holdfast.proxy.testing.MosquittoBroker;
import io.holdfast.proxy.testing.MosquittoClients;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import io.holdfast.proxy.testing.TestAuthority;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The proxy in a JVM of its own, where BoringSSL does not load: the same verdicts and messages. */
class TlsOfTheJdkTest {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final String JDK_ONLY = "-Dio.netty.handler.ssl.noOpenSsl=true";

    @TempDir
    static Path directory;

    private static TestAuthority ca;
    private static TestAuthority stranger;
    private static MosquittoBroker broker;
    private static HoldfastProcess proxy;
    private static int port;

    @BeforeAll
    static void start() {
        ca = new TestAuthority(directory.resolve("ca"), "ca");
        stranger = new TestAuthority(directory.resolve("stranger"), "stranger");
        int brokerPort = FreePorts.next();
        TestAuthority.Issued identity = ca.server("broker", "localhost");
        broker = MosquittoBroker.create(
                directory.resolve("broker"),
                "listener " + brokerPort + " localhost",
                "certfile " + identity.certificate(),
                "keyfile " + identity.key());
        broker.start();
        port = FreePorts.next();
        proxy = process(
                        "proxy",
                        port,
                        "mqtts://localhost:" + brokerPort,
                        "--upstream-ca",
                        ca.file().toString(),
                        "--tls-client-ca",
                        ca.file().toString())
                .jvmFlags(JDK_ONLY)
                .start();
    }

    private static HoldfastProcess process(String name, int listen, String upstream, String... flags) {
        TestAuthority.Issued identity = ca.server(name, "localhost", "127.0.0.1");
        List<String> arguments = new ArrayList<>(List.of(
                "run",
                "--upstream",
                upstream,
                "--listen",
                "mqtts://localhost:" + listen,
                "--admin",
                "off",
                "--tls-cert",
                identity.certificate().toString(),
                "--tls-key",
                identity.key().toString(),
                "--segment-bytes",
                "4MiB",
                "--data-dir",
                directory.resolve(name).toString()));
        arguments.addAll(List.of(flags));
        return HoldfastProcess.of(arguments.toArray(new String[0]));
    }

    @AfterAll
    static void stop() {
        proxy.close();
        broker.close();
    }

    private static MosquittoClients.Exit publish(TestAuthority trusted, TestAuthority.Issued client, String... more) {
        List<String> arguments =
                new ArrayList<>(List.of("--cafile", trusted.file().toString(), "-t", "t", "-m", "m", "-q", "2"));
        if (client != null) {
            arguments.addAll(List.of(
                    "--cert",
                    client.certificate().toString(),
                    "--key",
                    client.key().toString()));
        }
        arguments.addAll(List.of(more));
        return MosquittoClients.tryPublish(port, arguments.toArray(new String[0]));
    }

    @Test
    void itIsTheJdkAndItWorks() {
        assertTrue(proxy.output().contains("TLS by the JDK"), proxy::output);
        MosquittoClients.Exit exit = publish(ca, ca.client("device"));
        assertEquals(0, exit.code(), exit::output);
        assertEquals(
                0, publish(ca, ca.client("device"), "--tls-version", "tlsv1.2").code());
    }

    @Test
    void whatIsWrongIsTold() {
        assertNotEquals(0, publish(ca, null).code());
        proxy.awaitOutput("it has shown no client certificate, which --tls-client-ca asks for", SOON);
        assertNotEquals(0, publish(ca, stranger.client("strange")).code());
        proxy.awaitOutput("it has to be valid and signed by a CA in --tls-client-ca", SOON);
        assertNotEquals(0, publish(stranger, ca.client("device")).code()); // the JDK does not always see why it left
        try (RawMqttClient plain = RawMqttClient.open(port)) {
            plain.send(Packets.connect(Packets.V311, "plain", true));
            plain.expectClosed(SOON);
        }
        proxy.awaitOutput("it does not speak TLS", SOON);
        try (RawMqttClient old = RawMqttClient.open(port)) {
            old.sendHex("160301002f 0100002b 0302" + "5a".repeat(32) + "00 0004 c013 002f 0100");
            proxy.awaitOutput("it wants a TLS version other than 1.2 and 1.3", SOON);
        }
    }

    @Test
    void aDeviceMayNotNegotiateAnew() throws Exception {
        renegotiate(port, ca.client("again"));
    }

    @Test
    void norMayItWithBoringSsl() throws Exception {
        int other = FreePorts.next();
        try (HoldfastProcess boring = process("boring", other, broker.url()).start()) {
            assertTrue(boring.output().contains("TLS by BoringSSL"), boring::output);
            renegotiate(other, null);
        }
    }

    private static void renegotiate(int to, TestAuthority.Issued client) throws Exception {
        try (Socket plain = ca.sockets(client).open(InetAddress.getByName("localhost"), to);
                SSLSocket socket = (SSLSocket) plain) {
            socket.setSoTimeout((int) SOON.toMillis());
            socket.setEnabledProtocols(new String[] {"TLSv1.2"});
            socket.getOutputStream().write(Packets.connect(Packets.V311, "anew", true));
            assertEquals(0x20, socket.getInputStream().read());
            socket.getInputStream().skipNBytes(3);
            socket.getSession().invalidate();
            try {
                socket.startHandshake();
                assertEquals(-1, socket.getInputStream().read(), "renegotiated, and the connection goes on");
            } catch (SSLException | java.net.SocketException e) {
                // Refused.
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--tls-cert", "--tls-key", "--tls-client-ca"})
    void aFileThatIsMissingEndsTheStart(String flag) {
        String missing = directory.resolve("missing").toString();
        try (HoldfastProcess process = process("never", FreePorts.next(), broker.url(), flag, missing)) {
            process.launch();
            assertNotEquals(0, process.awaitExit(SOON), process::output);
            if (!flag.equals("--tls-client-ca")) {
                return; // given twice: picocli's own refusal
            }
            assertTrue(process.output().contains(flag + ": " + missing + " does not exist"), process::output);
        }
    }
}
