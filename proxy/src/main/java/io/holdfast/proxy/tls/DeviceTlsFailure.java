package io.holdfast.proxy.tls;

import io.holdfast.proxy.metrics.Meter;
import io.netty.handler.ssl.NotSslRecordException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertificateException;

/** Why a device's TLS handshake failed. */
enum DeviceTlsFailure {
    NO_TLS(Meter.DEVICE_TLS_NO_TLS),
    NO_CERTIFICATE(Meter.DEVICE_TLS_NO_CERTIFICATE),
    CERTIFICATE(Meter.DEVICE_TLS_CERTIFICATE),
    DISTRUSTS_US(Meter.DEVICE_TLS_DISTRUSTS_US),
    VERSION(Meter.DEVICE_TLS_VERSION),
    UNFINISHED(Meter.DEVICE_TLS_UNFINISHED),
    CLOSED(Meter.DEVICE_TLS_CLOSED),
    OTHER(Meter.DEVICE_TLS_OTHER);

    private final Meter meter;

    DeviceTlsFailure(Meter meter) {
        this.meter = meter;
    }

    Meter meter() {
        return meter;
    }

    static DeviceTlsFailure of(Throwable error) {
        if (Causes.find(error, NotSslRecordException.class) != null) {
            return NO_TLS;
        }
        if (Causes.find(error, CertificateException.class) != null) {
            return CERTIFICATE;
        }
        if (Causes.find(error, ClosedChannelException.class) != null) {
            return CLOSED;
        }
        String words = Causes.words(error);
        if (Causes.anyOf(words, "EMPTY_CLIENT_CERTIFICATE", "PEER_DID_NOT_RETURN_A_CERTIFICATE")) {
            return NO_CERTIFICATE;
        }
        // Before the alerts, which have a PROTOCOL_VERSION too.
        if (Causes.anyOf(words, "UNSUPPORTED_PROTOCOL", "PROTOCOL_VERSION", "CLIENT_REQUESTED_PROTOCOL")) {
            return VERSION;
        }
        // The last: OpenSSL sends this alert of TLS 1.3 in the clear, too short for the record that BoringSSL waits
        // for.
        if (Causes.anyOf(
                words,
                "UNKNOWN_CA",
                "BAD_CERTIFICATE",
                "CERTIFICATE_UNKNOWN",
                "CERTIFICATE_EXPIRED",
                "BAD_PACKET_LENGTH")) {
            return DISTRUSTS_US;
        }
        return OTHER;
    }

    /** What it means and what to do. */
    String explain(Throwable error) {
        return switch (this) {
            case NO_TLS ->
                "it does not speak TLS. A device that speaks plain MQTT needs a --listen mqtt://… of its own";
            case NO_CERTIFICATE -> "it has shown no client certificate, which --tls-client-ca asks for";
            case CERTIFICATE ->
                "its client certificate is not accepted (" + Causes.innermost(error)
                        + "): it has to be valid and signed by a CA in --tls-client-ca";
            case DISTRUSTS_US ->
                "it does not accept our certificate (" + Causes.innermost(error)
                        + "): give it the CA that has signed --tls-cert, and check the certificate's date";
            case VERSION -> "it wants a TLS version other than 1.2 and 1.3 (" + Causes.innermost(error) + ")";
            case UNFINISHED ->
                "it had not finished the TLS handshake when --connect-deadline was over, or room was needed";
            case CLOSED -> "it closed the connection during the TLS handshake";
            case OTHER -> "TLS failed: " + Causes.innermost(error);
        };
    }
}
