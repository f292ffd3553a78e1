package io.holdfast.proxy.tls;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import org.agrona.concurrent.EpochClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Who we are: a certificate, those of the authorities between it and the root, and the private key that fits. */
record TlsIdentity(PrivateKey key, List<X509Certificate> chain) {
    private static final Logger LOG = LoggerFactory.getLogger(TlsIdentity.class);
    private static final byte[] PROBE = {'h', 'o', 'l', 'd', 'f', 'a', 's', 't'};

    /**
     * Reads both files. A certificate that is not valid now is only warned about: the peer decides.
     *
     * @throws IOException naming the flag and the file, and what to do.
     */
    static TlsIdentity load(PemFile certificateFile, PemFile keyFile, EpochClock clock) throws IOException {
        List<X509Certificate> chain = certificateFile.certificates();
        X509Certificate own = chain.get(0);
        PrivateKey key = keyFile.privateKey(own.getPublicKey());
        if (!fits(key, own.getPublicKey(), keyFile)) {
            throw keyFile.error("does not fit the certificate of " + name(own) + " in " + certificateFile.flag() + " "
                    + certificateFile.path() + ": give the key that it was made for; in the file, the proxy's own"
                    + " certificate comes first");
        }
        Instant now = Instant.ofEpochMilli(clock.time());
        if (now.isAfter(own.getNotAfter().toInstant())) {
            warn(certificateFile, own, "expired on", own.getNotAfter());
        } else if (now.isBefore(own.getNotBefore().toInstant())) {
            warn(certificateFile, own, "is not valid before", own.getNotBefore());
        }
        return new TlsIdentity(key, List.copyOf(chain));
    }

    private static void warn(PemFile file, X509Certificate own, String what, Date date) {
        LOG.warn(
                "{}: the certificate of {} in {} {} {}: most peers will refuse it. Replace the file (it is read again when"
                        + " it changes), or set the clock right",
                file.flag(),
                name(own),
                file.path(),
                what,
                date.toInstant());
    }

    private static boolean fits(PrivateKey key, PublicKey publicKey, PemFile keyFile) throws IOException {
        String algorithm = switch (publicKey.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default ->
                throw keyFile.error(
                        "is for a " + publicKey.getAlgorithm() + " certificate: make one with an RSA or EC key");
        };
        try {
            Signature signer = Signature.getInstance(algorithm);
            signer.initSign(key);
            signer.update(PROBE);
            byte[] signature = signer.sign();
            signer.initVerify(publicKey);
            signer.update(PROBE);
            return signer.verify(signature);
        } catch (GeneralSecurityException e) {
            return false;
        }
    }

    static String name(X509Certificate certificate) {
        return "'" + certificate.getSubjectX500Principal().getName() + "'";
    }
}
