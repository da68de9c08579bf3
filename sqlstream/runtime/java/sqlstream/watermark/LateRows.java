package sqlstream.watermark;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.SortExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec;
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeWatermarkExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreRestoreExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreSaveExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.util.AccumulatorV2;
import scala.jdk.javaapi.CollectionConverters;
import sqlstream.catalyst.Scala;

/**
 * Drops rows that are late for their window before they are aggregated, and counts them. Spark drops them behind its
 * partial aggregate, where it counts groups.
 */
public final class LateRows extends AccumulatorV2<Long, Long> {
    private static final Map<String, LateRows> BY_RUN = new ConcurrentHashMap<>();

    private long count;

    /** How many rows a run of a query has dropped so far. */
    public static long count(String run) {
        LateRows found = BY_RUN.get(run);
        return found == null ? 0 : found.count;
    }

    /** {@code plan}, or what takes its place where it writes the state of an aggregate that closes by a watermark. */
    public static SparkPlan of(SparkPlan plan) {
        if (!(plan instanceof StateStoreSaveExec save)
                || save.eventTimeWatermarkForLateEvents().isEmpty()) {
            return plan;
        }
        SparkPlan lowest = null;
        SparkPlan node = save.child();
        while (node instanceof BaseAggregateExec
                || node instanceof StateStoreRestoreExec
                || node instanceof ShuffleExchangeExec
                || node instanceof EventTimeWatermarkExec
                || node instanceof SortExec) {
            lowest = node instanceof BaseAggregateExec ? node : lowest;
            node = Scala.child(node);
        }
        Attribute time = lowest == null ? null : time((BaseAggregateExec) lowest);
        if (time == null) {
            return plan;
        }
        long watermark = (Long) save.eventTimeWatermarkForLateEvents().get();
        Expression inTime = inTime(time, watermark, save.stateInfo().get());
        SparkPlan rows = Scala.child(lowest);
        return Scala.replaced(save, rows, new FilterExec(inTime, rows));
    }

    /**
     * Whether a row of {@code time}, a TIMESTAMP, is in time for what closes at {@code watermark} (milliseconds since
     * 1970).
     */
    public static Expression inTime(Expression time, long watermark, StatefulOperatorStateInfo state) {
        LateRows late = BY_RUN.computeIfAbsent(state.queryRunId().toString(), run -> {
            LateRows fresh = new LateRows();
            SparkContext.getOrCreate().register(fresh);
            return fresh;
        });
        List<Expression> arguments = List.of(time, new Literal(watermark * 1000L, DataTypes.TimestampType));
        List<AbstractDataType> types = List.of(DataTypes.TimestampType, DataTypes.TimestampType);
        return Scala.call(late, "inTime", DataTypes.BooleanType, arguments, types, false);
    }

    private static Attribute time(BaseAggregateExec aggregate) {
        for (NamedExpression key : CollectionConverters.asJava(aggregate.groupingExpressions())) {
            if (key instanceof Attribute attribute && attribute.metadata().contains(EventTimeWatermark.delayKey())) {
                return attribute;
            }
        }
        return null;
    }

    /** Whether a row of this time, and a watermark, both in microseconds since 1970, is in time; counts it if not. */
    public boolean inTime(long time, long watermark) {
        if (time > watermark) {
            return true;
        }
        count++;
        return false;
    }

    @Override
    public Long value() {
        return count;
    }

    @Override
    public void add(Long rows) {
        count += rows;
    }

    @Override
    public boolean isZero() {
        return count == 0;
    }

    @Override
    public void reset() {
        count = 0;
    }

    @Override
    public AccumulatorV2<Long, Long> copy() {
        LateRows same = new LateRows();
        same.count = count;
        return same;
    }

    @Override
    public void merge(AccumulatorV2<Long, Long> other) {
        count += ((LateRows) other).count;
    }

    @Override
    public String toString() {
        return "late rows";
    }
}
