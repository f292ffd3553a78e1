package io.holdfast.proxy.tls;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.ProxyContext;
import io.holdfast.proxy.metrics.Counters;
import io.holdfast.proxy.testing.LogLines;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ProxyUnderTest;
import io.holdfast.proxy.testing.RawMqttClient;
import io.holdfast.proxy.testing.ScriptedBroker;
import io.holdfast.proxy.testing.TestAuthority;
import java.io.IOException;
import java.io.StringWriter;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.Optional;
import javax.net.ssl.SSLSocket;
import org.agrona.concurrent.SystemEpochClock;
import org.agrona.concurrent.SystemNanoClock;
import org.bouncycastle.openssl.jcajce.JcaPEMWriter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What certificate and key files may be, what is said of those that cannot be used, and that new ones are taken up. */
class TlsFilesTest {
    @TempDir
    Path directory;

    private TestAuthority ca;
    private TestAuthority.Issued good;

    @BeforeEach
    void makeFiles() {
        ca = new TestAuthority(directory, "ca");
        good = ca.server("proxy", "localhost");
    }

    private void load(Path certificate, Path key, Path clientCa) throws IOException {
        new DeviceTls(
                        new ProxyContext.DeviceTlsFiles(certificate, key, Optional.ofNullable(clientCa)),
                        new Counters(),
                        SystemEpochClock.INSTANCE,
                        SystemNanoClock.INSTANCE)
                .close();
    }

    private void refused(Path certificate, Path key, String flag, Path file, String part) {
        IOException error = assertThrows(IOException.class, () -> load(certificate, key, null));
        assertTrue(error.getMessage().startsWith(flag + ": " + file + " "), error::getMessage);
        assertTrue(error.getMessage().contains(part), error::getMessage);
    }

