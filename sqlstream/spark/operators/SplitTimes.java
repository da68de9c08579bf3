package sqlstream;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.unsafe.types.CalendarInterval;
import org.apache.spark.util.AccumulatorV2;
import scala.jdk.javaapi.CollectionConverters;

/**
 * How far each split of a source has come since its query started: gathered by tasks as rows pass, read on the driver after
 * each micro-batch. The minimum is the watermark: Flink's rule.
 */
public final class SplitTimes extends AccumulatorV2<Long, Long> {
    /** Stands for the split of a control row, which raises the watermark of all. */
    public static final int ALL = -1;

    private final int splits;
    private final long end;
    private final HashMap<Integer, Long> greatest = new HashMap<>();
    // A task reads one split for long: its time is kept out of the map.
    private int split;
    private long time;
    private boolean any;

    /**
     * @param splits how many splits the source has
     * @param end the watermark after any micro-batch, in milliseconds since 1970, where one has all that there is; else Long.MIN_VALUE
     */
    public SplitTimes(int splits, long end) {
        this.splits = splits;
        this.end = end;
    }

    /**
     * {@code frame} under the watermark. {@code time} is a row's own watermark in milliseconds since 1970, Long.MIN_VALUE where
     * it has none; {@code split} the split it is from, from 0. Rows of split ALL go no further. {@code marked} is a TIMESTAMP
     * of the frame, for Spark to hang its watermark on. Since the look at a row is no deterministic condition, Spark
     * moves no filter below it: every row of the source counts, as in Flink.
     */
    public Dataset<Row> watermark(Dataset<Row> frame, Column time, Column split, String marked) {
        frame.sparkSession().sparkContext().register(this);
        List<Expression> arguments = List.of(ExpressionUtils.expression(time), ExpressionUtils.expression(split));
        Expression saw = new Invoke(
                Literal.fromObject(this, new ObjectType(SplitTimes.class)),
                "saw",
                DataTypes.BooleanType,
                PythonUtils.toSeq(arguments),
                PythonUtils.toSeq(List.of(DataTypes.LongType, DataTypes.IntegerType)),
                true,
                false,
                false);
        LogicalPlan watched = frame.filter(ExpressionUtils.column(saw)).queryExecution().analyzed();
        for (Attribute attribute : CollectionConverters.asJava(watched.output())) {
            if (attribute.name().equals(marked)) {
                LogicalPlan node = new EventTimeWatermark(UUID.randomUUID(), attribute, new CalendarInterval(0, 0, 0L), watched);
                return Dataset$.MODULE$.ofRows(frame.sparkSession(), node);
            }
        }
        throw new IllegalArgumentException("no column " + marked);
    }

    /** Notes the time of a row; whether it goes on. */
    public boolean saw(long millis, int from) {
        if (millis != Long.MIN_VALUE) {
            note(millis, from);
        }
        return from != ALL;
    }

    private void note(long millis, int from) {
        if (any && from == split) {
            if (millis > time) {
                time = millis;
            }
            return;
        }
        store();
        split = from;
        time = millis;
        any = true;
    }

    private Map<Integer, Long> store() {
        if (any) {
            greatest.merge(split, time, Math::max);
            any = false;
        }
        return greatest;
    }

    /** The watermark in milliseconds since 1970; null while a split has had no row. */
    @Override
    public Long value() {
        Map<Integer, Long> times = store();
        long floor = Math.max(end, times.getOrDefault(ALL, Long.MIN_VALUE));
        long slowest = Long.MAX_VALUE;
        int seen = 0;
        for (Map.Entry<Integer, Long> entry : times.entrySet()) {
            if (entry.getKey() != ALL) {
                slowest = Math.min(slowest, entry.getValue());
                seen++;
            }
        }
        long watermark = seen >= splits && seen > 0 ? Math.max(floor, slowest) : floor;
        return watermark == Long.MIN_VALUE ? null : watermark;
    }

    @Override
    public void add(Long millis) {
        note(millis, ALL);
    }

    @Override
    public boolean isZero() {
        return !any && greatest.isEmpty();
    }

    @Override
    public void reset() {
        greatest.clear();
        any = false;
    }

    @Override
    public AccumulatorV2<Long, Long> copy() {
        SplitTimes same = new SplitTimes(splits, end);
        same.greatest.putAll(store());
        return same;
    }

    @Override
    public void merge(AccumulatorV2<Long, Long> other) {
        store();
        ((SplitTimes) other).store().forEach((k, v) -> greatest.merge(k, v, Math::max));
    }

    @Override
    public String toString() {
        return "splits=" + splits;
    }
}
