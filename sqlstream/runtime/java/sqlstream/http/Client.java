package sqlstream.http;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** What asks servers by HTTP: Java's own client, with what a table's options say of certificates and proxies. */
public final class Client {
    private final HttpClient client;

    /**
     * @param settings where there are such: truststore and keystore, each with a location, a password and a type;
     *     trusted, the SHA-256 of the certificate that is trusted, in hexadecimal, or {@code *} for any; proxy, with a
     *     host and a port
     * @param connecting how long a connection may take to be made
     */
    public Client(JsonNode settings, Duration connecting) throws IOException {
        HttpClient.Builder builder = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NORMAL)
                .connectTimeout(connecting);
        try {
            if (settings.has("truststore") || settings.has("keystore") || settings.has("trusted")) {
                builder.sslContext(secured(settings));
            }
        } catch (GeneralSecurityException unusable) {
            throw new IOException("The stores of 'ssl' can't be used: " + unusable.getMessage(), unusable);
        }
        if (settings.has("proxy")) {
            JsonNode proxy = settings.get("proxy");
            builder.proxy(ProxySelector.of(new InetSocketAddress(
                    proxy.get("host").asText(), proxy.get("port").asInt())));
        }
        client = builder.build();
    }

    /** The answer to a request. */
    public HttpResponse<String> answer(HttpRequest request) throws IOException {
        try {
            return client.send(request, HttpResponse.BodyHandlers.ofString());
        } catch (InterruptedException interrupted) {
            throw stopped(interrupted);
        }
    }

    /** Wait before something is asked for again. */
    public static void pause(long millis) throws IOException {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException interrupted) {
            throw stopped(interrupted);
        }
    }

    private static IOException stopped(InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        return new IOException("stopped while a server was asked", interrupted);
    }

    private static SSLContext secured(JsonNode settings) throws IOException, GeneralSecurityException {
        TrustManager[] trusted = null;
        KeyManager[] keys = null;
        if (settings.has("trusted")) {
            trusted = new TrustManager[] {
                new ByFingerprint(settings.get("trusted").asText())
            };
        } else if (settings.has("truststore")) {
            TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init(store(settings.get("truststore")));
            trusted = factory.getTrustManagers();
        }
        if (settings.has("keystore")) {
            KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            JsonNode described = settings.get("keystore");
            String password = described
                    .path("key_password")
                    .asText(described.path("password").asText(""));
            factory.init(store(described), password.toCharArray());
            keys = factory.getKeyManagers();
        }
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys, trusted, null);
        return context;
    }

    private static KeyStore store(JsonNode described) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance(described.path("type").asText("JKS"));
        try (InputStream file =
                Files.newInputStream(Path.of(described.get("location").asText()))) {
            JsonNode password = described.path("password");
            store.load(file, password.isTextual() ? password.asText().toCharArray() : null);
        }
        return store;
    }
}
