package io.holdfast.proxy.tls;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.hivemq.client.mqtt.MqttClient;
import com.hivemq.client.mqtt.datatypes.MqttQos;
import com.hivemq.client.mqtt.mqtt5.Mqtt5BlockingClient;
import io.holdfast.proxy.guard.ClosingLog;
import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.FreePorts;
import io.holdfast.proxy.testing.LogLines;
import io.holdfast.proxy.testing.MosquittoBroker;
import io.holdfast.proxy.testing.MosquittoClients;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ProxyUnderTest;
import io.holdfast.proxy.testing.RawMqttClient;
import io.holdfast.proxy.testing.Sockets;
import io.holdfast.proxy.testing.TestAuthority;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLSocket;
import org.eclipse.paho.client.mqttv3.MqttConnectOptions;
import org.eclipse.paho.client.mqttv3.persist.MemoryPersistence;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real clients with TLS in front, a real broker with TLS behind: what is right works, what is wrong is told. */
class DevicesOverTlsTest {
    private static final Duration SOON = Duration.ofSeconds(10);

    @TempDir
    static Path directory;

    private static TestAuthority ca;
    private static TestAuthority stranger;
    private static MosquittoBroker broker;
    private static ProxyUnderTest proxy;
    private static ProxyUnderTest strict;

    @BeforeAll
    static void start() {
        ca = new TestAuthority(directory.resolve("ca"), "ca");
        stranger = new TestAuthority(directory.resolve("stranger"), "stranger");
        int port = FreePorts.next();
        TestAuthority.Issued identity = ca.server("broker", "localhost");
        broker = MosquittoBroker.create(
                directory.resolve("broker"),
                "message_size_limit 0",
                "listener " + port + " localhost",
                "cafile " + ca.file(),
                "certfile " + identity.certificate(),
                "keyfile " + identity.key(),
                "require_certificate true");
        broker.start();
        proxy = startProxy("proxy", port);
        strict = startProxy("strict", port, "--tls-client-ca", ca.file().toString(), "--connect-deadline", "1s");
    }

    private static ProxyUnderTest startProxy(String name, int brokerPort, String... flags) {
        TestAuthority.Issued identity = ca.server(name, "localhost", "127.0.0.1");
        TestAuthority.Issued client = ca.client(name);
        List<String> all = new java.util.ArrayList<>(List.of(
                "--listen",
                "mqtts://localhost:0",
                "--tls-cert",
                identity.certificate().toString(),
                "--tls-key",
                identity.key().toString(),
                "--upstream-ca",
                ca.file().toString(),
                "--upstream-cert",
                client.certificate().toString(),
                "--upstream-key",
                client.key().toString(),
                "--max-packet-size",
                "3MiB",
                "--max-payload",
                "2MiB",
                "--segment-bytes",
                "16MiB"));
        all.addAll(List.of(flags));
        return ProxyUnderTest.start(
                "mqtts://localhost:" + brokerPort, directory.resolve(name), all.toArray(new String[0]));
    }

    @AfterAll
    static void stop() {
        proxy.close();
        strict.close();
        broker.close();
    }

    // ---- what is right

    @Test
    void mosquittoClients() {
        String[] tls = {"--cafile", ca.file().toString(), "-t", "m/1", "-q", "2"};
        try (MosquittoClients.Subscriber subscriber = MosquittoClients.subscribe(proxy.tlsPort(), tls)) {
            MosquittoClients.publish(
                    proxy.tlsPort(), "--cafile", ca.file().toString(), "-t", "m/1", "-q", "2", "-m", "secured");
            subscriber.awaitMessage("m/1|secured", SOON);
        }
    }

    @Test
    void mosquittoClientsWithAClientCertificate() {
        TestAuthority.Issued device = ca.client("device");
        MosquittoClients.publish(
                strict.tlsPort(),
                "--cafile",
                ca.file().toString(),
                "--cert",
                device.certificate().toString(),
                "--key",
                device.key().toString(),
                "-t",
                "m/2",
                "-q",
                "1",
                "-m",
                "x");
    }

