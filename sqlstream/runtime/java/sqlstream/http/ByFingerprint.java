package sqlstream.http;

import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.HexFormat;
import java.util.Locale;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/** Trusts a server one of whose certificates has a SHA-256, or any server, whatever its name is. */
final class ByFingerprint extends X509ExtendedTrustManager {
    private static final String ANY = "*";

    private final String fingerprint;

    /** {@code fingerprint}: hexadecimal, with or without colons, or {@code *}. */
    ByFingerprint(String fingerprint) {
        this.fingerprint = fingerprint.replace(":", "").toLowerCase(Locale.ROOT);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
        if (fingerprint.equals(ANY)) {
            return;
        }
        try {
            for (X509Certificate certificate : chain) {
                byte[] digest = MessageDigest.getInstance("SHA-256").digest(certificate.getEncoded());
                if (HexFormat.of().formatHex(digest).equals(fingerprint)) {
                    return;
                }
            }
        } catch (GeneralSecurityException unusable) {
            throw new CertificateException(unusable);
        }
        throw new CertificateException("none of the server's certificates has the fingerprint " + fingerprint);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) throws CertificateException {
        checkServerTrusted(chain, type);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) throws CertificateException {
        checkServerTrusted(chain, type);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
        throw new CertificateException("no server");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) throws CertificateException {
        checkClientTrusted(chain, type);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) throws CertificateException {
        checkClientTrusted(chain, type);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return new X509Certificate[0];
    }
}
