package sqlstream;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Coalesce;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.MutableProjection;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.SpecificInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate;
import org.apache.spark.sql.catalyst.expressions.aggregate.ImperativeAggregate;
import org.apache.spark.sql.catalyst.expressions.aggregate.NoOp$;
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate;
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * GROUP BY over a stream with what Spark's own streaming aggregate lacks: DISTINCT. It computes with Spark's aggregate functions and gives a
 * group's row once a micro-batch, if it has changed.
 *
 * <p>State by key: the functions' buffers; for each list of distinct arguments a map from values to a BIGINT, with a bit for each
 * condition (FILTER) under which the value was seen.
 */
public final class KeyedAggregate extends StatefulProcessor<InternalRow, InternalRow, InternalRow> {
    // Values of one key that a micro-batch holds before they go to the state store.
    private static final int HELD_VALUES = 1 << 18;

    private final List<Attribute> keys = new ArrayList<>();
    private final List<Attribute> input;
    private final List<Attribute> buffer = new ArrayList<>();
    private final List<Expression> initial = new ArrayList<>();
    private final List<Expression> updates = new ArrayList<>();
    private final List<Imperative> imperatives = new ArrayList<>();
    private final List<Distinct> distincts = new ArrayList<>();
    private final List<Attribute> firsts = new ArrayList<>();
    private final List<Attribute> evaluated = new ArrayList<>();
    private final List<Expression> results = new ArrayList<>();

    private transient ValueState<InternalRow> buffers;
    private transient Work work;

    /** A function that is a program and not an expression. {@code condition} says which rows it sees, over the row and the firsts. */
    private record Imperative(ImperativeAggregate function, Expression condition, int place) implements Serializable {}

    /** Arguments of which each value counts once under a condition. {@code firsts} are places among the firsts; {@code forms} the canonical conditions. */
    private record Distinct(List<Expression> arguments, List<Expression> forms, List<Expression> conditions, List<Integer> firsts)
            implements Serializable {}

    /** The result of {@code aggregated}, whose last operation is a groupBy of columns with agg. */
    public static Dataset<Row> of(Dataset<Row> aggregated) {
        org.apache.spark.sql.classic.Dataset<Row> frame = (org.apache.spark.sql.classic.Dataset<Row>) aggregated;
        Aggregate node = (Aggregate) ReplaceExpressions.apply(frame.queryExecution().analyzed());
        org.apache.spark.sql.classic.Dataset<Row> source =
                (org.apache.spark.sql.classic.Dataset<Row>) Dataset$.MODULE$.ofRows(frame.sparkSession(), node.child());
        KeyedAggregate processor = new KeyedAggregate(node);
        return Keyed.process(source, processor.keys.stream().skip(1).map(Attribute::name).toList(), aggregated.schema(), processor);
    }

    private KeyedAggregate(Aggregate node) {
        input = new ArrayList<>(CollectionConverters.asJava(node.child().output()));
        // The rows have Keyed's hash at their end, the keys at their beginning.
        input.add(attribute("hash", DataTypes.LongType));
        keys.add(attribute("hash", DataTypes.LongType));
        for (Expression key : CollectionConverters.asJava(node.groupingExpressions())) {
            keys.add((Attribute) key);
        }
        Map<Expression, Expression> known = new LinkedHashMap<>();
        Map<List<Expression>, Distinct> byArguments = new LinkedHashMap<>();
        for (NamedExpression column : CollectionConverters.asJava(node.aggregateExpressions())) {
            Expression value = column instanceof Alias alias ? alias.child() : (Expression) column;
            results.add(Scala.replaced(value, e -> {
                if (!(e instanceof AggregateExpression call)) {
                    return null;
                }
                return known.computeIfAbsent(call.canonicalized(), c -> added(call, byArguments));
            }));
        }
        distincts.addAll(byArguments.values());
    }

