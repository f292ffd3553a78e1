package io.holdfast.proxy.tls;

import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslProvider;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The TLS that Netty does: BoringSSL where its native library loads, the JDK's otherwise. */
final class TlsProvider {
    /** The versions spoken; older ones are refused (RFC 8996). */
    static final List<String> VERSIONS = List.of("TLSv1.3", "TLSv1.2");

    private static final Logger LOG = LoggerFactory.getLogger(TlsProvider.class);
    private static final String NO_RENEGOTIATION = "jdk.tls.rejectClientInitiatedRenegotiation";
    private static final SslProvider BEST = choose();

    private TlsProvider() {}

    /** The one in use; chosen, and logged, once. */
    static SslProvider best() {
        return BEST;
    }

    private static SslProvider choose() {
        if (OpenSsl.isAvailable()) {
            LOG.info("TLS by {}", OpenSsl.versionString());
            return SslProvider.OPENSSL_REFCNT;
        }
        // BoringSSL as a server never renegotiates; the JDK has only this switch, which it reads once.
        if (System.getProperty(NO_RENEGOTIATION) == null) {
            System.setProperty(NO_RENEGOTIATION, "true");
        }
        LOG.info("TLS by the JDK ({}): the native library does not load", System.getProperty("java.vm.version"));
        LOG.debug("Why the native TLS library does not load", OpenSsl.unavailabilityCause());
        return SslProvider.JDK;
    }
}
