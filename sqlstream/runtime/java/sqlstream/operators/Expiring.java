package sqlstream.operators;

import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * An operator whose state of a key goes when no row of the key has come for some time. The watermark of its input is the clock; Spark's own
 * TTL would have it run a micro-batch without end.
 *
 * <p>State by key: when a row came last, in milliseconds since 1970. Each key with a state has one timer.
 */
final class Expiring extends StatefulProcessor<InternalRow, InternalRow, InternalRow> implements AwaitsTime, InArrival {
    /** An operator that can forget the key that is being processed. */
    interface Forgets {
        void forget();
    }

    private final StatefulProcessor<InternalRow, InternalRow, InternalRow> operator;
    private final long ttl;

    private transient ValueState<Long> touched;

    /** {@code operator} Forgets; {@code ttl}: in milliseconds. */
    Expiring(StatefulProcessor<InternalRow, InternalRow, InternalRow> operator, long ttl) {
        this.operator = operator;
        this.ttl = ttl;
    }

    @Override
    public boolean inArrival() {
        return operator instanceof InArrival own && own.inArrival();
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
            ((Forgets) operator).forget();
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
            ((Forgets) operator).forget();
            touched.clear();
        }
        return CollectionConverters.asScala(java.util.List.<InternalRow>of().iterator());
    }

    @Override
    public void close() {
        operator.close();
    }
}
