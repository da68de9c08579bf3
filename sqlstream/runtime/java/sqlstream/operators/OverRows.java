package sqlstream.operators;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.SpecificInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.types.DataTypes;
import scala.runtime.AbstractFunction1;
import sqlstream.aggregates.Aggregates;
import sqlstream.catalyst.RowBytes;
import sqlstream.catalyst.Scala;
import sqlstream.state.SlidingFrame;
import sqlstream.state.ValueCounts;
import sqlstream.state.ValueCounts.Counting;

/**
 * OVER: aggregates of the rows up to each row of a key, all of them or those of a sliding frame, and values of rows
 * some places before.
 */
final class OverRows implements Serializable {
    /** For a frame that begins with the first row. */
    static final long UNBOUNDED = -1;

    private static final byte[] NOTHING = new byte[0];

    private final List<Attribute> input;
    private final int time;
    private final boolean alone;
    private final boolean rows;
    private final long preceding;
    /** What is read of a row; its time is last. */
    private final List<Attribute> read = new ArrayList<>();

    private final List<ValueCounts> marks = new ArrayList<>();
    private final List<Attribute> marked = new ArrayList<>();
    private final Aggregates running;
    private final Aggregates sliding;
    private final List<Lag> lags = new ArrayList<>();
    private final List<Attribute> lagged = new ArrayList<>();
    private final List<Expression> results = new ArrayList<>();

    /**
     * The value of a row so many places before, or for lack of such what the last row says.
     *
     * @param name that of the result's column
     * @param value the column with the values
     * @param offset how many places before
     * @param otherwise the column for lack of such a row; null for NULL
     */
    record Lag(String name, String value, int offset, String otherwise) implements Serializable {}

    /**
     * What is asked for.
     *
     * @param time the column with a row's time, by which the rows are ordered
     * @param arrival whether that is the time at which they come
     * @param alone whether rows of one time have results of their own
     * @param rows whether the frame counts rows
     * @param preceding how many rows, or microseconds, the frame begins before the row; null: with the first
     * @param marks the columns that stand for marks
     */
    record Options(
            String time,
            boolean arrival,
            boolean alone,
            boolean rows,
            Long preceding,
            List<Mark> marks,
            List<Lag> lags) {}

    /** {@code node}: the aggregates, of all rows of a key; its input are the rows. */
    OverRows(Aggregate node, Options options) {
        input = new ArrayList<>(Scala.list(node.child().output()));
        for (Mark mark : options.marks) {
            mark.values(node.child()).forEach(this::read);
            marks.add(mark.counts(node.child()));
            marked.add(mark.of(node.child()));
        }
        input.removeIf(c -> has(marked, c));
        time = input.indexOf(Scala.named(node.child(), options.time));
        alone = options.alone;
        rows = options.rows;
        preceding = options.preceding == null ? UNBOUNDED : options.preceding;
        List<Expression> calls = new ArrayList<>();
        for (NamedExpression column : Scala.list(node.aggregateExpressions())) {
            if (column instanceof Alias alias) {
                calls.add(alias.child());
                Scala.list(alias.references().toSeq()).stream()
                        .filter(a -> !has(marked, a))
                        .forEach(this::read);
            }
        }
        for (Lag lag : options.lags) {
            read(Scala.named(node.child(), lag.value));
            if (lag.otherwise != null) {
                read(Scala.named(node.child(), lag.otherwise));
            }
            lags.add(lag);
            lagged.add(
                    Scala.attribute("lag", Scala.named(node.child(), lag.value).dataType()));
        }
        List<Attribute> seen = new ArrayList<>(read);
        sliding = new Aggregates(read);
        read.add(input.get(time));
        seen.add(input.get(time));
        seen.addAll(marked);
        running = new Aggregates(seen);
        for (Expression value : calls) {
            results.add(Scala.replaced(
                    value,
                    e -> e instanceof AggregateExpression call ? (slides(call) ? sliding : running).add(call) : null));
        }
        results.addAll(lagged);
    }

    private void read(Attribute column) {
        if (!has(read, column)) {
            read.add(column);
        }
    }

    private static boolean has(List<Attribute> columns, Attribute column) {
        return columns.stream().anyMatch(c -> c.exprId().equals(column.exprId()));
    }

    /** Whether the call is computed from the rows of a sliding frame; one with marks takes rows away by itself. */
    private boolean slides(AggregateExpression call) {
        return slides() && Scala.list(call.references().toSeq()).stream().noneMatch(a -> has(marked, a));
    }

    /** Whether rows leave the frame. */
    boolean slides() {
        return preceding != UNBOUNDED;
    }

    /** How many columns the rows have. */
    int width() {
        return input.size();
    }

    /** Which of them is the time. */
    int time() {
        return time;
    }

    /** The computation on one task. */
    final class Work {
        private final Aggregates.Work sums = running.new Work();
        private final List<ValueCounts.Work> counts = new ArrayList<>();
        private final SpecificInternalRow mark = new SpecificInternalRow(Scala.type(marked));
        private final SlidingFrame frame;
        private final UnsafeProjection arguments = UnsafeProjection.create(Scala.seq(read), Scala.seq(input));
        private final SpecificInternalRow shown = new SpecificInternalRow(Scala.type(lagged));
        private final int most = lags.stream().mapToInt(Lag::offset).max().orElse(-1) + 1;
        private final List<Attribute> names = read;
        private final UnsafeProjection output;
        private final JoinedRow seen = new JoinedRow();
        private final JoinedRow functions = new JoinedRow();
        private final JoinedRow results = new JoinedRow();
        private final JoinedRow out = new JoinedRow();
        private final InternalRow none = sliding.none();
        private ArrayDeque<UnsafeRow> last;
        private byte[] kept;
        private boolean begun;
        /**
         * The time of the last row that came out, and of the last before this micro-batch; a row of a sliding frame is
         * late behind that.
         */
        private long latest;

