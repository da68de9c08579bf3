package sqlstream.monitor;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.CurrentBatchTimestamp;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionWithRandomSeed;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.MicroBatchScanExec;
import org.apache.spark.sql.execution.datasources.v2.RealTimeStreamScanExec;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.ObjectType;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;
import sqlstream.catalyst.Scala;
import sqlstream.letters.LeftOutRows;
import sqlstream.watermark.Clock;

/**
 * How many rows a run of a query reads and gives to its sink, come to each of its filters, and pass them. What counts
 * the sink's stands on top of the query's frame: by it the query's own plans are known among those that its sink runs.
 */
public final class QueryRows {
    private static final Map<DataType, String> CLOCK = Map.of(
            DataTypes.TimestampType,
            "CURRENT_TIMESTAMP",
            DataTypes.TimestampNTZType,
            "LOCALTIMESTAMP",
            DataTypes.DateType,
            "CURRENT_DATE");

    private final SparkContext context;
    private boolean realTime;
    private RowCounter out;
    private RowCounter read;
    /** That which starts the query; its own plans are of a copy. */
    private SparkSession session;
    /** By their conditions, in words. Plans are made on the query's thread; other threads ask. */
    private final Map<String, Filter> filters = new LinkedHashMap<>();

    private record Filter(RowCounter arrived, RowCounter passed) {}

    public QueryRows(SparkContext context) {
        this.context = context;
        out = counted();
        read = counted();
    }

    private RowCounter counted() {
        RowCounter counted = new RowCounter(this, realTime ? 1 : 1024);
        context.register(counted);
        return counted;
    }

    /** {@code frame}, which goes to the sink, counted; each row at once in real time, where rows are few at a time. */
    public org.apache.spark.sql.Dataset<Row> counted(Dataset<Row> frame, boolean realTime) {
        if (realTime) {
            this.realTime = true;
            out = counted();
            read = counted();
        }
        session = frame.sparkSession();
        return frame.filter(ExpressionUtils.column(passes(out)));
    }

    /** {@code plan}, with the rows around its filters counted if it is one of such a query. */
    public static SparkPlan in(SparkPlan plan) {
        QueryRows query = of(plan);
        if (query == null) {
            return plan;
        }
        Map<Literal, String> clock = query.clock();
        return Scala.transformed(plan, node -> query.around(node, clock));
    }

    private static QueryRows of(SparkPlan plan) {
        if (plan instanceof FilterExec filter && counted(filter.condition()) instanceof RowCounter counted) {
            return counted.query();
        }
        for (SparkPlan child : CollectionConverters.asJava(plan.children())) {
            QueryRows found = of(child);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private SparkPlan around(SparkPlan node, Map<Literal, String> clock) {
        MicroBatchStream source = source(node);
        if (source != null && !(source instanceof Clock.Stream)) {
            return new FilterExec(passes(read), node);
        }
        if (!(node instanceof FilterExec filter) || counted(filter.condition()) != null) {
            return node;
        }
        Filter rows;
        synchronized (filters) {
            rows = filters.computeIfAbsent(
                    condition(filter.condition(), clock), condition -> new Filter(counted(), counted()));
        }
        return new FilterExec(
                passes(rows.passed),
                new FilterExec(filter.condition(), new FilterExec(passes(rows.arrived), filter.child())));
    }

    /** What a scan of a stream reads; null for another node. */
    private static MicroBatchStream source(SparkPlan node) {
        if (node instanceof RealTimeStreamScanExec scan) {
            return scan.stream();
        }
        return node instanceof MicroBatchScanExec scan ? scan.stream() : null;
    }

    /** {@code condition} in words, which are the same in all micro-batches. */
    private static String condition(Expression condition, Map<Literal, String> clock) {
        if (called(condition) instanceof LeftOutRows kept) {
            return kept.condition();
        }
        return Scala.replaced(condition, each -> lasting(each, clock)).sql();
    }

    /** What stands for {@code part}, another one in each micro-batch; null for one that stays. */
    private static Expression lasting(Expression part, Map<Literal, String> clock) {
        if (part instanceof ExpressionWithRandomSeed random
                && random.seedExpression().foldable()) {
            return random.withNewSeed(0);
        }
        return part instanceof Literal literal && clock.containsKey(literal)
                ? words(clock.get(literal), literal)
                : null;
    }

    private static Expression words(String words, Literal literal) {
        return Scala.present(words, literal.dataType());
    }

    /**
     * The values that Spark puts in place of the clock in the micro-batch that the current thread runs, with what asks
     * for them.
     */
    private Map<Literal, String> clock() {
        String id = context.getLocalProperty(StreamExecution.QUERY_ID_KEY());
        StreamingQuery query = id == null ? null : session.streams().get(id);
        if (!(query instanceof StreamingQueryWrapper wrapper)) {
            return Map.of();
        }
        long millis = wrapper.streamingQuery()
                .getLatestExecutionContext()
                .offsetSeqMetadata()
                .batchTimestampMs();
        Map<Literal, String> found = new LinkedHashMap<>();
        Option<String> zone = Option.apply(session.sessionState().conf().sessionLocalTimeZone());
        CLOCK.forEach((type, name) -> found.put(new CurrentBatchTimestamp(millis, type, zone).toLiteral(), name));
        return found;
    }

    private static Expression passes(RowCounter rows) {
        return Scala.call(rows, "passes", DataTypes.BooleanType, List.of(), List.of(), false);
    }

    /** The accumulator of ours that the condition calls; null in the condition of a query. */
    private static Object counted(Expression condition) {
        return called(condition) instanceof org.apache.spark.util.AccumulatorV2<?, ?> ours ? ours : null;
    }

    /** The object that the condition calls; null where it calls none. */
    private static Object called(Expression condition) {
        if (condition instanceof Literal literal) {
            return literal.dataType() instanceof ObjectType ? literal.value() : null;
        }
        for (Expression child : CollectionConverters.asJava(condition.children())) {
            Object found = called(child);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    boolean realTime() {
        return realTime;
    }

    long out() {
        return out.known();
    }

    /** Rows that have come out of scans, those of the running micro-batch included. */
    long read() {
        return read.soFar();
    }

    /** Of each filter, its condition and how many rows have come to it and passed. */
    List<Map<String, Object>> filters() {
        List<Map<String, Object>> found = new ArrayList<>();
        synchronized (filters) {
            filters.forEach((condition, rows) -> found.add(
                    Map.of("condition", condition, "arrived", rows.arrived.known(), "passed", rows.passed.known())));
        }
        return found;
    }
}
