package sqlstream.search;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import sqlstream.http.Client;

/**
 * A cluster of Elasticsearch or OpenSearch: each of its servers takes documents for all. There is one in a JVM for all
 * that say the same of it.
 */
final class Cluster {
    private static final Map<String, Cluster> KNOWN = new ConcurrentHashMap<>();
    private static final Logger LOG = LoggerFactory.getLogger(Cluster.class);
    private static final ObjectMapper JSON = new ObjectMapper();
    // Of each document what became of it, in their order.
    private static final String PATH = "/_bulk?filter_path=items.*.status,items.*.error,items.*._index";
    private static final int NO_ROOM = 429;

    private final List<URI> urls = new ArrayList<>();
    private final Client client;
    private final JsonNode settings;

    /** What may be otherwise when it is tried again. */
    private static final class Busy extends IOException {
        private static final long serialVersionUID = 1;

        Busy(String message, Throwable cause) {
            super(message, cause);
        }
    }

    private Cluster(JsonNode settings) throws IOException {
        this.settings = settings;
        settings.get("urls").forEach(url -> urls.add(URI.create(url.asText() + PATH)));
        client = new Client(settings, millis("connect_ms"));
    }

    /**
     * @param settings in JSON: urls, those of its servers; connect_ms and answer_ms, how long a connection and an
     *     answer may take; retries, delay_ms and grows: how often a document for which there is no room is sent again,
     *     after how long, and whether that doubles each time; ignores, whether a document that is refused is left out;
     *     authorization, the value of the header, where there is one; those of a {@link Client}
     */
    static Cluster of(String settings) throws IOException {
        Cluster known = KNOWN.get(settings);
        if (known == null) {
            known = new Cluster(JSON.readTree(settings));
            Cluster other = KNOWN.putIfAbsent(settings, known);
            known = other == null ? known : other;
        }
        return known;
    }

    private Duration millis(String name) {
        return Duration.ofMillis(settings.get(name).asLong());
    }

    /** Send what is to be done with documents, and return when all of it is done. */
    void send(List<byte[]> actions) throws IOException {
        List<byte[]> left = actions;
        long pause = settings.get("delay_ms").asLong();
        for (int number = 1; ; number++) {
            IOException met;
            try {
                left = sent(left);
                if (left.isEmpty()) {
                    return;
                }
                met = new Busy("The search server " + urls.get(0).getAuthority() + " has no room for a document", null);
            } catch (Busy busy) {
                met = busy;
            }
            if (number > settings.get("retries").asInt()) {
                throw met;
            }
            Client.pause(pause);
            pause = settings.get("grows").asBoolean() ? pause * 2 : pause;
        }
    }

    /** Send actions to the first server that takes them; those come back for which it has no room. */
    private List<byte[]> sent(List<byte[]> actions) throws IOException {
        int first = ThreadLocalRandom.current().nextInt(urls.size());
        Busy met = null;
        for (int i = 0; i < urls.size(); i++) {
            URI url = urls.get((first + i) % urls.size());
            try {
                return left(url, actions, items(url, actions));
            } catch (Busy busy) {
                met = busy;
            }
        }
        throw met;
    }

    private JsonNode items(URI url, List<byte[]> actions) throws IOException {
        // Not every proxy takes a body whose length it is not told.
        long length = actions.stream().mapToLong(action -> action.length).sum();
        HttpRequest.Builder request = HttpRequest.newBuilder(url)
                .timeout(millis("answer_ms"))
                .header("Content-Type", "application/x-ndjson")
                .POST(BodyPublishers.fromPublisher(BodyPublishers.ofByteArrays(actions), length));
        if (settings.has("authorization")) {
            request.header("Authorization", settings.get("authorization").asText());
        }
        HttpResponse<String> response;
        try {
            response = client.answer(request.build());
        } catch (IOException away) {
            if (Thread.currentThread().isInterrupted()) {
                throw away;
            }
            String why = away.getMessage() == null ? away.getClass().getSimpleName() : away.getMessage();
            throw new Busy("The search server " + url.getAuthority() + " does not answer: " + why, away);
        }
        int status = response.statusCode();
        JsonNode answer = parsed(response.body());
        if (status == 200 && answer.path("items").isArray()) {
            return answer.get("items");
        }
        String said = "The search server " + url.getAuthority() + " answers " + status + ": "
                + (answer.has("error")
                        ? reason(answer.get("error"))
                        : response.body().strip());
        throw status == NO_ROOM || status >= 500 ? new Busy(said, null) : new IOException(said);
    }

    private static JsonNode parsed(String body) {
        try {
            return JSON.readTree(body);
        } catch (JsonProcessingException other) {
            return JSON.createObjectNode();
        }
    }

    /** Of {@code actions} those for which there was no room, by what became of each. */
    private List<byte[]> left(URI url, List<byte[]> actions, JsonNode items) throws IOException {
        if (items.size() != actions.size()) {
            throw new IOException("The search server " + url.getAuthority() + " answers for " + items.size() + " of "
                    + actions.size() + " documents");
        }
        List<byte[]> left = new ArrayList<>();
        int ignored = 0;
        for (int i = 0; i < actions.size(); i++) {
            JsonNode item = items.get(i).elements().next();
            if (!item.has("error")) {
                continue;
            }
            if (item.path("status").asInt() == NO_ROOM) {
                left.add(actions.get(i));
                continue;
            }
            String refusal =
                    "The index '" + item.path("_index").asText() + "' refuses a document: " + reason(item.get("error"));
            if (!settings.get("ignores").asBoolean()) {
                throw new IOException(refusal);
            }
            if (ignored++ == 0) {
                LOG.warn("Left out: {}", refusal);
            }
        }
        if (ignored > 1) {
            LOG.warn("{} documents of {} were left out", ignored, actions.size());
        }
        return left;
    }

    /** What is behind an error. */
    private static String reason(JsonNode error) {
        if (!error.isObject()) {
            return error.asText();
        }
        String reason =
                error.path("type").asText() + ": " + error.path("reason").asText();
        return error.has("caused_by")
                ? reason + " (" + error.get("caused_by").path("reason").asText() + ")"
                : reason;
    }
}