    @Test
    void hiveMqClient() throws Exception {
        Mqtt5BlockingClient client = MqttClient.builder()
                .useMqttVersion5()
                .identifier("hivemq-tls")
                .serverHost("localhost")
                .serverPort(proxy.tlsPort())
                .sslConfig()
                .trustManagerFactory(ca.trustManagerFactory())
                .applySslConfig()
                .buildBlocking();
        client.connect();
        try (Mqtt5BlockingClient.Mqtt5Publishes publishes =
                client.publishes(com.hivemq.client.mqtt.MqttGlobalPublishFilter.ALL)) {
            client.subscribeWith().topicFilter("h/1").qos(MqttQos.EXACTLY_ONCE).send();
            client.publishWith()
                    .topic("h/1")
                    .qos(MqttQos.EXACTLY_ONCE)
                    .payload(new byte[] {7})
                    .send();
            assertArrayEquals(new byte[] {7}, publishes.receive().getPayloadAsBytes());
        }
        client.disconnect();
    }

    @Test
    void paho() throws Exception {
        MqttConnectOptions options = new MqttConnectOptions();
        options.setSocketFactory(ca.context(ca.client("paho")).getSocketFactory());
        org.eclipse.paho.client.mqttv3.MqttClient client = new org.eclipse.paho.client.mqttv3.MqttClient(
                "ssl://localhost:" + strict.tlsPort(), "paho-tls", new MemoryPersistence());
        client.connect(options);
        client.publish("p/1", new byte[] {1}, 2, false);
        client.disconnect();
        client.close();
    }

    @Test
    void plainAndTlsSideBySide() {
        try (RawMqttClient plain = RawMqttClient.connect(proxy.port(), Packets.V5, "plain", true);
                RawMqttClient secured = connect("secured")) {
            secured.send(Packets.subscribe(Packets.V5, 1, "s/1", 1));
            secured.expect(Packet.SUBACK);
            plain.send(Packets.publish(Packets.V5, 1, 1, "s/1", "across"));
            plain.expect(Packet.PUBACK, 1);
            assertEquals("across", secured.expect(Packet.PUBLISH).text(Packets.V5));
        }
    }

    private static RawMqttClient connect(String clientId) {
        return RawMqttClient.connect(proxy.tlsPort(), ca.sockets(null), Packets.V5, clientId, true);
    }

    @Test
    void aMebibyteInBothDirections() {
        String large = "x".repeat(1 << 20);
        try (RawMqttClient client = connect("large")) {
            client.send(Packets.subscribe(Packets.V5, 1, "l/1", 1));
            client.expect(Packet.SUBACK);
            for (int id = 1; id <= 4; id++) {
                client.send(Packets.publish(Packets.V5, 1, id, "l/1", large + id));
            }
            int acks = 0;
            int messages = 0;
            while (acks < 4 || messages < 4) {
                Packet packet = client.readPacket(SOON);
                if (packet.type() == Packet.PUBACK) {
                    acks++;
                } else {
                    messages++;
                    assertEquals(large + messages, packet.text(Packets.V5));
                    client.send(Packets.ack(Packet.PUBACK, packet.packetId()));
                }
            }
        }
    }

    @Test
    void manyFramesInOneRecordAndOneFrameInManyRecords() {
        ByteArrayOutputStream many = new ByteArrayOutputStream();
        for (int id = 1; id <= 400; id++) {
            many.writeBytes(Packets.publish(Packets.V5, 1, id, "f/1", "m"));
        }
        try (RawMqttClient client = connect("frames")) {
            client.send(many.toByteArray());
            for (int id = 1; id <= 400; id++) {
                client.expect(Packet.PUBACK, id);
            }
            for (byte one : Packets.publish(Packets.V5, 2, 7, "f/1", "in pieces")) {
                client.send(new byte[] {one});
            }
            client.expect(Packet.PUBREC, 7);
        }
    }

