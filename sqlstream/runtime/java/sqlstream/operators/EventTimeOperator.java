package sqlstream.operators;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import sqlstream.catalyst.Scala;
import sqlstream.state.EventTimeBuffer;
import sqlstream.state.KeyedOperator;
import sqlstream.state.StateTable;

/**
 * Operators that see the rows of a key in the order of their times, each once, when the watermark has passed it.
 * {@link EventTimeOrder} has Spark sort each micro-batch's rows by key and time, and drops those that are late.
 *
 * <p>Spark gives a micro-batch's input before its watermark is known to have passed: a row is late that is not after
 * the watermark of the micro-batch before. One watermark later than that rows come out.
 *
 * <p>State by key: {@code key} has the moment for which the key is on Spark's list of timers, what waits, and what the
 * operator keeps; large parts of what waits are in a state of their own.
 */
public abstract class EventTimeOperator extends KeyedOperator implements HasTimers {
    /** A moment that is never. */
    static final long NEVER = Long.MAX_VALUE;

    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    /** Which column of the rows is their time, a TIMESTAMP that is never NULL. */
    protected final int time;

    private final int width;
    private transient ValueState<byte[]> state;
    private transient EventTimeBuffer waiting;

    /**
     * @param width how many columns the frame has that is given to {@link KeyedProcess#of}
     * @param time the place among these of the time
     */
    protected EventTimeOperator(int width, int time) {
        // KeyedProcess puts a column at their end.
        this.width = width + 1;
        this.time = time;
    }

    /** How many columns the rows have. */
    protected final int width() {
        return width;
    }

    /** Called once on a task, and for Spark to know what state there is. */
    protected abstract void open();

    /** Begin with a key. {@code own} has what {@link #store} gave for it, or nothing. */
    protected abstract void load(ByteBuffer own);

    /**
     * Which of {@code rows}, in order, wait for their time beside those that do already, the first of them at
     * {@code first}.
     */
    Iterator<InternalRow> admitted(Iterator<InternalRow> rows, long first) {
        return rows;
    }

    /**
     * What comes of {@code rows} of {@code key}, up to {@code watermark} (in microseconds since 1970) and in order. A
     * row is good until the next is asked for; all are asked for before the result ends. There are none where only
     * {@link #wake} has come.
     */
    protected abstract Iterator<InternalRow> process(InternalRow key, Iterator<InternalRow> rows, long watermark);

    /** What is kept of the key when its result has ended. */
    protected abstract byte[] store();

    /**
     * When the key is to be processed next even without rows, in microseconds since 1970; asked for when its result has
     * ended.
     */
    protected long wake() {
        return NEVER;
    }

    /**
     * Whether rows that are not after the watermark are dropped; if not, they are in order among those of their
     * micro-batch.
     */
    boolean dropsLate() {
        return true;
    }

    @Override
    public final void describe(StateTable table, StructType rows) {
        // KeyedProcess's column is at their end.
        StructType kept = rows.add("__sqlstream_hash", DataTypes.LongType);
        String waiting = table.by("timed").with("time", time).value(StateTable.list(kept));
        describeWaiting(table, waiting, kept);
        describeOwn(table, kept);
    }

    /** Adds columns of the rows that wait, the value {@code waiting}, with columns {@code rows}. */
    protected void describeWaiting(StateTable table, String waiting, StructType rows) {
        table.column("waiting", "transform(" + waiting + ", r -> " + StateTable.struct("r", rows) + ")");
    }

    /** Adds what {@link #store} keeps; {@code rows}: the columns of the rows. */
    protected abstract void describeOwn(StateTable table, StructType rows);

    @Override
    public final void init(OutputMode outputMode, TimeMode timeMode) {
        state = getHandle().getValueState("key", Encoders.BINARY(), TTLConfig.NONE());
        waiting = new EventTimeBuffer(getHandle(), width, time);
        open();
    }

    @Override
    public final Iterator<InternalRow> handleInputRows(InternalRow key, Iterator<InternalRow> rows, TimerValues times) {
        return new Result(key, rows, times.getCurrentWatermarkInMs(), KeyTimer.NONE);
    }

    @Override
    public final Iterator<InternalRow> handleExpiredTimer(InternalRow key, TimerValues times, ExpiredTimerInfo timer) {
        return new Result(key, Scala.rows(), times.getCurrentWatermarkInMs(), timer.getExpiryTimeInMs());
    }

    /** The result of one key in one micro-batch. */
    private final class Result extends AbstractIterator<InternalRow> {
        private final Iterator<InternalRow> due;
        private final Iterator<InternalRow> result;
        private final long watermark;
        private final byte[] before;
        private final byte[] ownBefore;
        private final long timer;
        private final boolean fired;
        private boolean ended;

        /** {@code fired}: the timer that Spark takes off its list after this, or KeyTimer.NONE. */
        private Result(InternalRow key, Iterator<InternalRow> rows, long watermark, long fired) {
            this.watermark = watermark;
            before = state.get();
            ByteBuffer buffer = before == null ? EMPTY : ByteBuffer.wrap(before).order(ByteOrder.nativeOrder());
            timer = before == null ? KeyTimer.NONE : buffer.getLong();
            this.fired = fired != KeyTimer.NONE && fired == timer;
            waiting.load(buffer);
            ownBefore = new byte[buffer.remaining()];
            buffer.get(ownBefore);
            load(ByteBuffer.wrap(ownBefore).order(ByteOrder.nativeOrder()));
            // Before there is a watermark Spark has 0.
            long until = watermark == 0 ? Long.MIN_VALUE : watermark * 1000L;
            due = waiting.due(admitted(rows, waiting.first()), until);
            result = process(key, due, until);
        }

        @Override
        public boolean hasNext() {
            if (ended) {
                return false;
            }
            if (result.hasNext()) {
                return true;
            }
            ended = true;
            end();
            return false;
        }

        @Override
        public InternalRow next() {
            return result.next();
        }

        private void end() {
            if (due.hasNext()) {
                throw new IllegalStateException("a row that was not asked for");
            }
            byte[] own = store();
            long moment = Math.min(waiting.first(), wake());
            // A timer is up in the micro-batch whose watermark reaches it, and in no later one.
            long next = moment == NEVER ? KeyTimer.NONE : Math.max(-Math.floorDiv(-moment, 1000L), watermark + 1);
            KeyTimer.move(getHandle(), timer, next, fired);
            if (next == KeyTimer.NONE && own.length == 0) {
                if (before != null) {
                    state.clear();
                }
            } else if (timer != next || waiting.changed() || !Arrays.equals(own, ownBefore)) {
                ByteBuffer buffer =
                        ByteBuffer.allocate(8 + waiting.size() + own.length).order(ByteOrder.nativeOrder());
                buffer.putLong(next);
                waiting.store(buffer);
                state.update(buffer.put(own).array());
            }
        }
    }
}
