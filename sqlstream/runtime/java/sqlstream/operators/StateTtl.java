package sqlstream.operators;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import sqlstream.catalyst.Scala;
import sqlstream.state.KeyedOperator;
import sqlstream.state.Layout;
import sqlstream.state.StateTable;

/**
 * An operator whose state of a key is dropped when no row of the key has come for some time. The watermark of its input
 * is the clock; Spark's own TTL would have it run a micro-batch without end.
 *
 * <p>State by key: when a row came last, in milliseconds since 1970. Each key with a state has one timer.
 */
final class StateTtl extends KeyedOperator implements HasTimers, ArrivalOrder {
    /** An operator that can drop the state of the key that is being processed. */
    interface Clearable {
        void clearKey();
    }

    private final KeyedOperator operator;
    private final long ttl;

    private transient ValueState<Long> touched;

    /** {@code operator} is Clearable; {@code ttl}: in milliseconds. */
    StateTtl(KeyedOperator operator, long ttl) {
        this.operator = operator;
        this.ttl = ttl;
    }

    @Override
    public boolean byArrival() {
        return operator instanceof ArrivalOrder own && own.byArrival();
    }

    @Override
    public List<Layout> layouts() {
        List<Layout> layouts = new ArrayList<>(operator.layouts());
        layouts.add(Layout.STATE_TTL);
        return layouts;
    }

    @Override
    public String dependsOn() {
        return operator.dependsOn();
    }

    @Override
    public void describe(StateTable table, StructType rows) {
        operator.describe(table, rows);
    }

    @Override
    public void reads(Map<String, Integer> versions) {
        super.reads(versions);
        operator.reads(versions);
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        touched = getHandle().getValueState("touched", Encoders.LONG(), TTLConfig.NONE());
        operator.setHandle(getHandle());
        operator.init(outputMode, timeMode);
    }

    @Override
    public Iterator<InternalRow> handleInputRows(InternalRow key, Iterator<InternalRow> rows, TimerValues times) {
        long now = System.currentTimeMillis();
        Long last = touched.get();
        if (last == null) {
            getHandle().registerTimer(now + ttl);
        } else if (last + ttl <= now) {
            ((Clearable) operator).clearKey();
        }
        touched.update(now);
        return operator.handleInputRows(key, rows, times);
    }

    @Override
    public Iterator<InternalRow> handleExpiredTimer(InternalRow key, TimerValues times, ExpiredTimerInfo timer) {
        Long last = touched.get();
        if (last != null && last + ttl > timer.getExpiryTimeInMs()) {
            getHandle().registerTimer(last + ttl);
        } else if (last != null) {
            ((Clearable) operator).clearKey();
            touched.clear();
        }
        return Scala.rows();
    }

    @Override
    public void close() {
        operator.close();
    }
}
