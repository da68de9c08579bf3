package sqlstream.operators;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.InterpretedOrdering;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.SpecificInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.Max;
import org.apache.spark.sql.catalyst.expressions.aggregate.Min;
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import sqlstream.aggregates.Accumulated;
import sqlstream.aggregates.Aggregates;
import sqlstream.aggregates.PythonFold;
import sqlstream.catalyst.Scala;
import sqlstream.catalyst.SqlText;
import sqlstream.catalyst.WholeRow;
import sqlstream.state.KeyedOperator;
import sqlstream.state.Layout;
import sqlstream.state.RowLists;
import sqlstream.state.StateTable;
import sqlstream.state.ValueCounts;
import sqlstream.state.ValueCounts.Counting;

/**
 * GROUP BY over a stream with what Spark's own streaming aggregate lacks: DISTINCT, retractions, a result whose rows
 * carry their kind. It computes with Spark's aggregate functions and emits a group's row once a micro-batch, if it has
 * changed.
 *
 * <p>State by key: the functions' buffers and the extremes; for each list of marked arguments, and each extreme of rows
 * that can be retracted, the counts of its values; the arguments of functions from which no row can be subtracted. The
 * buffer of a function in Python is its accumulator, with the rows that are not in it yet.
 */
public final class KeyedAggregate extends KeyedOperator implements StateTtl.Clearable, ArrivalOrder {
    private static final int NO_KINDS = 0;
    private static final int BEFORE_TOO = 2;

    private final List<Attribute> keys = new ArrayList<>();
    private final List<Attribute> input;
    private final List<ValueCounts> marks = new ArrayList<>();
    private final List<Attribute> marked = new ArrayList<>();
    private final List<Extreme> extremes = new ArrayList<>();
    private final Aggregates running;
    private final Aggregates replayed;
    private final List<Attribute> replayInput = new ArrayList<>();
    private final List<Expression> results = new ArrayList<>();
    private final List<String> names = new ArrayList<>();
    private final int kind;
    private final int kinds;

    private transient ValueState<InternalRow> buffers;
    private transient Work work;

    /** MIN or MAX of rows that can be retracted: the counts of its values, and where its value stands. */
    private record Extreme(ValueCounts values, boolean greatest, Attribute result) implements Serializable {}

    /**
     * The result of {@code aggregated}, whose last operation is a groupBy of columns with agg.
     *
     * @param marks for each column of the input that stands for a mark its name, that of a condition or an empty one,
     *     and those of arguments: 1 in a row that brings their values, -1 in one that removes them, else 0
     * @param folds the columns that are a struct of an accumulator and a list of rows, each with what folds such rows
     *     into it
     * @param kind the column with the kinds of rows, if there can be others than inserts, or an empty name. The last
     *     column of the result is then how many rows there are, and is taken out
     * @param kinds 0: each row replaces that of its key; 1: rows get their kind; 2: and what a row was comes before
     *     what it is
     * @param ttl for how many milliseconds a group without rows is kept; 0 for ever
     */
    public static Dataset<Row> of(
            Dataset<Row> aggregated,
            List<List<String>> marks,
            Map<String, PythonFold> folds,
            String kind,
            int kinds,
            long ttl) {
        org.apache.spark.sql.classic.Dataset<Row> frame = (org.apache.spark.sql.classic.Dataset<Row>) aggregated;
        Aggregate node =
                (Aggregate) ReplaceExpressions.apply(frame.queryExecution().analyzed());
        String[] names = marks.stream().map(m -> m.get(0)).toArray(String[]::new);
        Dataset<Row> source =
                Dataset$.MODULE$.ofRows(frame.sparkSession(), node.child()).drop(names);
        KeyedAggregate processor = new KeyedAggregate(node, marks, folds, kind, kinds);
        StructType schema = aggregated.schema();
        if (!kind.isEmpty()) {
            schema = new StructType(Arrays.copyOf(schema.fields(), schema.length() - 1));
        }
        if (kinds != NO_KINDS) {
            schema = schema.add(RowKinds.COLUMN, DataTypes.ByteType, false);
        }
        List<String> keys = processor.keys.stream().skip(1).map(Attribute::name).toList();
        return KeyedProcess.of((org.apache.spark.sql.classic.Dataset<Row>) source, keys, schema, processor, ttl);
    }

