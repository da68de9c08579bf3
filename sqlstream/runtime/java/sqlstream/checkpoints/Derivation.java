package sqlstream.checkpoints;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqMetadata;
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreSaveExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreWriter;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec;
import org.apache.spark.sql.execution.streaming.state.OperatorStateMetadata;
import org.apache.spark.sql.execution.streaming.state.OperatorStateMetadataReader;
import org.apache.spark.sql.execution.streaming.state.StateStoreConf;
import org.apache.spark.sql.execution.streaming.state.StateStoreMetadata;
import org.apache.spark.sql.internal.SQLConf;
import sqlstream.catalyst.Scala;
import sqlstream.catalyst.SparkCalls;
import sqlstream.state.KeyedOperator;
import sqlstream.state.StateSchema;

/**
 * A new checkpoint made from that of another query: its own id, and one micro-batch, which is committed: all that the
 * other had done. States of operators are copied into version 1, whatever the folders, numbers of operators and numbers
 * of partitions were.
 */
public final class Derivation {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String PARTITIONS = "spark.sql.shuffle.partitions";
    // Before the first offset of a source of topics, in its own file.
    private static final String BEGUN = "\0v1\n";

    private final SparkSession session;
    private final Place old;
    private final Place fresh;
    private final long batch;
    private final JsonNode mapping;

    private Derivation(SparkSession session, String old, long batch, String fresh, JsonNode mapping)
            throws IOException {
        Configuration hadoop = session.sessionState().newHadoopConf();
        this.session = session;
        this.old = new Place(old, hadoop);
        this.fresh = new Place(fresh, hadoop);
        this.batch = batch;
        this.mapping = mapping;
    }

    /**
     * What the logs of the checkpoint in {@code place} say: the query's id, the last micro-batch begun and the last
     * committed, -1 for none.
     */
    public static List<Object> standing(org.apache.spark.sql.SparkSession session, String place) throws IOException {
        Place at = new Place(place, ((SparkSession) session).sessionState().newHadoopConf());
        String id = at.exists("metadata")
                ? JSON.readTree(at.read("metadata")).path("id").asText()
                : "";
        return List.of(id, last(at.numbers("offsets")), last(at.numbers("commits")));
    }

    private static long last(List<Long> numbers) {
        return numbers.isEmpty() ? -1 : numbers.get(numbers.size() - 1);
    }

    /**
     * Makes the checkpoint {@code fresh} from {@code old} as it was after the micro-batch {@code batch}, -1 for none.
     *
     * @param mapping JSON with, each where it is not as in the old one: {@code sources}, in their order, each with its
     *     name, that of the old one ({@code from}), that one's place ({@code index}), its offset, and the folders below
     *     which its files were and are ({@code moved}); {@code operators}, each new number with the old one, or null;
     *     {@code partitions}
     * @param frame the rows of the query that goes on with it; null where it is the same as the old one
     * @param mode that query's output mode
     */
    public static void derive(
            org.apache.spark.sql.SparkSession session,
            String old,
            long batch,
            String fresh,
            String mapping,
            Dataset<Row> frame,
            String mode)
            throws IOException {
        new Derivation((SparkSession) session, old, batch, fresh, JSON.readTree(mapping)).run(frame, mode);
    }

    private void run(Dataset<Row> frame, String mode) throws IOException {
        fresh.clear();
        sources();
        if (batch >= 0) {
            Offsets offsets = Offsets.read(old, batch);
            ObjectNode metadata = offsets.metadata;
            ObjectNode conf = (ObjectNode) metadata.get("conf");
            int before = conf.get(PARTITIONS).asInt();
            if (mapping.hasNonNull("partitions")) {
                conf.put(PARTITIONS, mapping.get("partitions").asText());
            }
            int after = conf.get(PARTITIONS).asInt();
            // Spark finds what a state is by the offsets.
            fresh.write("offsets/0", offsets(offsets));
            Commit commit = Commit.read(old, batch, metadata);
            fresh.write("commits/0", commit.text(states(frame, mode, metadata, commit, before, after)));
        }
        // Last: without it there is no checkpoint here.
        fresh.write(
                "metadata",
                JSON.writeValueAsString(Map.of("id", UUID.randomUUID().toString())));
    }