    private Path write(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text);
    }

    private static String traditional(PrivateKey key) throws IOException {
        StringWriter text = new StringWriter();
        try (JcaPEMWriter pem = new JcaPEMWriter(text)) {
            pem.writeObject(key);
        }
        return text.toString();
    }

    @Test
    void everyUsualFormOfAKeyIsRead() throws IOException {
        load(good.certificate(), good.key(), ca.file());
        TestAuthority.Issued rsa = ca.rsaServer("rsa", "localhost");
        load(rsa.certificate(), rsa.key(), null);
        String pkcs1 = traditional(rsa.bundle().getKeyPair().getPrivate());
        assertTrue(pkcs1.contains("BEGIN RSA PRIVATE KEY"), pkcs1);
        load(rsa.certificate(), write("pkcs1.key", pkcs1), null);
        String sec1 = traditional(good.bundle().getKeyPair().getPrivate());
        assertTrue(sec1.contains("BEGIN EC PRIVATE KEY"), sec1);
        String parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";
        load(good.certificate(), write("sec1.key", parameters + sec1), null);
        // One file with everything, and words between the blocks, as openssl writes them.
        Path all = write(
                "all.pem",
                "Certificate:\n    Data:\n" + Files.readString(good.certificate()) + "\n" + Files.readString(good.key())
                        + "\nBag Attributes\n" + Files.readString(ca.file()));
        load(all, all, all);
    }

    @Test
    void filesThatCannotBeUsedAreNamedTogetherWithWhatToDo() throws Exception {
        Path missing = directory.resolve("missing.pem");
        Path empty = write("empty.pem", "");
        Path der = Files.write(
                directory.resolve("der.crt"), good.bundle().getCertificate().getEncoded());
        Path damaged = write("damaged.crt", Files.readString(good.certificate()).replaceFirst("MII", "AAA"));
        TestAuthority.Issued other = ca.server("other", "localhost");
        TestAuthority.Issued rsa = ca.rsaServer("rsa", "localhost");
        refused(missing, good.key(), "--tls-cert", missing, "does not exist");
        refused(good.certificate(), missing, "--tls-key", missing, "does not exist");
        refused(directory, good.key(), "--tls-cert", directory, "cannot be read");
        refused(empty, good.key(), "--tls-cert", empty, "holds no certificate in PEM");
        refused(der, good.key(), "--tls-cert", der, "openssl x509 -inform der");
        refused(damaged, good.key(), "--tls-cert", damaged, "holds a damaged certificate");
        refused(good.certificate(), empty, "--tls-key", empty, "holds no private key in PEM");
        refused(good.certificate(), good.certificate(), "--tls-key", good.certificate(), "holds no private key");
        refused(
                good.certificate(),
                other.key(),
                "--tls-key",
                other.key(),
                "does not fit the certificate of 'CN=proxy'");
        refused(good.certificate(), rsa.key(), "--tls-key", rsa.key(), "holds no EC key, as the certificate has");
        IOException error = assertThrows(IOException.class, () -> load(good.certificate(), good.key(), missing));
        assertEquals("--tls-client-ca: " + missing + " does not exist", error.getMessage());
    }

    @Test
    void anEncryptedKeyIsRefused() throws IOException {
        String text = """
                -----BEGIN RSA PRIVATE KEY-----
                Proc-Type: 4,ENCRYPTED
                DEK-Info: AES-128-CBC,00

                MIIB
                -----END RSA PRIVATE KEY-----
                """;
        Path old = write("old.key", text);
        refused(good.certificate(), old, "--tls-key", old, "is encrypted");
        Path pkcs8 = write(
                "pkcs8.key", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n");
        refused(good.certificate(), pkcs8, "--tls-key", pkcs8, "openssl pkey -in");
    }

    @Test
    void anExpiredCertificateOfOursIsUsedButToldWithItsDate() throws IOException {
        TestAuthority.Issued expired = ca.expiredServer("old", "localhost");
        try (LogLines log = LogLines.of(TlsIdentity.class)) {
            load(expired.certificate(), expired.key(), null);
            String date =
                    expired.bundle().getCertificate().getNotAfter().toInstant().toString();
            assertEquals(1, log.with("expired on " + date).size());
        }
    }

    @Test
    void newFilesAreTakenUpAndBadOnesAreNot() throws Exception {
        Path certificate = Files.copy(good.certificate(), directory.resolve("live.crt"));
        Path key = Files.copy(good.key(), directory.resolve("live.key"));
        try (ScriptedBroker broker = ScriptedBroker.start(connection -> {});
                LogLines log = LogLines.of(ReloadingContext.class);
                ProxyUnderTest proxy = ProxyUnderTest.start(
                        broker.url(),
                        directory.resolve("data"),
                        "--listen",
                        "mqtts://localhost:0",
                        "--tls-cert",
                        certificate.toString(),
                        "--tls-key",
                        key.toString());
                RawMqttClient standing = RawMqttClient.open(proxy.tlsPort(), ca.sockets(null))) {
            assertEquals(good.bundle().getCertificate(), shown(proxy));
            TestAuthority.Issued second = ca.server("second", "localhost");
            replace(second.certificate(), certificate);
            replace(second.key(), key);
            await().untilAsserted(() -> assertEquals(second.bundle().getCertificate(), shown(proxy)));
            Files.writeString(key, "rubbish");
            await().until(() ->
                    !log.with("--tls-key: " + key + " holds no private key").isEmpty());
            assertFalse(log.with("The old one stays in use").isEmpty());
            assertEquals(second.bundle().getCertificate(), shown(proxy));
            replace(good.certificate(), certificate);
            replace(good.key(), key);
            await().untilAsserted(() -> assertEquals(good.bundle().getCertificate(), shown(proxy)));
            standing.send(Packets.connect(Packets.V311, "standing", true)); // what stands goes on
        }
    }

    private static void replace(Path from, Path to) throws IOException {
        Path fresh = to.resolveSibling(to.getFileName() + ".new");
        Files.copy(from, fresh, StandardCopyOption.REPLACE_EXISTING);
        Files.move(fresh, to, StandardCopyOption.ATOMIC_MOVE);
    }

    private X509Certificate shown(ProxyUnderTest proxy) throws IOException {
        try (SSLSocket socket =
                (SSLSocket) ca.sockets(null).open(InetAddress.getByName("localhost"), proxy.tlsPort())) {
            return (X509Certificate) socket.getSession().getPeerCertificates()[0];
        }
    }
}
