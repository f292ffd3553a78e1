package io.holdfast.proxy.cli;

import io.holdfast.proxy.Endpoint;
import io.holdfast.proxy.ProxyContext;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The flags of TLS. Whether they fit together is checked here; the files are read when the proxy starts. */
final class TlsOptions {
    @Option(
            names = "--tls-cert",
            paramLabel = "FILE",
            description = {
                "Certificate of the listeners with mqtts, in PEM: the proxy's own first, then those between it and the root.",
                "All TLS files are read again when they change, for new connections."
            })
    private Path certificate;

    @Option(names = "--tls-key", paramLabel = "FILE", description = "Its private key, in PEM, not encrypted.")
    private Path key;

    @Option(
            names = "--tls-client-ca",
            paramLabel = "FILE",
            description = "Certificates, in PEM, of who signs devices: a device then has to show a client certificate.")
    private Path clientCa;

    @Option(
            names = "--upstream-ca",
            paramLabel = "FILE",
            description = {
                "Certificates, in PEM, of who signs the broker's, for --upstream mqtts://…",
                "Default: the trust store of Java."
            })
    private Path upstreamCa;

    @Option(
            names = "--upstream-cert",
            paramLabel = "FILE",
            description = "Client certificate that the proxy shows to the broker, in PEM; for links and uplinks alike.")
    private Path upstreamCertificate;

    @Option(names = "--upstream-key", paramLabel = "FILE", description = "Its private key, in PEM, not encrypted.")
    private Path upstreamKey;

    /**
     * What the listeners need.
     *
     * @throws IllegalArgumentException naming the flag, and what to do.
     */
    Optional<ProxyContext.DeviceTlsFiles> forListeners(List<Endpoint> listeners) {
        Optional<Endpoint> secured = listeners.stream().filter(Endpoint::tls).findFirst();
        if (secured.isEmpty()) {
            refuse("--tls-cert", certificate, "a listener with TLS: give --listen mqtts://host:port");
            refuse("--tls-key", key, "a listener with TLS: give --listen mqtts://host:port");
            refuse("--tls-client-ca", clientCa, "a listener with TLS: give --listen mqtts://host:port");
            return Optional.empty();
        }
        need("--tls-cert", certificate, "--listen " + secured.get());
        need("--tls-key", key, "--listen " + secured.get());
        return Optional.of(new ProxyContext.DeviceTlsFiles(certificate, key, Optional.ofNullable(clientCa)));
    }

    /**
     * What TLS to the broker needs.
     *
     * @throws IllegalArgumentException naming the flag, and what to do.
     */
    ProxyContext.BrokerTlsFiles forUpstream(Endpoint upstream) {
        if (!upstream.tls()) {
            refuse("--upstream-ca", upstreamCa, "TLS to the broker: give --upstream mqtts://host:port");
            refuse("--upstream-cert", upstreamCertificate, "TLS to the broker: give --upstream mqtts://host:port");
            refuse("--upstream-key", upstreamKey, "TLS to the broker: give --upstream mqtts://host:port");
        }
        if (upstreamCertificate != null) {
            need("--upstream-key", upstreamKey, "--upstream-cert");
        }
        if (upstreamKey != null) {
            need("--upstream-cert", upstreamCertificate, "--upstream-key");
        }
        return new ProxyContext.BrokerTlsFiles(
                Optional.ofNullable(upstreamCa),
                Optional.ofNullable(upstreamCertificate),
                Optional.ofNullable(upstreamKey));
    }

    private static void refuse(String flag, Path value, String without) {
        if (value != null) {
            throw new IllegalArgumentException(flag + " needs " + without + ", or leave it out");
        }
    }

    private static void need(String flag, Path value, String because) {
        if (value == null) {
            throw new IllegalArgumentException(because + " needs " + flag + " FILE");
        }
    }
}