        private long before;

        Work(StatefulProcessorHandle handle) {
            frame = preceding == UNBOUNDED ? null : new SlidingFrame(handle, sliding, read.size());
            for (int i = 0; i < marks.size(); i++) {
                counts.add(marks.get(i)
                .new Work(handle, "values" + i, read, frame != null ? Counting.DIFFERENCE : Counting.PRESENCE));
            }
            List<Expression> columns = new ArrayList<>(input);
            columns.addAll(OverRows.this.results);
            List<Attribute> known = new ArrayList<>(input);
            // KeyedProcess's hash.
            known.add(Scala.attribute("hash", DataTypes.LongType));
            known.addAll(running.shown());
            known.addAll(sliding.shown());
            known.addAll(lagged);
            output = UnsafeProjection.create(Scala.seq(columns), Scala.seq(known));
        }

        /**
         * Begin with a key, for which {@code own} has what {@link #store} gave, or nothing. {@code arrival}: no row is
         * late.
         */
        void load(ByteBuffer own, boolean arrival) {
            kept = new byte[own.remaining()];
            own.get(kept);
            begun = false;
            latest = kept.length > 0 ? RowBytes.reader(kept).getLong() : Long.MIN_VALUE;
            before = slides() && !arrival ? latest : Long.MIN_VALUE;
        }

        /**
         * When no row that is in time can have the rows in its frame any more: after half as long again, as Flink
         * forgets them.
         */
        long end() {
            boolean ends = slides() && !rows && kept.length > 0;
            return ends ? latest + preceding + preceding / 2 + 1000 : EventTimeOperator.NEVER;
        }

        /** Reads what is kept, when the first row comes. */
        private void begin() {
            begun = true;
            ByteBuffer from = RowBytes.reader(kept);
            boolean known = kept.length > 0;
            if (known) {
                from.getLong();
            }
            sums.begin(known ? RowBytes.row(from, running.buffer.size()) : null);
            counts.forEach(c -> c.begin(known));
            last = new ArrayDeque<>();
            for (int i = known ? from.getInt() : 0; i > 0; i--) {
                last.add(RowBytes.row(from, read.size()));
            }
            if (frame != null) {
                frame.load(from);
            }
        }

        /** What is kept of the key when the watermark is {@code watermark}. */
        byte[] store(long watermark) {
            if (watermark >= end()) {
                counts.forEach(c -> {
                    c.begin(true);
                    c.clear();
                });
                frame.clear();
                kept = NOTHING;
                return kept;
            }
            if (!begun) {
                return kept;
            }
            counts.forEach(ValueCounts.Work::store);
            RowBytes bytes = new RowBytes().put(latest).put(sums.part()).put(last.size());
            last.forEach(bytes::put);
            if (frame != null) {
                frame.store(bytes);
            }
            kept = bytes.all();
            return kept;
        }

        /** {@code rows}, which come in order, with their results. */
        scala.collection.Iterator<InternalRow> process(scala.collection.Iterator<InternalRow> rows) {
            return new Results(
                    before == Long.MIN_VALUE
                            ? rows
                            : rows.dropWhile(new AbstractFunction1<>() {
                                @Override
                                public Boolean apply(InternalRow row) {
                                    return row.getLong(time) <= before;
                                }
                            }));
        }

        private void add(InternalRow row) {
            if (!begun) {
                begin();
            }
            UnsafeRow read = arguments.apply(row);
            count(read, 1);
            if (frame != null) {
                frame.add(read);
            }
            if (most > 0) {
                last.add(read.copy());
                if (last.size() > most) {
                    last.remove();
                }
            }
        }

        private void count(UnsafeRow read, int sign) {
            for (int i = 0; i < counts.size(); i++) {
                mark.setInt(i, counts.get(i).add(read, sign));
            }
            sums.add(seen.apply(read, mark));
        }

        /** Takes the rows out of the frame that are before it when its last row is of the time {@code at}. */
        private void slide(long at) {
            while (frame != null
                    && (rows
                            ? frame.size() > preceding + 1
                            : frame.first().getLong(read.size() - 1) < at - preceding)) {
                if (!counts.isEmpty()) {
                    count(frame.first(), -1);
                }
                frame.removeFirst();
            }
        }

        /** Computes what the results are made of. */
        private void compute() {
            for (int i = 0; i < lags.size(); i++) {
                Lag lag = lags.get(i);
                int place = last.size() - 1 - lag.offset;
                String name = place >= 0 ? lag.value : lag.otherwise;
                shown.update(i, name == null ? null : value(place >= 0 ? place : last.size() - 1, name));
            }
            functions.apply(sums.results(), frame == null ? none : frame.results());
            results.apply(functions, shown);
        }

        private Object value(int place, String name) {
            Iterator<UnsafeRow> each = last.iterator();
            UnsafeRow row = each.next();
            for (int i = 0; i < place; i++) {
                row = each.next();
            }
            int column = 0;
            while (!names.get(column).name().equals(name)) {
                column++;
            }
            return row.get(column, names.get(column).dataType());
        }

        /** Rows with their results, which those of one time may share. */
        private final class Results extends Peers {
            private Results(scala.collection.Iterator<InternalRow> rows) {
                super(rows, time, alone);
            }

            @Override
            void begin(List<InternalRow> peers) {
                peers.forEach(Work.this::add);
                latest = peers.get(0).getLong(time);
                slide(latest);
                compute();
            }

            @Override
            public InternalRow next() {
                return output.apply(out.apply(super.next(), results));
            }
        }
    }
}
