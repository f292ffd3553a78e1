package io.holdfast.proxy.testing;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A certificate authority of a test, and the PEM files of what it signs. */
public final class TestAuthority {
    private final Path directory;
    private final String name;
    private final X509Bundle root;
    private final Path file;

    /** A certificate and its key, as files and for Java's own TLS. */
    public record Issued(Path certificate, Path key, X509Bundle bundle) {}

    /** Makes one; its files go into {@code directory}. */
    public TestAuthority(Path directory, String name) {
        this.directory = directory;
        this.name = name;
        try {
            root = valid(new CertificateBuilder().ecp256().subject("CN=" + name).setIsCertificateAuthority(true))
                    .buildSelfSigned();
            file = write(name + ".pem", root.getCertificatePEM());
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static CertificateBuilder valid(CertificateBuilder builder) {
        Instant now = Instant.now();
        return builder.notBefore(now.minus(1, ChronoUnit.HOURS)).notAfter(now.plus(1, ChronoUnit.DAYS));
    }

    /** The authority's own certificate. */
    public Path file() {
        return file;
    }

    /** A certificate of a server with these Subject Alternative Names, host names or addresses. */
    public Issued server(String commonName, String... names) {
        return issue(valid(named(commonName, names)));
    }

    /** As {@link #server}, with an RSA key. */
    public Issued rsaServer(String commonName, String... names) {
        return issue(valid(named(commonName, names)).rsa2048());
    }

    /** As {@link #server}, expired yesterday. */
    public Issued expiredServer(String commonName, String... names) {
        return issue(expired(named(commonName, names)));
    }

    /** A certificate that its owner has signed. */
    public Issued selfSigned(String commonName, String... names) {
        try {
            return write(
                    commonName,
                    valid(named(commonName, names).setIsCertificateAuthority(true))
                            .buildSelfSigned());
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** A client's certificate. */
    public Issued client(String commonName) {
        return issue(valid(named(commonName).addExtendedKeyUsageClientAuth()));
    }

    /** As {@link #client}, expired yesterday. */
    public Issued expiredClient(String commonName) {
        return issue(expired(named(commonName).addExtendedKeyUsageClientAuth()));
    }

    private static CertificateBuilder expired(CertificateBuilder builder) {
        Instant now = Instant.now();
        return builder.notBefore(now.minus(3, ChronoUnit.DAYS)).notAfter(now.minus(1, ChronoUnit.DAYS));
    }

    private static CertificateBuilder named(String commonName, String... names) {
        CertificateBuilder builder = new CertificateBuilder().ecp256().subject("CN=" + commonName);
        for (String san : names) {
            boolean address = NetUtil.isValidIpV4Address(san) || NetUtil.isValidIpV6Address(san);
            builder = address ? builder.addSanIpAddress(san) : builder.addSanDnsName(san);
        }
        return builder;
    }

    private Issued issue(CertificateBuilder builder) {
        try {
            X509Bundle bundle = builder.buildIssuedBy(root);
            return write(bundle.getCertificate().getSubjectX500Principal().getName(), bundle);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private Issued write(String commonName, X509Bundle bundle) throws IOException {
        String base = name + "-" + commonName.replace("CN=", "") + "-"
                + bundle.getCertificate().getSerialNumber();
        return new Issued(
                write(base + ".crt", bundle.getCertificatePEM()),
                write(base + ".key", bundle.getPrivateKeyPEM()),
                bundle);
    }

    private Path write(String fileName, String text) {
        try {
            return Files.writeString(Files.createDirectories(directory).resolve(fileName), text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** How a client of Java's that trusts this authority opens sockets; {@code clientOrNull} is its own certificate. */
    public Sockets sockets(Issued clientOrNull) {
        SSLContext context = context(clientOrNull);
        return (host, port) -> context.getSocketFactory().createSocket(host, port);
    }

    /** Trusts this authority only. */
    public TrustManagerFactory trustManagerFactory() {
        return root.toTrustManagerFactory();
    }

    /** Java's TLS of a client that trusts this authority. */
    public SSLContext context(Issued clientOrNull) {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            KeyManager[] keys = clientOrNull == null
                    ? null
                    : clientOrNull.bundle().toKeyManagerFactory().getKeyManagers();
            context.init(keys, root.toTrustManagerFactory().getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
