package io.holdfast.proxy.tls;

import java.security.cert.CertificateException;

/** The broker's certificate is not accepted, and why in words. */
final class BrokerCertificateException extends CertificateException {
    private static final long serialVersionUID = 1L;

    private final BrokerTlsFailure failure;

    BrokerCertificateException(BrokerTlsFailure failure, String message) {
        super(message);
        this.failure = failure;
    }

    BrokerTlsFailure failure() {
        return failure;
    }
}
