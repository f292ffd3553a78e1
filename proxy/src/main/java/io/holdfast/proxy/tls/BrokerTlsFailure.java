package io.holdfast.proxy.tls;

import io.holdfast.proxy.metrics.Meter;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.nio.channels.ClosedChannelException;

/** Why a connection to the broker could not be secured. */
enum BrokerTlsFailure {
    EXPIRED(Meter.BROKER_TLS_EXPIRED),
    UNTRUSTED(Meter.BROKER_TLS_UNTRUSTED),
    WRONG_HOST(Meter.BROKER_TLS_WRONG_HOST),
    CLIENT_CERTIFICATE(Meter.BROKER_TLS_CLIENT_CERTIFICATE),
    NO_TLS(Meter.BROKER_TLS_NO_TLS),
    VERSION(Meter.BROKER_TLS_VERSION),
    TIMEOUT(Meter.BROKER_TLS_TIMEOUT),
    OTHER(Meter.BROKER_TLS_OTHER);

    private final Meter meter;

    BrokerTlsFailure(Meter meter) {
        this.meter = meter;
    }

    Meter meter() {
        return meter;
    }

    static BrokerTlsFailure of(Throwable error) {
        BrokerCertificateException certificate = Causes.find(error, BrokerCertificateException.class);
        if (certificate != null) {
            return certificate.failure();
        }
        if (Causes.find(error, SslHandshakeTimeoutException.class) != null) {
            return TIMEOUT;
        }
        if (Causes.find(error, NotSslRecordException.class) != null) {
            return NO_TLS;
        }
        String words = Causes.words(error);
        if (Causes.anyOf(words, "UNSUPPORTED_PROTOCOL", "PROTOCOL_VERSION", "NOT_ACCEPTED_BY_CLIENT_PREFERENCES")) {
            return VERSION;
        }
        // Alerts of the broker: ours would carry a BrokerCertificateException.
        if (Causes.anyOf(
                words,
                "CERTIFICATE_REQUIRED",
                "BAD_CERTIFICATE",
                "UNSUPPORTED_CERTIFICATE",
                "CERTIFICATE_UNKNOWN",
                "CERTIFICATE_EXPIRED",
                "CERTIFICATE_REVOKED",
                "UNKNOWN_CA",
                "HANDSHAKE_FAILURE")) {
            return CLIENT_CERTIFICATE;
        }
        // It hangs up on what it takes for broken MQTT.
        return Causes.find(error, ClosedChannelException.class) == null ? OTHER : NO_TLS;
    }

    /** What it means and what to do, after the broker's address. */
    String explain(Throwable error, boolean hasClientCertificate) {
        String detail = Causes.innermost(error);
        return switch (this) {
            case EXPIRED, UNTRUSTED, WRONG_HOST -> detail;
            case CLIENT_CERTIFICATE ->
                hasClientCertificate
                        ? "it does not accept our client certificate (" + detail
                                + "): check --upstream-cert, and which CA the broker wants"
                        : "it asks for a client certificate (" + detail
                                + "): give one with --upstream-cert and --upstream-key";
            case NO_TLS ->
                "it does not speak TLS on this port, or hangs up for another reason: use its TLS port, or mqtt://";
            case VERSION -> "it speaks neither TLS 1.2 nor 1.3 (" + detail + ")";
            case TIMEOUT -> "it does not finish the TLS handshake (" + detail + "): is this its TLS port?";
            case OTHER -> "TLS failed: " + detail;
        };
    }
}