    private void sources() throws IOException {
        if (!mapping.hasNonNull("sources")) {
            old.copy("sources", fresh, "sources");
            return;
        }
        for (JsonNode source : mapping.get("sources")) {
            if (!source.hasNonNull("from")) {
                continue;
            }
            String from = "sources/" + source.get("from").asText();
            String to = "sources/" + source.get("name").asText();
            boolean changed = source.hasNonNull("offset") || source.hasNonNull("positions");
            if (batch < 0 && changed && old.exists(from + "/0")) {
                fresh.write(
                        to + "/0", BEGUN + offset(source, old.read(from + "/0").replace(BEGUN, "")));
            } else if (source.hasNonNull("moved")) {
                listed(from, to, source.get("moved"));
            } else if (!source.hasNonNull("offset")) {
                old.copy(from, fresh, to);
            }
        }
    }

    /** Copies the lists of the files that a source has read, which are elsewhere now. */
    private void listed(String from, String to, JsonNode moved) throws IOException {
        String before = uri(moved.get(0)) + "/";
        String after = uri(moved.get(1)) + "/";
        for (String name : old.names(from)) {
            // What is hidden is the checksum of another.
            if (!name.startsWith(".")) {
                List<String> lines = new ArrayList<>();
                for (String line : old.read(from + "/" + name).split("\n", -1)) {
                    lines.add(line.startsWith("{") ? listed((ObjectNode) JSON.readTree(line), before, after) : line);
                }
                fresh.write(to + "/" + name, String.join("\n", lines));
            }
        }
    }

    private static String listed(ObjectNode file, String before, String after) throws IOException {
        String path = file.path("path").asText();
        if (path.startsWith(before)) {
            file.put("path", after + path.substring(before.length()));
        }
        return JSON.writeValueAsString(file);
    }

    /** As Spark writes the paths of files: encoded. */
    private static String uri(JsonNode folder) {
        return new Path(folder.asText()).toUri().toString();
    }

    private String offsets(Offsets before) throws IOException {
        if (!mapping.hasNonNull("sources")) {
            return before.text();
        }
        List<String> names = new ArrayList<>();
        List<String> offsets = new ArrayList<>();
        for (JsonNode source : mapping.get("sources")) {
            names.add(source.get("name").asText());
            String from = source.path("from").asText("");
            String was = from.isEmpty()
                    ? Offsets.NONE
                    : before.of(from, source.get("index").asInt());
            offsets.add(offset(source, was));
        }
        return before.text(names, offsets);
    }

    /** From where a source is read that was read up to {@code before}. */
    private static String offset(JsonNode source, String before) throws IOException {
        String offset = source.hasNonNull("offset") ? source.get("offset").asText() : before;
        return source.hasNonNull("positions") ? moved(offset, source.get("positions")) : offset;
    }

    /** The offsets of a source of topics, of which some are read from elsewhere; null: from where they were. */
    private static String moved(String offset, JsonNode positions) throws IOException {
        ObjectNode topics = offset.equals(Offsets.NONE) ? JSON.createObjectNode() : (ObjectNode) JSON.readTree(offset);
        for (Map.Entry<String, JsonNode> topic : positions.properties()) {
            ObjectNode partitions = JSON.createObjectNode();
            for (Map.Entry<String, JsonNode> partition : topic.getValue().properties()) {
                JsonNode at = partition.getValue().isNull()
                        ? topics.path(topic.getKey()).get(partition.getKey())
                        : partition.getValue();
                if (at != null) {
                    partitions.set(partition.getKey(), at);
                }
            }
            topics.set(topic.getKey(), partitions);
        }
        return JSON.writeValueAsString(topics);
    }