    /** Takes {@code call} in; what stands for its result. */
    private Expression added(AggregateExpression call, Map<List<Expression>, Distinct> byArguments) {
        AggregateFunction function = call.aggregateFunction();
        Expression where = call.filter().isEmpty() ? null : new Coalesce(PythonUtils.toSeq(List.of(call.filter().get(), Literal.FalseLiteral())));
        Expression condition = where;
        if (call.isDistinct()) {
            List<Expression> arguments = List.copyOf(CollectionConverters.asJava(function.children()));
            List<Expression> same = arguments.stream().map(Expression::canonicalized).toList();
            Distinct distinct = byArguments.computeIfAbsent(same, s -> new Distinct(arguments, new ArrayList<>(), new ArrayList<>(), new ArrayList<>()));
            Expression form = where == null ? null : where.canonicalized();
            int bit = 0;
            while (bit < distinct.forms.size() && !Objects.equals(distinct.forms.get(bit), form)) {
                bit++;
            }
            if (bit == Long.SIZE) {
                throw new UnsupportedOperationException("DISTINCT of one argument under more than " + Long.SIZE + " conditions is not supported.");
            }
            if (bit == distinct.forms.size()) {
                distinct.forms.add(form);
                distinct.conditions.add(where);
                distinct.firsts.add(firsts.size());
                firsts.add(attribute("first", DataTypes.BooleanType));
            }
            condition = firsts.get(distinct.firsts.get(bit));
        }
        if (function instanceof DeclarativeAggregate declarative) {
            List<AttributeReference> own = List.copyOf(CollectionConverters.asJava(declarative.aggBufferAttributes()));
            List<Expression> changed = List.copyOf(CollectionConverters.asJava(declarative.updateExpressions()));
            for (int i = 0; i < own.size(); i++) {
                updates.add(condition == null ? changed.get(i) : new If(condition, changed.get(i), own.get(i)));
            }
            buffer.addAll(own);
            initial.addAll(CollectionConverters.asJava(declarative.initialValues()));
            return declarative.evaluateExpression();
        }
        List<AttributeReference> own = List.copyOf(CollectionConverters.asJava(function.aggBufferAttributes()));
        ImperativeAggregate imperative = ((ImperativeAggregate) function).withNewMutableAggBufferOffset(buffer.size());
        imperatives.add(new Imperative(imperative, condition, buffer.size()));
        for (AttributeReference attribute : own) {
            buffer.add(attribute);
            updates.add(NoOp$.MODULE$);
            initial.add(NoOp$.MODULE$);
        }
        AttributeReference result = attribute("result", function.dataType());
        evaluated.add(result);
        return result;
    }

    private static AttributeReference attribute(String name, DataType type) {
        return new AttributeReference(name, type, true, Metadata.empty(), NamedExpression$.MODULE$.newExprId(), PythonUtils.toSeq(List.of()));
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        buffers = getHandle().getValueState("buffers", Keyed.encoder(type(buffer)), TTLConfig.NONE());
        List<MapState<InternalRow, Long>> values = new ArrayList<>();
        for (int i = 0; i < distincts.size(); i++) {
            values.add(getHandle().getMapState("values" + i, Keyed.encoder(type(distincts.get(i).arguments)), Encoders.LONG(), TTLConfig.NONE()));
        }
        work = new Work(values);
    }

    private static StructType type(List<? extends Expression> columns) {
        StructType type = new StructType();
        for (Expression column : columns) {
            type = type.add("c" + type.length(), column.dataType(), true);
        }
        return type;
    }

    @Override
    public Iterator<InternalRow> handleInputRows(InternalRow key, Iterator<InternalRow> rows, TimerValues times) {
        InternalRow kept = buffers.get();
        boolean known = kept != null;
        work.begin(kept);
        UnsafeRow before = known ? work.result(key).copy() : null;
        while (rows.hasNext()) {
            work.add(rows.next());
        }
        UnsafeRow after = work.result(key);
        buffers.update(work.end());
        return CollectionConverters.asScala((after.equals(before) ? List.<InternalRow>of() : List.<InternalRow>of(after)).iterator());
    }

    private static <T> Seq<T> seq(List<? extends T> list) {
        return PythonUtils.toSeq((List<T>) list);
    }

    /** The computation on one task. */
    private final class Work {
        private final DataType[] types = buffer.stream().map(Expression::dataType).toArray(DataType[]::new);
        private final SpecificInternalRow row = new SpecificInternalRow(seq(List.of(types)));
        private final SpecificInternalRow first = new SpecificInternalRow(type(firsts));
        private final SpecificInternalRow extra = new SpecificInternalRow(type(evaluated));
        private final List<Values> values = new ArrayList<>();
        private final List<Imperative> programs = new ArrayList<>();
        private final MutableProjection start = MutableProjection.create(seq(initial), seq(List.<Attribute>of()));
        private final MutableProjection update;
        private final UnsafeProjection result;
        private final JoinedRow given = new JoinedRow();
        private final JoinedRow all = new JoinedRow();
        private final JoinedRow computed = new JoinedRow();
        private final JoinedRow answer = new JoinedRow();

