package sqlstream.checkpoints;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import sqlstream.catalyst.SparkCalls;

/**
 * A file of a checkpoint's commits: that a micro-batch was completed. In version 2 it says which of the files of a
 * state are meant, by an id for each store in each partition: where a micro-batch is begun again, there are others.
 */
final class Commit {
    /** The ids of one store, by partition; none in version 1. */
    record Ids(Map<Integer, String> byPartition) implements Serializable {
        static final Ids NONE = new Ids(Map.of());
    }

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String IDS = "stateUniqueIds";

    private final ObjectNode said;

    private Commit(ObjectNode said) {
        this.said = said;
    }

    /** That of {@code batch}; of one that has none the watermark with which it began goes on. */
    static Commit read(Place place, long batch, JsonNode metadata) throws IOException {
        if (place.exists("commits/" + batch)) {
            String text = place.read("commits/" + batch);
            return new Commit((ObjectNode) JSON.readTree(text.substring(text.indexOf('\n') + 1)));
        }
        ObjectNode said = JSON.createObjectNode();
        said.put("nextBatchWatermarkMs", metadata.get("batchWatermarkMs").asLong());
        return new Commit(said);
    }

    /** Whether states are known by ids. */
    boolean identifies() {
        return said.hasNonNull(IDS);
    }

    /** Those of the store in this place among those of {@code operator}. */
    Ids ids(long operator, int store) {
        Ids found = new Ids(new TreeMap<>());
        JsonNode partitions = said.path(IDS).path(Long.toString(operator));
        for (int i = 0; i < partitions.size(); i++) {
            String id = partitions.get(i).path(store).asText("");
            if (!id.isEmpty()) {
                found.byPartition.put(i, id);
            }
        }
        return found;
    }

    /** The same with the states that were written for it: of each operator the stores, in order. */
    String text(Map<Long, List<Ids>> states) throws IOException {
        ObjectNode told = said.deepCopy();
        told.remove(IDS);
        boolean identified = states.values().stream().flatMap(List::stream).anyMatch(ids -> !ids.byPartition.isEmpty());
        // Of a query without state none are, and real time asks for the version all the same.
        if (!identified && !(states.isEmpty() && SparkCalls.namedOffsets())) {
            return "v1\n" + JSON.writeValueAsString(told);
        }
        ObjectNode operators = told.putObject(IDS);
        for (Map.Entry<Long, List<Ids>> operator : states.entrySet()) {
            ArrayNode partitions = operators.putArray(Long.toString(operator.getKey()));
            int last = operator.getValue().stream()
                    .flatMap(ids -> ids.byPartition.keySet().stream())
                    .max(Integer::compare)
                    .orElse(-1);
            for (int i = 0; i <= last; i++) {
                ArrayNode stores = partitions.addArray();
                for (Ids ids : operator.getValue()) {
                    stores.add(ids.byPartition.get(i));
                }
            }
        }
        return "v2\n" + JSON.writeValueAsString(told);
    }
}
