package sqlstream.operators;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import sqlstream.catalyst.RowBytes;
import sqlstream.catalyst.Scala;
import sqlstream.state.KeyedOperator;
import sqlstream.state.Layout;
import sqlstream.state.StateTable;

/**
 * OVER (PARTITION BY keys ORDER BY a time): each row with aggregates of the rows before it, as the watermark passes it,
 * or as it comes.
 *
 * <p>State by key: what {@link OverRows} keeps.
 */
public final class OverAggregate extends EventTimeOperator {
    private final OverRows over;
    private transient OverRows.Work work;
    private transient long watermark;

    /**
     * The rows below {@code aggregated}, whose last operation is a groupBy of columns with agg, with the aggregates
     * behind them, and then {@code lags}: for each its column's name, those of its values and of what stands in for it
     * (or an empty one), and its offset.
     *
     * @param time the column that the rows are ordered by
     * @param arrival whether that is the time at which they come
     * @param alone whether rows of one time have results of their own
     * @param rows whether the frame counts rows
     * @param preceding how many rows, or microseconds, the frame begins before the row; negative: with the first
     * @param marks as KeyedAggregate has them
     */
    public static Dataset<Row> of(
            Dataset<Row> aggregated,
            String time,
            boolean arrival,
            boolean alone,
            boolean rows,
            long preceding,
            List<List<String>> marks,
            List<List<String>> lags) {
        org.apache.spark.sql.classic.Dataset<Row> frame = (org.apache.spark.sql.classic.Dataset<Row>) aggregated;
        Aggregate node =
                (Aggregate) ReplaceExpressions.apply(frame.queryExecution().analyzed());
        Dataset<Row> source = Dataset$.MODULE$.ofRows(frame.sparkSession(), node.child());
        List<OverRows.Lag> before = lags.stream()
                .map(l -> new OverRows.Lag(l.get(1), Integer.parseInt(l.get(3)), l.get(2)))
                .toList();
        List<String> keys = Scala.list(node.groupingExpressions()).stream()
                .map(k -> ((org.apache.spark.sql.catalyst.expressions.Attribute) k).name())
                .toList();
        StructType schema = source.drop(marks.stream().map(m -> m.get(0)).toArray(String[]::new))
                .schema();
        for (StructField field : aggregated.schema().fields()) {
            schema = keys.contains(field.name()) ? schema : schema.add(field);
        }
        for (List<String> lag : lags) {
            schema = schema.add(lag.get(0), source.schema().apply(lag.get(1)).dataType(), true);
        }
        OverRows over = new OverRows(node, time, alone, rows, preceding, marks, new ArrayList<>(before));
        var input = (org.apache.spark.sql.classic.Dataset<Row>)
                source.drop(marks.stream().map(m -> m.get(0)).toArray(String[]::new));
        return KeyedProcess.of(input, keys, schema, arrival ? new ByArrival(over) : new OverAggregate(over));
    }

    private OverAggregate(OverRows over) {
        super(over.width(), over.time());
        this.over = over;
    }

    @Override
    public List<Layout> layouts() {
        return List.of(
                Layout.OVER_AGGREGATE,
                Layout.EVENT_TIME_BUFFER,
                Layout.SLIDING_FRAME,
                Layout.VALUE_COUNTS,
                Layout.ACCUMULATED);
    }

    @Override
    protected void describeOwn(StateTable table, StructType rows) {
        table.with("own", "bytes").column("frame", DataTypes.BinaryType);
    }

    @Override
    protected void open() {
        work = over.new Work(getHandle());
    }

    @Override
    protected void load(ByteBuffer own) {
        work.load(own, false);
    }

    @Override
    protected Iterator<InternalRow> process(InternalRow key, Iterator<InternalRow> rows, long watermark) {
        this.watermark = watermark;
        return work.process(rows);
    }

    @Override
    protected byte[] store() {
        return work.store(watermark);
    }

    @Override
    protected long wake() {
        return work.end();
    }

    /** Flink takes a row of a sliding frame for late when one of its key that is not before it has come out. */
    @Override
    boolean dropsLate() {
        return !over.slides();
    }

    /** The same as rows come. */
    private static final class ByArrival extends KeyedOperator {
        private final OverRows over;
        private transient OverRows.Work work;
        private transient ValueState<byte[]> state;

        private ByArrival(OverRows over) {
            this.over = over;
        }

        @Override
        public List<Layout> layouts() {
            return List.of(
                    Layout.OVER_AGGREGATE_BY_ARRIVAL, Layout.SLIDING_FRAME, Layout.VALUE_COUNTS, Layout.ACCUMULATED);
        }

        @Override
        public void describe(StateTable table, StructType rows) {
            table.by("row").with("family", "key").column("frame", DataTypes.BinaryType);
        }

        @Override
        public void init(OutputMode outputMode, TimeMode timeMode) {
            state = getHandle().getValueState("key", Encoders.BINARY(), TTLConfig.NONE());
            work = over.new Work(getHandle());
        }

        @Override
        public Iterator<InternalRow> handleInputRows(InternalRow key, Iterator<InternalRow> rows, TimerValues times) {
            byte[] kept = state.get();
            work.load(RowBytes.reader(kept == null ? new byte[0] : kept), true);
            Iterator<InternalRow> results = work.process(rows);
            return new AbstractIterator<>() {
                private boolean ended;

                @Override
                public boolean hasNext() {
                    if (!ended && !results.hasNext()) {
                        ended = true;
                        state.update(work.store(Long.MIN_VALUE));
                    }
                    return !ended;
                }

                @Override
                public InternalRow next() {
                    return results.next();
                }
            };
        }
    }
}
