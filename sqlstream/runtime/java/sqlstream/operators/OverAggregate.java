package sqlstream.operators;

import java.nio.ByteBuffer;
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
import sqlstream.gateway.Described;
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
     * behind them, and then the lags of {@code options}, which are JSON.
     */
    public static Dataset<Row> of(Dataset<Row> aggregated, String options) {
        OverRows.Options said = Described.as(OverRows.Options.class, options);
        var frame = (org.apache.spark.sql.classic.Dataset<Row>) aggregated;
        Aggregate node =
                (Aggregate) ReplaceExpressions.apply(frame.queryExecution().analyzed());
        Dataset<Row> source = Dataset$.MODULE$.ofRows(frame.sparkSession(), node.child());
        List<String> keys = Scala.list(node.groupingExpressions()).stream()
                .map(k -> ((org.apache.spark.sql.catalyst.expressions.Attribute) k).name())
                .toList();
        var input = (org.apache.spark.sql.classic.Dataset<Row>)
                source.drop(said.marks().stream().map(Mark::column).toArray(String[]::new));
        StructType schema = input.schema();
        for (StructField field : aggregated.schema().fields()) {
            schema = keys.contains(field.name()) ? schema : schema.add(field);
        }
        for (OverRows.Lag lag : said.lags()) {
            schema = schema.add(lag.name(), source.schema().apply(lag.value()).dataType(), true);
        }
        OverRows over = new OverRows(node, said);
        return KeyedProcess.of(input, keys, schema, said.arrival() ? new ByArrival(over) : new OverAggregate(over));
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