    private KeyedAggregate(
            Aggregate node, List<List<String>> marks, Map<String, PythonFold> folds, String kind, int kinds) {
        List<Attribute> columns = new ArrayList<>(Scala.list(node.child().output()));
        for (List<String> mark : marks) {
            List<Expression> arguments = mark.stream()
                    .skip(2)
                    .<Expression>map(name -> Scala.named(node.child(), name))
                    .toList();
            this.marks.add(
                    new ValueCounts(arguments, mark.get(1).isEmpty() ? null : Scala.named(node.child(), mark.get(1))));
            marked.add(Scala.named(node.child(), mark.get(0)));
        }
        columns.removeIf(c -> marked.stream().anyMatch(m -> m.exprId().equals(c.exprId())));
        // The rows have KeyedProcess's hash at their end and ArrivalOrder's number behind it, the keys at their
        // beginning.
        columns.add(Scala.attribute("hash", DataTypes.LongType));
        input = columns;
        keys.add(Scala.attribute("hash", DataTypes.LongType));
        for (Expression key : Scala.list(node.groupingExpressions())) {
            keys.add((Attribute) key);
        }
        this.kind = kind.isEmpty() ? -1 : input.indexOf(Scala.named(node.child(), kind));
        if (this.kind >= 0) {
            columns.add(Scala.attribute("arrival", DataTypes.LongType));
        }
        this.kinds = kinds;
        List<Attribute> seen = new ArrayList<>(input);
        seen.addAll(marked);
        running = new Aggregates(seen);
        List<AggregateExpression> replays = new ArrayList<>();
        for (NamedExpression column : Scala.list(node.aggregateExpressions())) {
            if (folds.containsKey(column.name())) {
                continue;
            }
            Scala.replaced(column instanceof Alias alias ? alias.child() : (Expression) column, e -> {
                if (e instanceof AggregateExpression call
                        && this.kind >= 0
                        && !signed(call)
                        && extremeOf(call) == null) {
                    replays.add(call);
                }
                return e instanceof AggregateExpression ? e : null;
            });
        }
        for (AggregateExpression call : replays) {
            for (Attribute column : Scala.list(call.references().toSeq())) {
                if (replayInput.stream().noneMatch(a -> a.exprId().equals(column.exprId()))) {
                    replayInput.add(column);
                }
            }
        }
        replayed = new Aggregates(replayInput);
        for (NamedExpression column : Scala.list(node.aggregateExpressions())) {
            Expression value = column instanceof Alias alias ? alias.child() : (Expression) column;
            PythonFold fold = folds.get(column.name());
            names.add(column.name());
            results.add(
                    fold != null
                            ? running.add(accumulated(value, fold))
                            : Scala.replaced(
                                    value,
                                    e -> e instanceof AggregateExpression call
                                            ? added(call, replays.contains(call))
                                            : null));
        }
    }

    /** Whether the call takes rows away by itself: it reads their kind or a mark. */
    private boolean signed(AggregateExpression call) {
        return Scala.list(call.references().toSeq()).stream()
                .anyMatch(a -> marked.stream().anyMatch(m -> m.exprId().equals(a.exprId()))
                        || input.get(kind).exprId().equals(a.exprId()));
    }

