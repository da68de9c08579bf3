package sqlstream;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.CalendarInterval;
import org.apache.spark.util.AccumulatorV2;

/**
 * How far each split of a source has come since its query started: gathered by tasks as rows pass, read on the driver after
 * each micro-batch. The minimum is the watermark: Flink's rule.
 */
public final class SplitTimes extends AccumulatorV2<Long, Long> {
    /** Stands for the split of a control row, which raises the watermark of all. */
    public static final int ALL = -1;

    private static final long NONE = Long.MIN_VALUE;

    /** On the driver only, where more are found while the query runs. */
    private final transient Splits splits;
    private final long end;
    private final long idleAfter;
    /** Those of the other sources of the query, and this; on the driver only. */
    private final transient List<SplitTimes> peers;
    /** When each split had its last row, and this began to wait for one; on the driver only. */
    private final transient Map<Integer, Long> seen = new HashMap<>();
    private final transient long begun = System.currentTimeMillis();
    private long current = NONE;
    private final HashMap<Integer, Long> greatest = new HashMap<>();
    // A task reads one split for long: its time is kept out of the map.
    private int split;
    private long time;
    private boolean any;

    /**
     * @param splits the splits of the source, each of which counts from when it was found
     * @param end the watermark after any micro-batch, in milliseconds since 1970, where one has all that there is; else Long.MIN_VALUE
     * @param idleAfter milliseconds without a row after which a split holds the others back no longer; 0 for never
     * @param peers those of the same query, to which this adds itself: where all splits of one are idle, it holds them back no longer
     */
    public SplitTimes(Splits splits, long end, long idleAfter, List<SplitTimes> peers) {
        this.splits = splits;
        this.end = end;
        this.idleAfter = idleAfter;
        this.peers = peers;
        if (peers != null) {
            peers.add(this);
        }
    }

    /** A name by which the source {@link Clock} finds this. */
    public String watched() {
        String id = UUID.randomUUID().toString();
        Clock.watch(this, id);
        return id;
    }

    /** The watermark in milliseconds since 1970 as a column: that of the micro-batch's start, Long.MIN_VALUE before the first. */
    public Column currentColumn() {
        return ExpressionUtils.column(Scala.call(this, "current", DataTypes.LongType, List.of(), List.of(), false));
    }

    /** The watermark when a stage was sent to its tasks. */
    public long current() {
        return current;
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
        List<AbstractDataType> types = List.of(DataTypes.LongType, DataTypes.IntegerType);
        Expression saw = Scala.call(this, "saw", DataTypes.BooleanType, arguments, types, false);
        LogicalPlan watched = frame.filter(ExpressionUtils.column(saw)).queryExecution().analyzed();
        LogicalPlan node = new EventTimeWatermark(UUID.randomUUID(), Scala.named(watched, marked), new CalendarInterval(0, 0, 0L), watched);
        return Dataset$.MODULE$.ofRows(frame.sparkSession(), node);
    }

    /** Notes the time of a row; whether it goes on. */
    public boolean saw(long millis, int from) {
        if (millis != NONE || from != ALL) {
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

    /** The watermark in milliseconds since 1970; null while a split that is not idle has had no row, and of a task's part, which is not whole. */
    @Override
    public synchronized Long value() {
        if (peers == null) {
            return null;
        }
        long now = System.currentTimeMillis();
        long own = own(now);
        if (own == IDLE) {
            own = settled();
            long others = IDLE;
            for (SplitTimes peer : peers) {
                others = Math.min(others, peer.own(now));
            }
            own = others == IDLE ? own : Math.max(own, others);
        }
        return own == NONE ? null : own;
    }

    /**
     * Where the splits stand: of each its watermark (none before its first row), whether it is idle, and for how many milliseconds it has had
     * no row.
     */
    synchronized Map<String, Object> standing() {
        long now = System.currentTimeMillis();
        List<Map<String, Object>> each = new ArrayList<>();
        for (int i = 0; i < splits.count(); i++) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("name", splits.name(i));
            one.put("watermark", known(greatest.getOrDefault(i, NONE)));
            one.put("idle", idle(i, now));
            one.put("quiet", now - heard(i));
            each.add(one);
        }
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("watermark", known(greatest.getOrDefault(ALL, NONE)));
        all.put("splits", each);
        return all;
    }

    private static Long known(long time) {
        return time == NONE ? null : time;
    }

    private static final long IDLE = Long.MAX_VALUE;

    /** The watermark of this source alone; NONE before the first, IDLE where all of its splits are. */
    private long own(long now) {
        Map<Integer, Long> times = store();
        long slowest = IDLE;
        for (int each = 0; each < splits.count(); each++) {
            if (!idle(each, now)) {
                slowest = Math.min(slowest, times.getOrDefault(each, NONE));
            }
        }
        long floor = Math.max(end, times.getOrDefault(ALL, NONE));
        if (slowest == IDLE) {
            return splits.count() == 0 || floor != NONE ? floor : IDLE;
        }
        return Math.max(floor, slowest);
    }

    /** How far the idle splits have come together. */
    private long settled() {
        long slowest = IDLE;
        for (int each = 0; each < splits.count(); each++) {
            slowest = Math.min(slowest, greatest.getOrDefault(each, NONE));
        }
        return slowest;
    }

    private boolean idle(int each, long now) {
        return idleAfter > 0 && now - heard(each) >= idleAfter;
    }

    /** When a split had its last row, or this began to wait for one. */
    private long heard(int each) {
        return seen.getOrDefault(each, Math.max(begun, splits.since(each)));
    }

    /** When, up to now, a split last became idle; 0 where none has. */
    long lastIdle(long now) {
        long last = 0;
        for (int each = 0; each < splits.count(); each++) {
            long since = heard(each) + idleAfter;
            if (since <= now) {
                last = Math.max(last, since);
            }
        }
        return last;
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
    public synchronized AccumulatorV2<Long, Long> copy() {
        SplitTimes same = new SplitTimes(splits, end, 0, null);
        same.greatest.putAll(store());
        Long watermark = peers == null ? null : value();
        same.current = watermark == null ? NONE : watermark;
        return same;
    }

    @Override
    public synchronized void merge(AccumulatorV2<Long, Long> other) {
        store();
        long now = System.currentTimeMillis();
        ((SplitTimes) other).store().forEach((k, v) -> {
            greatest.merge(k, v, Math::max);
            if (seen != null) {
                seen.put(k, now);
            }
        });
    }

    @Override
    public String toString() {
        return splits == null ? "splits" : "splits=" + splits.count();
    }
}
