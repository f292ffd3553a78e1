package io.holdfast.proxy.tls;

import io.netty.util.NetUtil;
import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;
import org.agrona.concurrent.EpochClock;

/**
 * Checks the broker's certificate: what the JDK checks (the chain, and with the engine's "HTTPS" the host name, RFC 2818),
 * but without its fallback to the subject's CN where there is no Subject Alternative Name (RFC 9525 §6.3); and says in words
 * what is wrong. Any thread.
 */
final class BrokerCertificateCheck extends X509ExtendedTrustManager {
    private static final int DNS_NAME = 2;
    private static final int IP_ADDRESS = 7;

    private final X509ExtendedTrustManager jdk;
    private final String host;
    private final String trusted;
    private final EpochClock clock;

    /** Checks for {@code host} what {@code jdk} trusts; {@code trusted} says in messages what that is. */
    BrokerCertificateCheck(X509ExtendedTrustManager jdk, String host, String trusted, EpochClock clock) {
        this.jdk = jdk;
        this.host = host;
        this.trusted = trusted;
        this.clock = clock;
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        try {
            jdk.checkServerTrusted(chain, authType, engine);
        } catch (CertificateException e) {
            throw explain(chain, authType, e);
        }
        boolean isAddress = NetUtil.isValidIpV4Address(host) || NetUtil.isValidIpV6Address(host);
        if (names(chain[0], isAddress ? IP_ADDRESS : DNS_NAME).isEmpty()) {
            throw wrongHost(chain[0]);
        }
    }

    private CertificateException explain(X509Certificate[] chain, String authType, CertificateException error) {
        Instant now = Instant.ofEpochMilli(clock.time());
        for (int i = 0; i < chain.length; i++) {
            X509Certificate certificate = chain[i];
            String whose = i == 0 ? "its certificate" : "the CA " + TlsIdentity.name(certificate);
            if (now.isAfter(certificate.getNotAfter().toInstant())) {
                return new BrokerCertificateException(
                        BrokerTlsFailure.EXPIRED,
                        whose + " expired on " + certificate.getNotAfter().toInstant() + ": renew it at the broker");
            }
            if (now.isBefore(certificate.getNotBefore().toInstant())) {
                return new BrokerCertificateException(
                        BrokerTlsFailure.EXPIRED,
                        whose + " is not valid before "
                                + certificate.getNotBefore().toInstant() + ": is our clock right?");
            }
        }
        try {
            jdk.checkServerTrusted(chain, authType);
        } catch (CertificateException e) {
            return untrusted(chain, e);
        }
        // Trusted, but not for this engine: what is left is the name.
        boolean hasNoName = names(chain[0], DNS_NAME).isEmpty()
                && names(chain[0], IP_ADDRESS).isEmpty();
        return hasNoName || isNameError(error)
                ? wrongHost(chain[0])
                : new BrokerCertificateException(
                        BrokerTlsFailure.OTHER, "its certificate is not accepted: " + Causes.innermost(error));
    }

    private static boolean isNameError(CertificateException error) {
        return error.getCause() == null; // the JDK's other errors come from its path validation
    }

    private CertificateException untrusted(X509Certificate[] chain, CertificateException error) {
        X509Certificate top = chain[chain.length - 1];
        boolean selfSigned = chain.length == 1 && top.getSubjectX500Principal().equals(top.getIssuerX500Principal());
        String issuer = "'" + top.getIssuerX500Principal().getName() + "'";
        return new BrokerCertificateException(
                BrokerTlsFailure.UNTRUSTED,
                selfSigned
                        ? "its certificate is signed by itself only, and is not in " + trusted + ": add it there, or"
                                + " let a CA sign it"
                        : "its certificate is signed by " + issuer + ", and that is nobody in " + trusted + " ("
                                + Causes.innermost(error) + "): give the broker's CA with --upstream-ca");
    }

    private CertificateException wrongHost(X509Certificate certificate) {
        List<String> names = new ArrayList<>(names(certificate, DNS_NAME));
        names.addAll(names(certificate, IP_ADDRESS));
        String has = names.isEmpty()
                ? "its certificate has no Subject Alternative Name, only the subject " + TlsIdentity.name(certificate)
                        + ", which does not count"
                : "its certificate is for '" + String.join("', '", names) + "', not for '" + host + "'";
        return new BrokerCertificateException(
                BrokerTlsFailure.WRONG_HOST,
                has + ": use one of the certificate's names in --upstream, or give the broker a certificate with the"
                        + " Subject Alternative Name '" + host + "'");
    }

    private static List<String> names(X509Certificate certificate, int kind) {
        List<String> names = new ArrayList<>();
        try {
            Collection<List<?>> all = certificate.getSubjectAlternativeNames();
            for (List<?> name : all == null ? List.<List<?>>of() : all) {
                if (name.get(0).equals(kind)) {
                    names.add((String) name.get(1));
                }
            }
        } catch (CertificateParsingException e) {
            return List.of(); // counts as none
        }
        return names;
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        throw new CertificateException("only for engines: the host name would not be checked");
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        throw new CertificateException("only for engines: the host name would not be checked");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        throw new CertificateException("for servers only");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        throw new CertificateException("for servers only");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        throw new CertificateException("for servers only");
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return jdk.getAcceptedIssuers();
    }
}