    /** Writes the states; the ids of their stores, by operator. */
    private Map<Long, List<Commit.Ids>> states(
            Dataset<Row> frame, String mode, JsonNode metadata, Commit commit, int before, int after)
            throws IOException {
        Map<Long, List<Commit.Ids>> written = new TreeMap<>();
        Map<Long, OperatorStateMetadata> found = new LinkedHashMap<>();
        for (long operator : old.numbers("state")) {
            found.put(operator, metadata(old, operator, batch));
        }
        SparkPlan plan = null;
        if (frame == null) {
            for (long operator : found.keySet()) {
                describe(operator);
            }
        } else {
            plan = QueryRecord.prepare(
                    frame, mode, fresh.state(), OffsetSeqMetadata.apply(JSON.writeValueAsString(metadata)));
        }
        StateStoreConf was = conf(session, metadata, commit.identifies());
        StateStoreConf conf = conf(session, metadata, SparkCalls.namedOffsets());
        for (long operator : fresh.numbers("state")) {
            List<Commit.Ids> ids = new ArrayList<>();
            written.put(operator, ids);
            Long from = from(operator);
            OperatorStateMetadata to = metadata(fresh, operator, 0);
            if (from == null) {
                for (Store store : stores(fresh, to, conf)) {
                    ids.add(new StateCopy(session, null, store, batch + 1, null).fill(after));
                }
                continue;
            }
            OperatorStateMetadata source = found.get(from);
            if (source == null) {
                throw new IllegalStateException("There is no state of an operator " + from + " in " + old.path + ".");
            }
            layouts(from, operator);
            Map<String, Store> sources = new LinkedHashMap<>();
            List<Store> kept = stores(old, source, was);
            for (int i = 0; i < kept.size(); i++) {
                kept.get(i).versions(commit.ids(from, i));
                sources.put(kept.get(i).name, kept.get(i));
            }
            for (Store store : stores(fresh, to, conf)) {
                ids.add(new StateCopy(session, sources.get(store.name), store, batch + 1, columns(plan, operator))
                        .copy(partitions(from, before), before, after));
            }
        }
        return written;
    }

    /** How the values of an operator are made of those that were kept; null where they are the same. */
    private NewColumns columns(SparkPlan plan, long operator) {
        JsonNode places = mapping.path("columns").get(Long.toString(operator));
        if (places == null) {
            return null;
        }
        List<Integer> from = new ArrayList<>();
        places.forEach(place -> from.add(place.isNull() ? null : place.asInt()));
        InternalRow initial = initial(plan, operator);
        return new NewColumns(from, initial == null ? InternalRow.empty() : initial);
    }

