package sqlstream.watermark;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.WeakHashMap;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.CalendarInterval;
import org.apache.spark.util.AccumulatorV2;
import sqlstream.catalyst.Scala;

/**
 * How far each split of a source has come since its query started: gathered by tasks as rows pass, read on the driver
 * after each micro-batch. The minimum is the watermark; splits that are idle do not count, unless all are:
 * {@link QueryWatermark}.
 *
 * <p>A split is idle when the query has asked for rows of it for so long, and there were none. What a micro-batch takes
 * does not count: rows may have come meanwhile.
 */
public final class SourceWatermark extends AccumulatorV2<Long, Long> {
    /** Stands for the split of a control row, which raises the watermark of all. */
    public static final int ALL = -1;

    private static final long NONE = Long.MIN_VALUE;
    /**
     * By the ids of the plan's nodes, which live as long as their plans. Where nothing has come Spark leaves out what
     * looks at rows.
     */
    private static final Map<UUID, SourceWatermark> BY_NODE = Collections.synchronizedMap(new WeakHashMap<>());

    /** On the driver only, where more are found while the query runs. */
    private final transient SourceSplits splits;

    private final long end;
    private final long idleAfter;
    /** All of the query; on the driver only, as what follows. */
    private final transient QueryWatermark inputs;
    /** When the last row of each split was read. */
    private final transient Map<Integer, Long> seen = new HashMap<>();
    /** When rows were first asked for, before that when this was made, and when for the last time; 0 for never. */
    private transient long begun = System.currentTimeMillis();

    private transient long asked;
    private transient long reached = NONE;
    /** The watermark after the last micro-batch. */
    private long current = NONE;

    private final HashMap<Integer, Long> greatest = new HashMap<>();
    // A task reads one split for long: its time is kept out of the map.
    private int split;
    private long time;
    private boolean any;

    /**
     * @param splits the splits of the source, each of which counts from when it was found
     * @param end the watermark after any micro-batch, in milliseconds since 1970, where one has all that there is; else
     *     Long.MIN_VALUE
     * @param idleAfter milliseconds without a row after which a split holds the others back no longer; 0 for never
     * @param inputs those of the query, to which this adds itself
     */
    public SourceWatermark(SourceSplits splits, long end, long idleAfter, QueryWatermark inputs) {
        this.splits = splits;
        this.end = end;
        this.idleAfter = idleAfter;
        this.inputs = inputs;
        if (inputs != null) {
            inputs.add(this);
        }
    }

    /** A name by which the source {@link Clock} finds this. */
    public String watched() {
        String id = UUID.randomUUID().toString();
        Clock.watch(this, id);
        return id;
    }

    /**
     * The watermark in milliseconds since 1970 as a column: that of the micro-batch's start, Long.MIN_VALUE before the
     * first.
     */
    public Column currentColumn() {
        return Scala.column(this, "current", DataTypes.LongType, List.of(), List.of(), false);
    }

    /** The watermark when a stage was sent to its tasks. */
    public long current() {
        return current;
    }

    /**
     * {@code frame} under the watermark. {@code time} is a row's own watermark in milliseconds since 1970,
     * Long.MIN_VALUE where it has none; {@code split} the split it is from, from 0. Rows of split ALL go no further.
     * {@code marked} is a TIMESTAMP of the frame, for Spark to hang its watermark on. Since the look at a row is no
     * deterministic condition, Spark moves no filter below it: every row of the source counts, as in Flink.
     */
    public Dataset<Row> watermark(Dataset<Row> frame, Column time, Column split, String marked) {
        frame.sparkSession().sparkContext().register(this);
        List<AbstractDataType> types = List.of(DataTypes.LongType, DataTypes.IntegerType);
        Column saw = Scala.column(this, "saw", DataTypes.BooleanType, List.of(time, split), types, false);
        LogicalPlan watched = frame.filter(saw).queryExecution().analyzed();
        UUID id = UUID.randomUUID();
        BY_NODE.put(id, this);
        LogicalPlan node =
                new EventTimeWatermark(id, Scala.named(watched, marked), new CalendarInterval(0, 0, 0L), watched);
        return Dataset$.MODULE$.ofRows(frame.sparkSession(), node);
    }

    /** That whose watermark the node with this id has; null where it has Spark's own. */
    static SourceWatermark of(UUID node) {
        return BY_NODE.get(node);
    }

    /** Notes the time of a row; whether it is emitted. */
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

    /**
     * After a micro-batch: the watermark in milliseconds since 1970; null while a split that is not idle has had no
     * row.
     */
    Long settle() {
        boolean idle = advance();
        current = idle ? Math.max(reached, inputs.watermark()) : reached;
        return value();
    }

    /** That of the last micro-batch that has ended. */
    @Override
    public Long value() {
        return known(current);
    }

    /** Takes in what has come; whether all splits are idle. */
    synchronized boolean advance() {
        Map<Integer, Long> times = store();
        long slowest = Long.MAX_VALUE;
        long furthest = NONE;
        int count = splits.count();
        boolean idle = count > 0;
        for (int each = 0; each < count; each++) {
            long time = times.getOrDefault(each, NONE);
            furthest = Math.max(furthest, time);
            if (!idle(each)) {
                idle = false;
                slowest = Math.min(slowest, time);
            }
        }
        long floor = Math.max(end, times.getOrDefault(ALL, NONE));
        // A watermark never goes back, also not to that of a split which was idle.
        reached = Math.max(reached, Math.max(floor, idle || count == 0 ? furthest : slowest));
        return idle && floor == NONE;
    }

    /** How far the source has come by itself, as last taken in; Long.MIN_VALUE for nowhere yet. */
    synchronized long reached() {
        return reached;
    }

    /**
     * Where the splits stand: of each its watermark (none before its first row), whether it is idle, and for how many
     * milliseconds it has had no row.
     */
    public synchronized Map<String, Object> standing() {
        long now = System.currentTimeMillis();
        List<Map<String, Object>> each = new ArrayList<>();
        for (int i = 0; i < splits.count(); i++) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("name", splits.name(i));
            one.put("watermark", known(greatest.getOrDefault(i, NONE)));
            one.put("idle", idle(i));
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

    private boolean idle(int each) {
        return idleAfter > 0 && asked - heard(each) >= idleAfter;
    }

    /** When the last row of a split was read, or this began to wait for one. */
    private long heard(int each) {
        return seen.getOrDefault(each, Math.max(begun, splits.since(each)));
    }

    /** Notes that the query asks for rows now. When, up to now, a split last became idle; 0 where none has. */
    synchronized long ask(long now) {
        begun = asked == 0 ? now : begun;
        asked = now;
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
        SourceWatermark same = new SourceWatermark(splits, end, 0, null);
        same.greatest.putAll(store());
        same.current = current;
        return same;
    }

    @Override
    public synchronized void merge(AccumulatorV2<Long, Long> other) {
        store();
        long now = System.currentTimeMillis();
        ((SourceWatermark) other).store().forEach((k, v) -> {
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
