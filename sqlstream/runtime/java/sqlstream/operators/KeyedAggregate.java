package sqlstream.operators;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import sqlstream.aggregates.Fold;
import sqlstream.catalyst.Scala;
import sqlstream.catalyst.WholeRow;
import sqlstream.gateway.Described;
import sqlstream.state.KeyedOperator;
import sqlstream.state.Layout;
import sqlstream.state.StateTable;

/**
 * GROUP BY over a stream with what Spark's own streaming aggregate lacks: DISTINCT, retractions, a result whose rows
 * carry their kind. It computes with Spark's aggregate functions and emits a group's row once a micro-batch, if it has
 * changed.
 *
 * <p>{@link GroupCalls} says how calls are computed, {@link GroupWork} computes them, {@link GroupChanges} makes the
 * rows that come out.
 *
 * <p>State by key: the functions' buffers and the extremes; for each list of marked arguments, and each extreme of rows
 * that can be retracted, the counts of its values; the arguments of functions from which no row can be subtracted. The
 * buffer of a function in Python is its accumulator, with the rows that are not in it yet.
 */
public final class KeyedAggregate extends KeyedOperator implements StateTtl.Clearable, ArrivalOrder {
    /** What the state of the functions' buffers is called. */
    public static final String BUFFERS = "buffers";

    private final GroupCalls calls;
    private final GroupChanges.Emits emits;

    /** What it computes, on the driver. */
    private final transient Aggregate node;

    private transient ValueState<InternalRow> buffers;
    private transient GroupWork work;
    private transient GroupChanges changes;

    /**
     * What is asked for.
     *
     * @param marks the columns of the input that stand for marks
     * @param changes whether rows carry their kind. The last column of the result is then how many rows there are, and
     *     is taken out
     * @param ttl for how many milliseconds a group without rows is kept; 0 for ever
     */
    record Options(List<Mark> marks, boolean changes, GroupChanges.Emits emits, long ttl) {}

    /**
     * The result of {@code aggregated}, whose last operation is a groupBy of columns with agg.
     *
     * @param options as JSON
     * @param folds the columns that are a struct of an accumulator and a list of rows, each with what folds such rows
     *     into it
     */
    public static Dataset<Row> of(Dataset<Row> aggregated, String options, Map<String, Fold> folds) {
        Options said = Described.as(Options.class, options);
        var frame = (org.apache.spark.sql.classic.Dataset<Row>) aggregated;
        Aggregate node =
                (Aggregate) ReplaceExpressions.apply(frame.queryExecution().analyzed());
        String[] marks = said.marks.stream().map(Mark::column).toArray(String[]::new);
        var source = Dataset$.MODULE$.ofRows(frame.sparkSession(), node.child()).drop(marks);
        GroupCalls calls = new GroupCalls(node, said.marks, folds, said.changes);
        StructType schema = aggregated.schema();
        if (said.changes) {
            schema = new StructType(Arrays.copyOf(schema.fields(), schema.length() - 1));
        }
        if (said.emits != GroupChanges.Emits.ROWS) {
            schema = schema.add(RowKinds.COLUMN, DataTypes.ByteType, false);
        }
        List<String> keys = calls.keys.stream().skip(1).map(Attribute::name).toList();
        return KeyedProcess.of(source, keys, schema, new KeyedAggregate(calls, said.emits, node), said.ttl);
    }

    private KeyedAggregate(GroupCalls calls, GroupChanges.Emits emits, Aggregate node) {
        this.calls = calls;
        this.emits = emits;
        this.node = node;
    }

    @Override
    public List<Layout> layouts() {
        return List.of(Layout.KEYED_AGGREGATE, Layout.ROW_LISTS, Layout.VALUE_COUNTS, Layout.ACCUMULATED);
    }

    @Override
    public Aggregate aggregates() {
        return calls.kind < 0 && calls.marks.isEmpty() ? node : null;
    }

    @Override
    public String dependsOn() {
        return calls.dependsOn();
    }

    @Override
    public void describe(StateTable table, StructType rows) {
        calls.describe(table);
    }

    @Override
    public boolean byArrival() {
        return calls.kind >= 0;
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        buffers = getHandle().getValueState(BUFFERS, WholeRow.encoder(Scala.type(calls.kept())), TTLConfig.NONE());
        work = new GroupWork(calls, getHandle());
        changes = new GroupChanges(calls, emits);
    }

    @Override
    public void clearKey() {
        work.begin(buffers.get());
        work.clear();
        buffers.clear();
    }

    @Override
    public Iterator<InternalRow> handleInputRows(InternalRow key, Iterator<InternalRow> rows, TimerValues times) {
        InternalRow state = buffers.get();
        work.begin(state);
        UnsafeRow before = state == null ? null : work.result(key).copy();
        long number = before == null ? 0 : calls.number(before);
        while (rows.hasNext()) {
            InternalRow row = rows.next();
            int sign = calls.kind >= 0 && RowKinds.retracts(row.getByte(calls.kind)) ? -1 : 1;
            if (number + sign < 0) {
                // It is none of the group's, which has no rows.
                continue;
            }
            work.add(row, sign);
            number += sign;
            if (number == 0) {
                work.clear();
                work.begin(null);
            }
        }
        if (number == 0) {
            work.clear();
            buffers.clear();
            return changes.of(before, null);
        }
        work.settle();
        UnsafeRow after = work.result(key);
        buffers.update(work.end());
        return changes.of(before, after);
    }
}