    /** The values with which what an aggregate keeps begins; null where {@code plan} has no such operator. */
    private static InternalRow initial(SparkPlan plan, long operator) {
        if (plan instanceof StateStoreWriter writer
                && writer.stateInfo().isDefined()
                && writer.stateInfo().get().operatorId() == operator) {
            if (plan instanceof StateStoreSaveExec save) {
                return Columns.initial(save.child());
            }
            return plan instanceof TransformWithStateExec exec
                            && (Object) exec.statefulProcessor() instanceof KeyedOperator ours
                            && ours.aggregates() != null
                    ? Columns.initial(ours.aggregates())
                    : null;
        }
        for (SparkPlan child : Scala.list(plan.children())) {
            InternalRow found = initial(child, operator);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private Long from(long operator) {
        if (!mapping.hasNonNull("operators")) {
            return operator;
        }
        JsonNode from = mapping.get("operators").get(Long.toString(operator));
        return from == null || from.isNull() ? null : from.asLong();
    }

    /** The partitions that an operator has: where all rows are in one it has no others. */
    private List<Integer> partitions(long operator, int all) throws IOException {
        List<Long> there = old.numbers("state/" + operator);
        return there.stream().filter(n -> n < all).map(Long::intValue).toList();
    }

    static OperatorStateMetadata metadata(Place place, long operator, long batch) throws IOException {
        String folder = "state/" + operator;
        int version = place.exists(folder + "/_metadata/v2") ? 2 : 1;
        var read = OperatorStateMetadataReader.createReader(place.at(folder), place.hadoop, version, batch, false)
                .read();
        if (read.isEmpty()) {
            throw new IllegalStateException("The state in " + place.at(folder) + " says nothing of what it is.");
        }
        return read.get();
    }

    private List<Store> stores(Place place, OperatorStateMetadata metadata, StateStoreConf conf) {
        List<Store> stores = new ArrayList<>();
        for (StateStoreMetadata store : Scala.list(metadata.stateStoresMetadata())) {
            stores.add(new Store(place.state(), metadata, store, conf, place.hadoop));
        }
        return stores;
    }

    /** How the states of a checkpoint with this metadata are kept; {@code identified}: see {@link Commit}. */
    static StateStoreConf conf(SparkSession session, JsonNode metadata, boolean identified) throws IOException {
        SQLConf conf = session.sessionState().conf().clone();
        conf.setConfString("spark.sql.streaming.stateStore.checkpointFormatVersion", identified ? "2" : "1");
        OffsetSeqMetadata.setSessionConf(OffsetSeqMetadata.apply(JSON.writeValueAsString(metadata)), conf);
        return StateStoreConf.apply(conf);
    }

    /** Copies what stands beside a state, with the places that it names. */
    private void describe(long operator) throws IOException {
        String folder = "state/" + operator;
        old.copy(folder + "/_stateSchema", fresh, folder + "/_stateSchema");
        old.copy(folder + "/" + StateSchema.FILE, fresh, folder + "/" + StateSchema.FILE);
        old.copy(folder + "/0/_metadata", fresh, folder + "/0/_metadata");
        for (String store : old.names(folder + "/0")) {
            old.copy(folder + "/0/" + store + "/_metadata", fresh, folder + "/0/" + store + "/_metadata");
        }
        if (old.exists(folder + "/_metadata/metadata")) {
            fresh.write(folder + "/_metadata/metadata", described(old.read(folder + "/_metadata/metadata"), operator));
        }
        Long latest = null;
        for (long number : old.numbers(folder + "/_metadata/v2")) {
            latest = number <= batch ? Long.valueOf(number) : latest;
        }
        if (latest != null) {
            fresh.write(folder + "/_metadata/v2/0", described(old.read(folder + "/_metadata/v2/" + latest), operator));
        }
    }

    private String described(String text, long operator) throws IOException {
        int end = text.indexOf('\n');
        ObjectNode metadata = (ObjectNode) JSON.readTree(text.substring(end + 1));
        for (JsonNode each : metadata.get("stateStoreInfo")) {
            ObjectNode store = (ObjectNode) each;
            if (mapping.hasNonNull("partitions")) {
                store.put("numPartitions", mapping.get("partitions").asInt());
            }
            if (store.get("stateSchemaFilePaths") instanceof ArrayNode paths) {
                for (int i = 0; i < paths.size(); i++) {
                    Path path = new Path(paths.get(i).asText());
                    paths.set(
                            i,
                            JSON.getNodeFactory()
                                    .textNode(Place.schema(
                                                    fresh.state(),
                                                    operator,
                                                    store.get("storeName").asText(),
                                                    path)
                                            .toString()));
                }
            }
        }
        return text.substring(0, end + 1) + JSON.writeValueAsString(metadata);
    }

    /** The layouts that a state of ours began with go on, whatever the newest are. */
    private void layouts(long from, long to) throws IOException {
        String before = "state/" + from + "/" + StateSchema.FILE;
        String after = "state/" + to + "/" + StateSchema.FILE;
        if (old.exists(before) && fresh.exists(after)) {
            fresh.write(
                    after,
                    StateSchema.carried(
                            old.read(before),
                            fresh.read(after),
                            mapping.path("columns").has(Long.toString(to))));
        }
    }
}