    @Test
    void aSlowConsumerGetsEverything() {
        String payload = "y".repeat(100_000);
        int count = 100;
        try (RawMqttClient slow = connect("slow");
                RawMqttClient publisher = connect("fast")) {
            slow.send(Packets.subscribe(Packets.V5, 1, "slow/1", 0));
            slow.expect(Packet.SUBACK);
            for (int id = 1; id <= count; id++) {
                publisher.send(Packets.publish(Packets.V5, 1, id, "slow/1", payload));
                publisher.expect(Packet.PUBACK, id);
            }
            for (int i = 0; i < count; i++) {
                assertEquals(
                        payload.length(),
                        slow.expect(Packet.PUBLISH).text(Packets.V5).length());
            }
        }
    }

    @Test
    void aCloseNotifyIsTheEnd() throws Exception {
        try (SSLSocket socket =
                (SSLSocket) ca.sockets(null).open(InetAddress.getByName("localhost"), proxy.tlsPort())) {
            socket.startHandshake();
            socket.getOutputStream().write(Packets.connect(Packets.V311, "closing", true));
            assertEquals(0x20, socket.getInputStream().read());
            socket.getInputStream().skipNBytes(3);
            socket.shutdownOutput(); // close_notify, but no FIN
            socket.setSoTimeout((int) SOON.toMillis());
            assertEquals(-1, socket.getInputStream().read());
        }
    }

    @Test
    void aDeviceThatGoesOnSendingStillReadsWhyItIsClosed() throws Exception {
        try (SSLSocket socket =
                (SSLSocket) ca.sockets(null).open(InetAddress.getByName("localhost"), proxy.tlsPort())) {
            socket.setSoTimeout((int) SOON.toMillis());
            socket.getOutputStream().write(Packets.connect(Packets.V5, "wrong", true));
            InputStream in = socket.getInputStream();
            assertEquals(0x20, in.read());
            in.skipNBytes(in.read());
            ByteArrayOutputStream wrong = new ByteArrayOutputStream();
            wrong.writeBytes(Packets.hex("3600")); // QoS 3
            wrong.writeBytes(new byte[200_000]);
            socket.getOutputStream().write(wrong.toByteArray());
            assertEquals(0xe0, in.read(), "DISCONNECT");
            in.skipNBytes(in.read());
            assertEquals(-1, in.read(), "close_notify, else Java says that the peer was cut off");
        }
    }

    // ---- what is wrong

    @Test
    void aDeviceThatDoesNotTrustUs() {
        try (LogLines log = LogLines.of(DeviceTls.class)) {
            long before = proxy.count(Meter.DEVICE_TLS_DISTRUSTS_US);
            assertNotEquals(
                    0,
                    MosquittoClients.tryPublish(
                                    proxy.tlsPort(), "--cafile", stranger.file().toString(), "-t", "t", "-m", "m")
                            .code());
            await().untilAsserted(() -> assertEquals(before + 1, proxy.count(Meter.DEVICE_TLS_DISTRUSTS_US)));
            await().until(() -> !log.with("it does not accept our certificate").isEmpty());
        }
    }

    @Test
    void aDeviceWithoutACertificate() {
        refusedByStrict(
                Meter.DEVICE_TLS_NO_CERTIFICATE,
                "it has shown no client certificate, which --tls-client-ca asks for",
                null);
    }

    @Test
    void aDeviceOfAStranger() {
        // Java's TLS would not even show it: the server says whom it trusts.
        TestAuthority.Issued device = stranger.client("strange");
        long before = strict.count(Meter.DEVICE_TLS_CERTIFICATE);
        MosquittoClients.Exit exit = MosquittoClients.tryPublish(
                strict.tlsPort(),
                "--cafile",
                ca.file().toString(),
                "--cert",
                device.certificate().toString(),
                "--key",
                device.key().toString(),
                "-t",
                "t",
                "-m",
                "m");
        assertNotEquals(0, exit.code(), exit::output);
        await().untilAsserted(() -> assertEquals(before + 1, strict.count(Meter.DEVICE_TLS_CERTIFICATE)));
    }

