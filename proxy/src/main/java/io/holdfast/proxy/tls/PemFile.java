package io.holdfast.proxy.tls;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A file that a flag names, with certificates or a private key in PEM (RFC 7468). Every error is an {@link IOException}
 * that names the flag and the file and says what to do. Reads the disk: not for event loops.
 *
 * @param flag the flag that named it
 * @param path the file
 */
record PemFile(String flag, Path path) {
    private static final long MOST_BYTES = 16 << 20; // a bundle of all public CAs has a quarter of a MiB
    private static final Pattern BLOCK =
            Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \\1-----", Pattern.DOTALL);
    private static final int DER_SEQUENCE = 0x30;
    private static final int DER_OCTET_STRING = 0x04;
    private static final byte[] PKCS8_VERSION = {0x02, 0x01, 0x00};

    /** All certificates of the file in their order, at least one. */
    List<X509Certificate> certificates() throws IOException {
        List<X509Certificate> certificates = new ArrayList<>();
        Matcher blocks = BLOCK.matcher(read());
        while (blocks.find()) {
            if (blocks.group(1).equals("CERTIFICATE") || blocks.group(1).equals("TRUSTED CERTIFICATE")) {
                certificates.add(certificate(decode(blocks.group(2))));
            }
        }
        if (certificates.isEmpty()) {
            throw error("holds no certificate in PEM ('-----BEGIN CERTIFICATE-----'). If it is in DER, convert it: "
                    + "openssl x509 -inform der -in " + path + " -out NEW");
        }
        return certificates;
    }

    private X509Certificate certificate(byte[] der) throws IOException {
        try {
            return (X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
        } catch (CertificateException e) {
            throw error("holds a damaged certificate: " + e.getMessage());
        }
    }

    /** The private key of the file, which is of the kind of {@code publicKey}; whether it fits is not checked. */
    PrivateKey privateKey(PublicKey publicKey) throws IOException {
        Matcher blocks = BLOCK.matcher(read());
        while (blocks.find()) {
            String label = blocks.group(1);
            if (label.equals("ENCRYPTED PRIVATE KEY") || blocks.group(2).contains("ENCRYPTED")) {
                throw error("is encrypted, and the proxy asks for no pass phrase. Decrypt it, and protect the file by"
                        + " its permissions: openssl pkey -in " + path + " -out NEW");
            }
            if (label.endsWith("PRIVATE KEY")) {
                byte[] der = decode(blocks.group(2));
                return privateKey(label.equals("PRIVATE KEY") ? der : pkcs8(der, publicKey), publicKey.getAlgorithm());
            }
        }
        throw error("holds no private key in PEM ('-----BEGIN PRIVATE KEY-----'). If it is in DER, convert it: "
                + "openssl pkey -inform der -in " + path + " -out NEW");
    }

    private PrivateKey privateKey(byte[] pkcs8, String algorithm) throws IOException {
        try {
            return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
        } catch (GeneralSecurityException e) {
            throw error("holds no " + algorithm + " key, as the certificate has, or is damaged: give the key that the"
                    + " certificate was made for");
        }
    }

    /**
     * The older forms of RSA (PKCS #1) and EC keys (SEC 1) are what PKCS #8 wraps, together with the kind of key; that
     * stands in front of the public key in just the same form.
     */
    private static byte[] pkcs8(byte[] key, PublicKey publicKey) {
        byte[] spki = publicKey.getEncoded();
        int algorithmAt = 1 + lengthBytes(spki, 1);
        int algorithmEnd = algorithmAt + 1 + lengthBytes(spki, algorithmAt + 1) + length(spki, algorithmAt + 1);
        byte[] algorithm = Arrays.copyOfRange(spki, algorithmAt, algorithmEnd);
        return der(DER_SEQUENCE, PKCS8_VERSION, algorithm, der(DER_OCTET_STRING, key));
    }

    private static int lengthBytes(byte[] der, int at) {
        return der[at] >= 0 ? 1 : 1 + (der[at] & 0x7f);
    }

    private static int length(byte[] der, int at) {
        int length = der[at] >= 0 ? der[at] : 0;
        for (int i = 1; i < lengthBytes(der, at); i++) {
            length = length << 8 | (der[at + i] & 0xff);
        }
        return length;
    }

    private static byte[] der(int tag, byte[]... parts) {
        int length = 0;
        for (byte[] part : parts) {
            length += part.length;
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(tag);
        if (length >= 0x100) {
            out.write(0x82);
            out.write(length >> 8);
        } else if (length >= 0x80) {
            out.write(0x81);
        }
        out.write(length);
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }

    /** Skips what is no base64: a damaged key or certificate is told by what follows. */
    private static byte[] decode(String base64) {
        return Base64.getMimeDecoder().decode(base64);
    }

    private String read() throws IOException {
        try {
            if (Files.size(path) > MOST_BYTES) {
                throw error("is larger than " + MOST_BYTES + " bytes: this is no PEM file");
            }
            return Files.readString(path, StandardCharsets.ISO_8859_1);
        } catch (NoSuchFileException e) {
            throw error("does not exist");
        } catch (AccessDeniedException e) {
            throw error("may not be read by this user");
        } catch (IOException e) {
            throw e.getMessage() != null && e.getMessage().startsWith(flag)
                    ? e
                    : error("cannot be read: " + e.getMessage());
        }
    }

    IOException error(String what) {
        return new IOException(flag + ": " + path + " " + what);
    }
}
