package sqlstream.checkpoints;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.streaming.HasStreamingSourceIdentifyingName;
import org.apache.spark.sql.catalyst.trees.TreeNodeTag;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqMetadata;
import org.apache.spark.sql.execution.streaming.operators.stateful.SessionWindowStateStoreSaveExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreSaveExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreWriter;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec;
import org.apache.spark.sql.streaming.OutputMode;
import scala.Option;
import sqlstream.catalyst.Scala;
import sqlstream.catalyst.SparkCalls;
import sqlstream.state.KeyedOperator;
import sqlstream.state.StateSchema;

/**
 * What a streaming query reads and keeps: its sources, and which of Spark's operators keeps the state of which node of
 * ours.
 */
public final class QueryRecord {
    private static final TreeNodeTag<String> NODE = new TreeNodeTag<>("sqlstream.node");
    /** Of the plan of all that a node gives. */
    private static final TreeNodeTag<String> WHOLE = new TreeNodeTag<>("sqlstream.whole");
    /** What Spark's optimizer makes anew, without marks. */
    private static final List<Class<? extends LogicalPlan>> MADE_ANEW = List.of(Aggregate.class, Join.class);

    private static final String OF = "of";

    private QueryRecord() {}

    /** Marks what Spark's plan of {@code frame} has above parts that are marked already: it is of {@code node}. */
    public static void mark(Dataset<Row> frame, String node) {
        LogicalPlan plan = ((org.apache.spark.sql.classic.Dataset<Row>) frame).logicalPlan();
        if (plan.getTagValue(NODE).isEmpty()) {
            plan.setTagValue(WHOLE, node);
        }
        mark(plan, node);
    }

    private static void mark(LogicalPlan plan, String node) {
        if (plan.getTagValue(NODE).isEmpty()) {
            plan.setTagValue(NODE, node);
            Scala.list(plan.children()).forEach(child -> mark(child, node));
        }
    }

    /**
     * The record of a query of {@code frame} as JSON: {@code sources}, the names in the order of its offsets, and
     * {@code operators}, those that keep state by their numbers. Nothing runs.
     *
     * @param mode append or update
     */
    public static String of(Dataset<Row> frame, String mode) throws JsonProcessingException {
        var dataset = (org.apache.spark.sql.classic.Dataset<Row>) frame;
        Map<String, Object> record = new LinkedHashMap<>();
        Set<String> sources = new LinkedHashSet<>();
        sources(dataset.logicalPlan(), sources);
        record.put("sources", List.copyOf(sources));
        SparkPlan plan = planned(dataset, mode, "unknown", new OffsetSeqMetadata(0, 0, noConf()), false);
        List<Map<String, Object>> operators = operators(plan, dataset.logicalPlan());
        describe(dataset, mode, operators);
        record.put("operators", operators);
        return new ObjectMapper().writeValueAsString(record);
    }

    /** Says of each operator what it keeps, as columns. */
    private static void describe(
            org.apache.spark.sql.classic.Dataset<Row> frame, String mode, List<Map<String, Object>> operators)
            throws JsonProcessingException {
        Map<String, LogicalPlan> wholes = new HashMap<>();
        wholes(frame.logicalPlan(), wholes);
        for (Map<String, Object> each : operators) {
            SparkPlan operator = (SparkPlan) each.remove("plan");
            LogicalPlan whole = each.get("part").equals(0) ? wholes.get(each.get("node")) : null;
            SparkPlan planned = whole == null || operator instanceof TransformWithStateExec
                    ? null
                    : planned(
                            Dataset$.MODULE$.ofRows(frame.sparkSession(), whole),
                            mode,
                            "unknown",
                            new OffsetSeqMetadata(0, 0, noConf()),
                            false);
            each.put("table", StateColumns.of(frame.sparkSession(), operator, planned));
        }
    }

    private static void wholes(LogicalPlan plan, Map<String, LogicalPlan> found) {
        if (plan.getTagValue(WHOLE).isDefined()) {
            found.putIfAbsent(plan.getTagValue(WHOLE).get(), plan);
        }
        Scala.list(plan.children()).forEach(child -> wholes(child, found));
    }

    /**
     * Plans the first micro-batch of a query of {@code frame} whose state is in the folder {@code state}: Spark and our
     * operators write there what they keep, not yet any of it.
     */
    static SparkPlan prepare(Dataset<Row> frame, String mode, String state, OffsetSeqMetadata metadata) {
        return planned((org.apache.spark.sql.classic.Dataset<Row>) frame, mode, state, metadata, true);
    }

    static scala.collection.immutable.Map<String, String> noConf() {
        return Scala.map(Map.of());
    }

    private static SparkPlan planned(
            org.apache.spark.sql.classic.Dataset<Row> frame,
            String mode,
            String state,
            OffsetSeqMetadata metadata,
            boolean first) {
        OutputMode output = mode.equals("update") ? OutputMode.Update() : OutputMode.Append();
        return SparkCalls.execution(frame, output, state, metadata, first).executedPlan();
    }