        private Work(List<MapState<InternalRow, Long>> states) {
            List<Attribute> seen = new ArrayList<>(input);
            seen.addAll(firsts);
            for (Imperative imperative : imperatives) {
                ImperativeAggregate function = (ImperativeAggregate) Scala.bound(imperative.function, input);
                Expression condition = imperative.condition == null ? null : Scala.bound(imperative.condition, seen);
                programs.add(new Imperative(function, condition, imperative.place));
            }
            for (int i = 0; i < distincts.size(); i++) {
                values.add(new Values(distincts.get(i), states.get(i)));
            }
            List<Attribute> read = new ArrayList<>(buffer);
            read.addAll(seen);
            update = MutableProjection.create(seq(updates), seq(read)).target(row);
            start.target(row);
            List<Attribute> shown = new ArrayList<>(keys);
            shown.addAll(buffer);
            shown.addAll(evaluated);
            result = UnsafeProjection.create(seq(results), seq(shown));
        }

        /** Begin with a key, whose buffers are {@code kept}, or null. */
        private void begin(InternalRow kept) {
            values.forEach(v -> v.begin(kept != null));
            if (kept == null) {
                start.apply(null);
                programs.forEach(p -> p.function.initialize(row));
                return;
            }
            for (int i = 0; i < types.length; i++) {
                row.update(i, kept.get(i, types[i]));
            }
            for (Imperative program : programs) {
                if (program.function instanceof TypedImperativeAggregate<?> typed) {
                    row.update(program.place, typed.deserialize(row.getBinary(program.place)));
                }
            }
        }

        private void add(InternalRow next) {
            for (Values each : values) {
                each.add(next);
            }
            given.apply(next, first);
            update.apply(all.apply(row, given));
            for (Imperative program : programs) {
                if (program.condition == null || (Boolean) program.condition.eval(given)) {
                    program.function.update(row, next);
                }
            }
        }

        private UnsafeRow result(InternalRow key) {
            for (int i = 0; i < programs.size(); i++) {
                extra.update(i, programs.get(i).function.eval(row));
            }
            return result.apply(answer.apply(key, computed.apply(row, extra)));
        }

        /** The buffers as they are kept. */
        private InternalRow end() {
            values.forEach(Values::store);
            for (Imperative program : programs) {
                if (program.function instanceof TypedImperativeAggregate<?> typed) {
                    typed.serializeAggregateBufferInPlace(row);
                }
            }
            return row;
        }

        /** The values of a key that calls with the same arguments have seen. */
        private final class Values {
            private final Distinct distinct;
            private final MapState<InternalRow, Long> state;
            private final UnsafeProjection projection;
            private final Expression[] conditions;
            private Map<UnsafeRow, long[]> held = new HashMap<>();
            private boolean stored;

            private Values(Distinct distinct, MapState<InternalRow, Long> state) {
                this.distinct = distinct;
                this.state = state;
                projection = UnsafeProjection.create(seq(distinct.arguments), seq(input));
                conditions = distinct.conditions.stream().map(c -> c == null ? null : Scala.bound(c, input)).toArray(Expression[]::new);
            }

            private void begin(boolean known) {
                stored = known;
                held = new HashMap<>();
            }

            /** Notes for each call whether it sees the values of {@code next} for the first time. */
            private void add(InternalRow next) {
                UnsafeRow value = projection.apply(next);
                long[] bits = held.get(value);
                if (bits == null) {
                    if (held.size() == HELD_VALUES) {
                        store();
                        begin(true);
                    }
                    value = value.copy();
                    Long kept = stored ? state.getValue(value) : null;
                    long before = kept == null ? 0 : kept;
                    bits = new long[] {before, before};
                    held.put(value, bits);
                }
                for (int i = 0; i < conditions.length; i++) {
                    long bit = 1L << i;
                    boolean is = (bits[1] & bit) == 0 && (conditions[i] == null || (Boolean) conditions[i].eval(next));
                    first.setBoolean(distinct.firsts.get(i), is);
                    bits[1] |= is ? bit : 0;
                }
            }

            private void store() {
                held.forEach((value, bits) -> {
                    if (bits[0] != bits[1]) {
                        state.updateValue(value, bits[1]);
                    }
                });
            }
        }
    }
}
