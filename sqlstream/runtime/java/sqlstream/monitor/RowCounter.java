package sqlstream.monitor;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.apache.spark.util.AccumulatorV2;

/**
 * How many rows have passed a place of a plan, in all micro-batches of a run. Spark adds a task's rows when it ends;
 * where driver and executors are one JVM, {@link #soFar} knows of them while it runs.
 */
public final class RowCounter extends AccumulatorV2<Long, Long> {
    /** On the driver only. */
    private final transient QueryRows query;

    private static final Map<Long, LongAdder> RUNNING = new ConcurrentHashMap<>();

    /** A task reports after so many rows; a power of two. */
    private final int reportEvery;

    private long rows;
    private transient LongAdder reported;

    RowCounter(QueryRows query, int reportEvery) {
        this.query = query;
        this.reportEvery = reportEvery;
    }

    QueryRows query() {
        return query;
    }

    /** A row passes: true, for a filter. */
    public boolean passes() {
        if ((++rows & (reportEvery - 1)) == 0) {
            if (reported == null) {
                reported = RUNNING.computeIfAbsent(id(), id -> new LongAdder());
            }
            reported.add(reportEvery);
        }
        return true;
    }

    /** Rows of tasks that still run among them, as far as this JVM knows. */
    long soFar() {
        LongAdder running = RUNNING.get(id());
        return Math.max(rows, running == null ? 0 : running.sum());
    }

    /** Those of tasks that have ended, which count; in real time a row has gone through when it has passed. */
    long known() {
        return reportEvery == 1 ? soFar() : rows;
    }

    @Override
    public Long value() {
        return rows;
    }

    @Override
    public void add(Long more) {
        rows += more;
    }

    @Override
    public boolean isZero() {
        return rows == 0;
    }

    @Override
    public void reset() {
        rows = 0;
    }

    @Override
    public AccumulatorV2<Long, Long> copy() {
        RowCounter same = new RowCounter(query, reportEvery);
        same.rows = rows;
        return same;
    }

    @Override
    public void merge(AccumulatorV2<Long, Long> other) {
        rows += ((RowCounter) other).rows;
    }

    @Override
    public String toString() {
        return "rows";
    }
}
