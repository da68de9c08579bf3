package sqlstream.operators;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import sqlstream.gateway.Described;
import sqlstream.state.JoinBuffer;
import sqlstream.state.KeyedOperator;
import sqlstream.state.Layout;
import sqlstream.state.StateTable;

/**
 * A join of rows of equal keys whose times are near, {@code lower <= left time - right time <= upper}, whose rows are
 * kept until the watermark has passed the last time of a row that they could find. An outer join then emits alone the
 * rows that have found none.
 *
 * <p>As in Flink rows are dropped a while later than they could be, so that one timer is enough for many, or when a row
 * of the other side comes; what is still there finds a row that is late.
 *
 * <p>State by key: {@code key} has the moment for which the key is on Spark's list of timers, and the rows of each
 * side, large parts in states of their own.
 */
public final class IntervalJoin extends KeyedOperator implements HasTimers {
    // Rows of one key that a micro-batch holds before they are kept.
    private static final int HELD_ROWS = 1 << 16;
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);
    private static final List<InternalRow> NONE = List.of();

    private final JoinSides sides;
    private final long[] reach;
    private final long slack;

    private transient ValueState<byte[]> state;
    private transient JoinBuffer[] kept;
    private transient BasePredicate matches;

    /**
     * What is asked for; lengths of time are in milliseconds.
     *
     * @param slack how much longer rows are kept than they can find one that is not late
     * @param lag by how much the times are behind the watermark
     */
    record Options(String leftTime, String rightTime, long lower, long upper, long slack, long lag) {}

    /**
     * The result of {@code joined}, whose last operation is a join on all that is asked for besides of the times;
     * {@code options} are JSON.
     */
    public static Dataset<Row> of(Dataset<Row> joined, String options) {
        Options said = Described.as(Options.class, options);
        JoinSides.Planned planned = JoinSides.of(joined, said.leftTime, said.rightTime, said.lag);
        return KeyedProcess.of(
                planned.rows(), planned.keys(), joined.schema(), new IntervalJoin(planned.sides(), said));
    }

    private IntervalJoin(JoinSides sides, Options options) {
        this.sides = sides;
        slack = options.slack;
        // How long after its own time a row of each side can find one of the other.
        reach = new long[] {-options.lower, options.upper};
    }

    @Override
    public List<Layout> layouts() {
        return List.of(Layout.INTERVAL_JOIN, Layout.JOIN_BUFFER);
    }

    @Override
    public void describe(StateTable table, StructType rows) {
        sides.describe(table).by("near").rows("left", sides.type(0)).rows("right", sides.type(1));
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        state = getHandle().getValueState("key", Encoders.BINARY(), TTLConfig.NONE());
        kept = new JoinBuffer[] {
            new JoinBuffer(getHandle(), "lefts", sides.width(0), !sides.outer[0]),
            new JoinBuffer(getHandle(), "rights", sides.width(1), !sides.outer[1])
        };
        matches = sides.condition();
    }

    @Override
    public Iterator<InternalRow> handleInputRows(InternalRow key, Iterator<InternalRow> rows, TimerValues times) {
        return new Result(rows, sides.unknown(key), times.getCurrentWatermarkInMs(), KeyTimer.NONE);
    }

    @Override
    public Iterator<InternalRow> handleExpiredTimer(InternalRow key, TimerValues times, ExpiredTimerInfo timer) {
        return new Result(
                CollectionConverters.asScala(NONE.iterator()),
                false,
                times.getCurrentWatermarkInMs(),
                timer.getExpiryTimeInMs());
    }

    /** New rows of one side, in the order of their times. */
    private static final class Fresh {
        private record Timed(long time, UnsafeRow row) {}

        private final List<Timed> unsorted = new ArrayList<>();
        private UnsafeRow[] rows;
        private long[] times;
        private boolean[] paired;

        private void add(long time, UnsafeRow row) {
            unsorted.add(new Timed(time, row));
        }

        private void sort() {
            unsorted.sort(Comparator.comparingLong(Timed::time));
            rows = unsorted.stream().map(Timed::row).toArray(UnsafeRow[]::new);
            times = unsorted.stream().mapToLong(Timed::time).toArray();
            paired = new boolean[times.length];
        }

        /** How many have times before {@code time}. */
        private int before(long time) {
            int from = 0;
            int until = times.length;
            while (from < until) {
                int middle = (from + until) >>> 1;
                if (times[middle] < time) {
                    from = middle + 1;
                } else {
                    until = middle;
                }
            }
            return from;
        }
    }

    /**
     * The result of one key in one micro-batch: the new rows are held, some at a time, and paired in the phases of
     * {@link #advance}.
     */
    private final class Result extends AbstractIterator<InternalRow> {
        private final Iterator<InternalRow> rows;
        private final boolean unknown;
        private final long watermark;
        private final boolean stored;
        private final long timer;
        private final long up;
        private final JoinedRow pair = new JoinedRow();

        private Fresh[] fresh;
        private int phase = -1;
        private JoinBuffer.Cursor cursor;
        private int place;
        // The row that is paired now, and which new rows of the other side it can find.
        private UnsafeRow row;
        private int side;
        private long time;
        private int next;
        private int end;
        private boolean paired;
        private boolean found;
        private boolean ended;

        /**
         * @param unknown whether the key is equal to none, so that nothing is kept
         * @param up the timer that is up, or KeyTimer.NONE
         */
        private Result(Iterator<InternalRow> rows, boolean unknown, long watermark, long up) {
            this.rows = rows;
            this.unknown = unknown;
            // Before there is a watermark Spark has 0.
            this.watermark = watermark == 0 ? Long.MIN_VALUE / 4 : watermark;
            this.up = up;
            byte[] bytes = unknown ? null : state.get();
            ByteBuffer head = bytes == null ? EMPTY : ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
            stored = bytes != null;
            timer = stored ? head.getLong() : KeyTimer.NONE;
            for (JoinBuffer each : kept) {
                each.load(head);
            }
            hold();
        }

        private void hold() {
            fresh = new Fresh[] {new Fresh(), new Fresh()};
            for (int count = 0; rows.hasNext() && count < HELD_ROWS; count++) {
                InternalRow tagged = rows.next();
                int from = sides.side(tagged);
                fresh[from].add(
                        Math.floorDiv(tagged.getLong(sides.time()), 1000L),
                        sides.row(tagged, from).copy());
            }
            fresh[0].sort();
            fresh[1].sort();
        }

        @Override
        public boolean hasNext() {
            while (!found && !ended) {
                if (row == null) {
                    advance();
                } else if (next < end) {
                    pairNext();
                } else {
                    leave();
                }
            }
            return found;
        }

        /**
         * Goes to the next row, or phase. 0 and 1: the rows that are kept of the right, and of the left, with new ones
         * of the other side; 2: new ones of the right with new ones of the left; 3: new ones of the left, which have
         * found all that they find.
         */
        private void advance() {
            if (phase == 0 || phase == 1) {
                if (cursor != null && cursor.next()) {
                    take(1 - phase, cursor.row(), cursor.time(), false);
                    return;
                }
            } else if (phase == 2 || phase == 3) {
                Fresh own = fresh[3 - phase];
                if (++place < own.times.length) {
                    take(3 - phase, own.rows[place], own.times[place], own.paired[place]);
                    return;
                }
            }
            phase++;
            place = -1;
            if (phase < 2) {
                cursor = unknown ? null : toPair(1 - phase, fresh[phase].times);
            } else if (phase == 4 && rows.hasNext()) {
                hold();
                phase = -1;
            } else if (phase == 4) {
                ended = true;
                end();
            }
        }

        /**
         * What is kept of side {@code of} and is to be paired with rows of the other of these times, or may be dropped.
         */
        private JoinBuffer.Cursor toPair(int of, long[] times) {
            long passed = watermark - reach[of] - 1;
            if (times.length == 0) {
                return up == KeyTimer.NONE ? null : kept[of].rows(Long.MAX_VALUE, Long.MIN_VALUE, passed);
            }
            return kept[of].rows(times[0] - reach[of], times[times.length - 1] + reach[1 - of], passed);
        }

        private void take(int of, UnsafeRow taken, long at, boolean before) {
            side = of;
            row = taken;
            time = at;
            paired = before;
            boolean pairs = phase < 3 && !unknown;
            next = pairs ? fresh[1 - side].before(time - reach[1 - side]) : 0;
            end = pairs ? fresh[1 - side].before(time + reach[side] + 1) : 0;
        }

        private void pairNext() {
            UnsafeRow other = fresh[1 - side].rows[next];
            pair.apply(side == 0 ? row : other, side == 0 ? other : row);
            if (matches == null || matches.eval(pair)) {
                found = true;
                paired = true;
                fresh[1 - side].paired[next] = true;
            }
            next++;
        }

        /** Keeps the row, or drops it; one of an outer side that has found none is emitted alone then. */
        private void leave() {
            boolean expires;
            if (phase < 2) {
                if (paired) {
                    cursor.mark();
                }
                paired = cursor.isMarked();
                expires = cursor.expires();
            } else {
                expires = unknown || watermark >= time + reach[side];
                if (!expires) {
                    kept[side].add(time, row, paired);
                }
            }
            if (expires && !paired && sides.outer[side]) {
                pair.apply(side == 0 ? row : sides.missing(0), side == 0 ? sides.missing(1) : row);
                found = true;
            }
            row = null;
        }

        private void end() {
            if (unknown) {
                return;
            }
            long moment = KeyTimer.NONE;
            for (int i = 0; i < kept.length; i++) {
                if (!kept[i].isEmpty()) {
                    // A row is dropped one later than its last moment; a timer is up once, when the watermark has
                    // reached it.
                    long last = kept[i].next() + reach[i] + slack + 1;
                    moment = moment == KeyTimer.NONE ? last : Math.min(moment, last);
                }
            }
            KeyTimer.move(getHandle(), timer, moment, timer == up);
            if (moment == KeyTimer.NONE) {
                if (stored) {
                    state.clear();
                }
            } else if (timer != moment || kept[0].changed() || kept[1].changed()) {
                ByteBuffer head =
                        ByteBuffer.allocate(8 + kept[0].size() + kept[1].size()).order(ByteOrder.nativeOrder());
                head.putLong(moment);
                kept[0].store(head);
                kept[1].store(head);
                state.update(head.array());
            }
        }

        @Override
        public InternalRow next() {
            if (!hasNext()) {
                throw new java.util.NoSuchElementException();
            }
            found = false;
            return pair;
        }
    }
}