    /** The struct {@code value}, as it is kept. Its list of rows is the only aggregate in it. */
    private static AggregateExpression accumulated(Expression value, PythonFold fold) {
        List<AggregateExpression> found = new ArrayList<>();
        Scala.replaced(value, e -> {
            if (e instanceof AggregateExpression call) {
                found.add(call);
            }
            return e instanceof AggregateExpression ? e : null;
        });
        AggregateExpression rows = found.get(0);
        Expression row = Scala.list(rows.aggregateFunction().children()).get(0);
        return new Accumulated(row, value.dataType(), fold, 0, 0).toAggregateExpression(false, rows.filter());
    }

    private static Expression extremeOf(AggregateExpression call) {
        return call.aggregateFunction() instanceof Max max
                ? max.child()
                : call.aggregateFunction() instanceof Min min ? min.child() : null;
    }

    private Expression added(AggregateExpression call, boolean replay) {
        if (replay) {
            return replayed.add(call);
        }
        if (kind < 0 || signed(call)) {
            return running.add(call);
        }
        Expression value = extremeOf(call);
        Attribute result = Scala.attribute("extreme", value.dataType());
        Expression present = new IsNotNull(value);
        Expression where = call.filter().isEmpty()
                ? present
                : new And(present, call.filter().get());
        extremes.add(
                new Extreme(new ValueCounts(List.of(value), where), call.aggregateFunction() instanceof Max, result));
        return result;
    }

    @Override
    public List<Layout> layouts() {
        return List.of(Layout.KEYED_AGGREGATE, Layout.ROW_LISTS, Layout.VALUE_COUNTS, Layout.ACCUMULATED);
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        List<Attribute> columns = new ArrayList<>(running.buffer);
        extremes.forEach(e -> columns.add(e.result));
        buffers = getHandle().getValueState("buffers", WholeRow.encoder(Scala.type(columns)), TTLConfig.NONE());
        work = new Work();
    }

    @Override
    public String dependsOn() {
        List<String> values = new ArrayList<>();
        marks.forEach(m -> values.add(m.type()));
        extremes.forEach(e -> values.add(e.values.type() + (e.greatest ? " greatest" : " least")));
        return "buffers " + Scala.type(running.buffer).catalogString() + ", counts " + values + ", arguments "
                + Scala.type(replayInput).catalogString();
    }

    @Override
    public void describe(StateTable table, StructType rows) {
        Map<ExprId, String> places = new HashMap<>();
        for (int i = 0; i < keys.size(); i++) {
            places.put(keys.get(i).exprId(), "k" + i);
        }
        running.buffer.forEach(b -> places.put(b.exprId(), table.value(b.dataType())));
        extremes.forEach(e -> places.put(e.result.exprId(), table.value(e.result.dataType())));
        Map<ExprId, Integer> programs = running.programs();
        for (int i = keys.size() - 1; i < results.size(); i++) {
            if (StateTable.isGenerated(names.get(i))) {
                continue;
            }
            String name = names.get(i);
            String sql = SqlText.of(results.get(i), places);
            if (sql != null) {
                table.column(name, sql, results.get(i).dataType());
                continue;
            }
            // The buffer of a function that is a program is bytes.
            Scala.list(results.get(i).references().toSeq()).stream()
                    .filter(a -> programs.containsKey(a.exprId()))
                    .findFirst()
                    .ifPresent(a -> table.column(name, "v" + programs.get(a.exprId())));
        }
        table.by("buffers");
        List<String> counted = new ArrayList<>();
        for (int i = 0; i < marks.size(); i++) {
            marks.get(i).describe(table);
            counted.add("values" + i);
        }
        table.with("counts", counted);
        if (!replayInput.isEmpty()) {
            StructType arguments = new StructType();
            for (Attribute column : replayInput) {
                arguments = arguments.add(column.name(), column.dataType());
            }
            table.with("name", "arguments").rows("arguments", arguments);
        }
    }