    @Test
    void aDeviceWhoseCertificateHasExpired() {
        refusedByStrict(Meter.DEVICE_TLS_CERTIFICATE, "its client certificate", ca.expiredClient("old"));
    }

    private static void refusedByStrict(Meter meter, String line, TestAuthority.Issued client) {
        long before = strict.count(meter);
        try (LogLines log = LogLines.of(DeviceTls.class)) {
            Sockets sockets = ca.sockets(client);
            try (RawMqttClient device = RawMqttClient.open(strict.tlsPort(), sockets)) {
                device.send(Packets.connect(Packets.V5, "refused", true));
                device.expectClosed(SOON);
            } catch (java.io.UncheckedIOException e) {
                // Refused while it was sending.
            }
            await().untilAsserted(() -> assertEquals(before + 1, strict.count(meter)));
            if (before == 0) {
                await().until(() -> !log.with(line).isEmpty());
            }
        }
    }

    @Test
    void plainBytesOnTheTlsPort() {
        try (LogLines log = LogLines.of(DeviceTls.class);
                RawMqttClient plain = RawMqttClient.open(proxy.tlsPort())) {
            plain.send(Packets.connect(Packets.V311, "plain", true));
            plain.expectClosed(SOON);
            await().untilAsserted(() -> assertEquals(1, proxy.count(Meter.DEVICE_TLS_NO_TLS)));
            await().until(() -> !log.with("it does not speak TLS").isEmpty());
        }
    }

    @Test
    void tlsOnThePlainPort() {
        try (LogLines log = LogLines.of(ClosingLog.class)) {
            assertNotEquals(
                    0,
                    MosquittoClients.tryPublish(
                                    proxy.port(), "--cafile", ca.file().toString(), "-t", "t", "-m", "m")
                            .code());
            await().until(() ->
                    !log.with("it seems to speak TLS, here without TLS").isEmpty());
        }
    }

    @Test
    void aHandshakeThatIsNeverFinishedIsClosedByTheConnectDeadline() {
        long before = strict.count(Meter.DEVICE_TLS_UNFINISHED);
        long start = System.nanoTime();
        try (RawMqttClient silent = RawMqttClient.open(strict.tlsPort());
                RawMqttClient half = RawMqttClient.open(strict.tlsPort())) {
            half.sendHex("160301020001000101"); // the beginning of a ClientHello
            silent.expectClosed(SOON);
            half.expectClosed(SOON);
            assertTrue(System.nanoTime() - start < Duration.ofSeconds(4).toNanos(), "at the deadline of 1 s");
        }
        await().untilAsserted(() -> assertEquals(before + 2, strict.count(Meter.DEVICE_TLS_UNFINISHED)));
        assertEquals(strict.count(Meter.DEVICE_TLS_UNFINISHED), strict.count(Meter.CONNECT_DEADLINE));
    }

    @Test
    void olderVersionsAreRefused() throws Exception {
        try (SSLSocket socket =
                (SSLSocket) ca.sockets(null).open(InetAddress.getByName("localhost"), proxy.tlsPort())) {
            assertTrue(List.of("TLSv1.3").contains(socket.getSession().getProtocol()));
        }
        MosquittoClients.publish(
                proxy.tlsPort(), "--cafile", ca.file().toString(), "--tls-version", "tlsv1.2", "-t", "t", "-m", "m");
        try (RawMqttClient old = RawMqttClient.open(proxy.tlsPort())) {
            // A ClientHello of TLS 1.1, without extensions.
            old.sendHex("160301002f 0100002b 0302" + "5a".repeat(32) + "00 0004 c013 002f 0100");
            await().untilAsserted(() -> assertEquals(1, proxy.count(Meter.DEVICE_TLS_VERSION)));
        }
    }
}
