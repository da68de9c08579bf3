package sqlstream.formats;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import sqlstream.http.Client;

/**
 * A schema registry with Confluent's interface. What it has said once of a schema holds for ever, so each is asked for
 * once in a JVM.
 */
final class SchemaRegistry {
    private static final Map<String, SchemaRegistry> KNOWN = new ConcurrentHashMap<>();
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String MEDIA_TYPE = "application/vnd.schemaregistry.v1+json";
    static final String TEXT = "";
    /** Of Protobuf: a FileDescriptorProto in Base64. */
    static final String SERIALIZED = "?format=serialized";

    private static final Duration ANSWERED = Duration.ofSeconds(30);
    /** How long a registry is waited for that does not answer: one that has answered before, and another. */
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private static final Duration FIRST_PATIENCE = Duration.ofSeconds(5);
    private static final long LONGEST_PAUSE_MS = 5_000;

    private final JsonNode settings;
    private final List<String> urls = new ArrayList<>();
    private final Map<Integer, JsonNode> schemas = new ConcurrentHashMap<>();
    private final Map<List<String>, Integer> ids = new ConcurrentHashMap<>();
    private final Client client;
    private volatile boolean reached;

    /** What a registry answers that is not what it was asked for. */
    static final class Refused extends IOException {
        private static final long serialVersionUID = 1;
        final int status;

        Refused(String message, int status) {
            super(message);
            this.status = status;
        }
    }

    private SchemaRegistry(JsonNode settings) throws IOException {
        this.settings = settings;
        settings.get("urls").forEach(url -> urls.add(url.asText()));
        client = new Client(settings, FIRST_PATIENCE);
    }

    /**
     * @param settings in JSON: urls, a list; where there are such, authorization, the value of the header; truststore
     *     and keystore, each with a location, a password and a type; proxy, with a host and a port
     */
    static SchemaRegistry of(String settings) throws IOException {
        SchemaRegistry known = KNOWN.get(settings);
        if (known == null) {
            known = new SchemaRegistry(JSON.readTree(settings));
            SchemaRegistry other = KNOWN.putIfAbsent(settings, known);
            known = other == null ? known : other;
        }
        return known;
    }

    /**
     * The schema with a number, as {@code {"schema": text, "schemaType": .., "references": [{"name": .., "subject": ..,
     * "version": ..}]}}. Throws Refused where there is none.
     *
     * @param form how it is written, TEXT or SERIALIZED: a schema is asked for in one form only
     */
    JsonNode schema(int id, String form) throws IOException {
        JsonNode known = schemas.get(id);
        if (known == null) {
            known = asked("/schemas/ids/" + id + form, null);
            schemas.put(id, known);
        }
        return known;
    }

    /** A schema that another one refers to. */
    JsonNode version(String subject, int version, String form) throws IOException {
        return asked("/subjects/" + encoded(subject) + "/versions/" + version + form, null);
    }

    /** The number of a schema of a subject, which gets it where it has it not. */
    int register(String subject, String schema, String type) throws IOException {
        List<String> key = List.of(subject, schema, type);
        Integer known = ids.get(key);
        if (known == null) {
            ObjectNode body = JSON.createObjectNode().put("schema", schema);
            if (!type.equals("AVRO")) {
                body.put("schemaType", type);
            }
            known = asked("/subjects/" + encoded(subject) + "/versions", body.toString())
                    .get("id")
                    .asInt();
            ids.put(key, known);
        }
        return known;
    }

    private static String encoded(String subject) {
        return URLEncoder.encode(subject, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** The answer to a request, which is repeated as long as no server is there to answer it. */
    private JsonNode asked(String path, String body) throws IOException {
        long end = System.nanoTime() + (reached ? PATIENCE : FIRST_PATIENCE).toNanos();
        for (long pause = 100; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
            IOException last = null;
            for (String url : urls) {
                try {
                    JsonNode answer = answer(url, path, body);
                    reached = true;
                    return answer;
                } catch (Refused refused) {
                    if (refused.status < 500 && refused.status != 429) {
                        throw refused;
                    }
                    last = refused;
                } catch (IOException away) {
                    String why = away.getMessage() == null ? away.getClass().getSimpleName() : away.getMessage();
                    last = new IOException("The schema registry " + url + " does not answer: " + why, away);
                }
            }
            if (System.nanoTime() > end) {
                throw last;
            }
            Client.pause(pause);
        }
    }

    private JsonNode answer(String url, String path, String body) throws IOException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path))
                .timeout(ANSWERED)
                .header("Accept", MEDIA_TYPE + ", application/json");
        if (settings.has("authorization")) {
            request.header("Authorization", settings.get("authorization").asText());
        }
        if (body != null) {
            request.header("Content-Type", MEDIA_TYPE).POST(HttpRequest.BodyPublishers.ofString(body));
        }
        HttpResponse<String> response = client.answer(request.build());
        if (response.statusCode() == 200) {
            return JSON.readTree(response.body());
        }
        throw new Refused(
                "The schema registry " + url + " answers " + response.statusCode() + ": " + said(response.body()),
                response.statusCode());
    }

    /** The message in an answer, which has one where the registry itself has made it. */
    private static String said(String body) {
        try {
            JsonNode message = JSON.readTree(body).path("message");
            return message.isTextual() ? message.asText() : body;
        } catch (IOException other) {
            return body;
        }
    }
}