    @Override
    public boolean byArrival() {
        return kind >= 0;
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
        long number = before == null ? 0 : number(before);
        while (rows.hasNext()) {
            InternalRow row = rows.next();
            int sign = kind >= 0 && RowKinds.retracts(row.getByte(kind)) ? -1 : 1;
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
        work.settle();
        UnsafeRow after = work.result(key);
        boolean empty = number == 0;
        if (empty) {
            work.clear();
            buffers.clear();
        } else {
            buffers.update(work.end());
        }
        List<InternalRow> output = new ArrayList<>();
        if (before == null) {
            if (!empty) {
                output.add(work.emitted(after, RowKinds.INSERT));
            }
        } else if (empty) {
            output.add(work.emitted(before, RowKinds.DELETE));
        } else if (!work.same(before, after)) {
            if (kinds == BEFORE_TOO) {
                output.add(work.emitted(before, RowKinds.UPDATE_BEFORE).copy());
            }
            output.add(work.emitted(after, RowKinds.UPDATE_AFTER));
        }
        return CollectionConverters.asScala(output.iterator());
    }

    /** How many rows a group has, where they can be retracted: it is behind all that is emitted. */
    private long number(UnsafeRow result) {
        return kind >= 0 ? result.getLong(results.size() - 1) : 1;
    }

    /** The computation on one task. */
    private final class Work {
        private final Aggregates.Work sums = running.new Work();
        private final Aggregates.Work replays = replayed.new Work();
        private final List<ValueCounts.Work> counts = new ArrayList<>();
        private final List<ValueCounts.Work> ranges = new ArrayList<>();
        private final List<InterpretedOrdering> orders = new ArrayList<>();
        private final InternalRow[] best = new InternalRow[extremes.size()];
        private final boolean[] lost = new boolean[extremes.size()];
        private final SpecificInternalRow mark = new SpecificInternalRow(Scala.type(marked));
        private final SpecificInternalRow found;
        private final RowLists kept =
                replayInput.isEmpty() ? null : new RowLists(getHandle(), "arguments", replayInput.size());
        private final UnsafeProjection arguments = UnsafeProjection.create(Scala.seq(replayInput), Scala.seq(input));
        private final JoinedRow seen = new JoinedRow();
        private final JoinedRow computed = new JoinedRow();
        private final JoinedRow withFound = new JoinedRow();
        private final JoinedRow answer = new JoinedRow();
        private final JoinedRow held = new JoinedRow();
        private final UnsafeProjection result;
        private final UnsafeProjection shown;
        private final GenericInternalRow code = new GenericInternalRow(1);
        private final JoinedRow out = new JoinedRow();

        private Work() {
            for (int i = 0; i < marks.size(); i++) {
                counts.add(marks.get(i)
                .new Work(getHandle(), "values" + i, input, kind >= 0 ? Counting.DIFFERENCE : Counting.PRESENCE));
            }
            List<Attribute> columns = new ArrayList<>();
            for (int i = 0; i < extremes.size(); i++) {
                Extreme extreme = extremes.get(i);
                ranges.add(extreme.values.new Work(getHandle(), "extreme" + i, input, Counting.NUMBER));
                orders.add(InterpretedOrdering.forSchema(Scala.seq(List.of(extreme.result.dataType()))));
                columns.add(extreme.result);
            }
            found = new SpecificInternalRow(Scala.type(columns));
            List<Attribute> read = new ArrayList<>(keys);
            read.addAll(running.shown());
            read.addAll(columns);
            read.addAll(replayed.shown());
            result = UnsafeProjection.create(Scala.seq(results), Scala.seq(read));
            List<Attribute> all = new ArrayList<>();
            results.forEach(r -> all.add(Scala.attribute("r", r.dataType())));
            List<Expression> wanted = new ArrayList<>(kind < 0 ? all : all.subList(0, all.size() - 1));
            if (kinds != NO_KINDS) {
                all.add(Scala.attribute("kind", DataTypes.ByteType));
                wanted.add(all.get(all.size() - 1));
            }
            shown = UnsafeProjection.create(Scala.seq(wanted), Scala.seq(all));
        }

        /** Begin with a key, of which {@code state} is kept, or null. */
        private void begin(InternalRow state) {
            counts.forEach(c -> c.begin(state != null));
            sums.begin(state);
            for (int i = 0; i < best.length; i++) {
                ranges.get(i).begin(state != null);
                DataType type = extremes.get(i).result.dataType();
                int place = running.buffer.size() + i;
                Object value =
                        state == null || state.isNullAt(place) ? null : InternalRow.copyValue(state.get(place, type));
                best[i] = value == null ? null : new GenericInternalRow(new Object[] {value});
                lost[i] = false;
            }
            if (kept != null) {
                kept.load();
            }
        }

        /** Adds a row, or retracts it where {@code sign} is negative. */
        private void add(InternalRow row, int sign) {
            for (int i = 0; i < counts.size(); i++) {
                mark.setInt(i, counts.get(i).add(row, sign));
            }
            for (int i = 0; i < best.length; i++) {
                int change = ranges.get(i).add(row, sign);
                if (change != 0) {
                    InternalRow value = ranges.get(i).value(row);
                    int order = order(i, value);
                    if (change > 0 && order > 0) {
                        best[i] = value.copy();
                    }
                    lost[i] |= change < 0 && order >= 0;
                }
            }
            sums.add(seen.apply(row, mark));
            if (kept != null) {
                UnsafeRow values = arguments.apply(row).copy();
                if (sign > 0) {
                    kept.add(0, values);
                } else {
                    kept.remove(0, values);
                }
            }
        }

        /** Whether a value is beyond the extreme {@code i} (> 0), equal to it, or on this side of it. */
        private int order(int i, InternalRow value) {
            return best[i] == null ? 1 : orders.get(i).compare(value, best[i]) * (extremes.get(i).greatest ? 1 : -1);
        }

        /** Finds the extremes whose value was retracted. */
        private void settle() {
            for (int i = 0; i < best.length; i++) {
                if (lost[i]) {
                    ranges.get(i).store();
                    best[i] = null;
                    Iterator<InternalRow> values = ranges.get(i).present();
                    while (values.hasNext()) {
                        InternalRow value = values.next();
                        best[i] = order(i, value) > 0 ? value.copy() : best[i];
                    }
                }
            }
        }

        private UnsafeRow result(InternalRow key) {
            for (int i = 0; i < best.length; i++) {
                found.update(
                        i,
                        best[i] == null
                                ? null
                                : best[i].get(0, extremes.get(i).result.dataType()));
            }
            replays.begin(null);
            if (kept != null) {
                Iterator<InternalRow> values = kept.rows(0);
                while (values.hasNext()) {
                    replays.add(values.next());
                }
            }
            computed.apply(withFound.apply(sums.results(), found), replays.results());
            return result.apply(answer.apply(key, computed));
        }

        /** Whether two results are the same but for the number of rows. */
        private boolean same(UnsafeRow one, UnsafeRow other) {
            return kind < 0
                    ? one.equals(other)
                    : emitted(one, RowKinds.INSERT).copy().equals(emitted(other, RowKinds.INSERT));
        }

        /** A result as it is emitted, with its kind. */
        private UnsafeRow emitted(UnsafeRow row, byte as) {
            code.update(0, as);
            return shown.apply(kinds == NO_KINDS ? row : out.apply(row, code));
        }

        /** What is kept of the key. */
        private InternalRow end() {
            counts.forEach(ValueCounts.Work::store);
            ranges.forEach(ValueCounts.Work::store);
            if (kept != null) {
                kept.store();
            }
            return extremes.isEmpty() ? sums.end() : held.apply(sums.end(), found);
        }

        private void clear() {
            counts.forEach(ValueCounts.Work::clear);
            ranges.forEach(ValueCounts.Work::clear);
            if (kept != null) {
                kept.clear();
            }
        }
    }
}