    private static void sources(LogicalPlan plan, Set<String> found) {
        if (plan instanceof HasStreamingSourceIdentifyingName source && plan.isStreaming()) {
            found.add(source.sourceIdentifyingName().nameOpt().getOrElse(new scala.runtime.AbstractFunction0<>() {
                @Override
                public String apply() {
                    return Integer.toString(found.size());
                }
            }));
        }
        Scala.list(plan.children()).forEach(child -> sources(child, found));
    }

    private static List<Map<String, Object>> operators(SparkPlan plan, LogicalPlan logical) {
        List<Map<String, Object>> found = new ArrayList<>();
        operators(plan, null, found);
        found.sort(Comparator.comparingLong(each -> (Long) each.get("operator")));
        for (Class<?> of : MADE_ANEW) {
            List<String> nodes = new ArrayList<>();
            nodes(logical, of, nodes);
            // What a condition above it was pushed through has the mark of that.
            found.stream()
                    .filter(each -> of.equals(each.get(OF)) && !nodes.contains(each.get("node")))
                    .forEach(each -> each.put("node", null));
            var unknown = found.stream()
                    .filter(each -> each.get("node") == null && of.equals(each.get(OF)))
                    .toList();
            nodes.removeIf(
                    node -> found.stream().anyMatch(each -> of.equals(each.get(OF)) && node.equals(each.get("node"))));
            // They keep their order, that of the numbers.
            for (int i = 0; i < unknown.size() && nodes.size() == unknown.size(); i++) {
                unknown.get(i).put("node", nodes.get(i));
            }
        }
        found.forEach(each -> each.remove(OF));
        Map<Object, Integer> parts = new HashMap<>();
        found.forEach(each -> each.put("part", parts.merge(each.get("node"), 1, Integer::sum) - 1));
        return found;
    }

    private static void nodes(LogicalPlan plan, Class<?> of, List<String> nodes) {
        boolean keeps =
                of.isInstance(plan) && Scala.list(plan.children()).stream().allMatch(LogicalPlan::isStreaming);
        if (keeps && plan.getTagValue(NODE).isDefined()) {
            nodes.add(plan.getTagValue(NODE).get());
        }
        Scala.list(plan.children()).forEach(child -> nodes(child, of, nodes));
    }

    private static void operators(SparkPlan plan, String above, List<Map<String, Object>> found) {
        LogicalPlan logical =
                plan.logicalLink().isEmpty() ? null : plan.logicalLink().get();
        Option<String> own = logical == null ? Option.empty() : logical.getTagValue(NODE);
        String node = own.isEmpty() ? above : own.get();
        if (plan instanceof StateStoreWriter writer && writer.stateInfo().isDefined()) {
            Class<?> anew = MADE_ANEW.stream()
                    .filter(of -> of.isInstance(logical))
                    .findFirst()
                    .orElse(null);
            Map<String, Object> each = new LinkedHashMap<>();
            each.put("operator", writer.stateInfo().get().operatorId());
            each.put("node", anew != null && own.isEmpty() ? null : node);
            each.put(OF, anew);
            each.put("part", 0);
            each.put("kind", writer.shortName());
            each.put("state", state(plan));
            each.put("stores", Scala.list(writer.stateStoreNames()));
            each.put(
                    "aggregates",
                    plan instanceof StateStoreSaveExec save
                            ? Columns.aggregates(save.child())
                            : plan instanceof TransformWithStateExec exec ? aggregates(exec) : List.of());
            each.put("plan", plan);
            found.add(each);
        }
        Scala.list(plan.children()).forEach(child -> operators(child, node, found));
    }

    private static List<List<Object>> aggregates(TransformWithStateExec exec) {
        return (Object) exec.statefulProcessor() instanceof KeyedOperator operator && operator.aggregates() != null
                ? Columns.aggregates(exec.session(), operator.aggregates())
                : List.of();
    }

    /** What is kept, as text: equal where a state can be gone on with as it is. */
    private static String state(SparkPlan plan) {
        if (plan instanceof TransformWithStateExec exec) {
            String own = StateSchema.text(exec);
            return own == null ? exec.output().toString() : own;
        }
        if (plan instanceof StateStoreSaveExec save) {
            return "by " + Columns.types(save.keyExpressions()) + " keeps " + Columns.buffers(save.child()) + " in "
                    + Columns.types(save.child().output());
        }
        if (plan instanceof SessionWindowStateStoreSaveExec save) {
            return "by " + Columns.types(save.keyWithoutSessionExpressions()) + " keeps sessions of "
                    + Columns.buffers(save.child()) + " in "
                    + Columns.types(save.child().output());
        }
        return "by " + Columns.partitioning(plan);
    }
}
