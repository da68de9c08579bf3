package sqlstream.aggregates;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Coalesce;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.MutableProjection;
import org.apache.spark.sql.catalyst.expressions.SpecificInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate;
import org.apache.spark.sql.catalyst.expressions.aggregate.ImperativeAggregate;
import org.apache.spark.sql.catalyst.expressions.aggregate.NoOp$;
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate;
import org.apache.spark.sql.types.DataType;
import sqlstream.catalyst.Scala;

/**
 * Spark's aggregate functions over rows that come one by one: their buffers, how a row changes these, what they give.
 */
public final class Aggregates implements Serializable {
    /** What the functions keep, as columns of one row. */
    public final List<Attribute> buffer = new ArrayList<>();

    private final List<Attribute> input;
    private final List<Expression> initial = new ArrayList<>();
    private final List<Expression> updates = new ArrayList<>();
    private final List<Expression> merges = new ArrayList<>();
    private final List<Attribute> merged = new ArrayList<>();
    private final List<Imperative> imperatives = new ArrayList<>();
    private final List<Attribute> evaluated = new ArrayList<>();
    private final Map<Expression, Expression> known = new HashMap<>();

    /** A function that is a program and not an expression. {@code condition} says which rows it sees. */
    private record Imperative(ImperativeAggregate function, Expression condition, int place) implements Serializable {}

    /** {@code input}: the columns of the rows. */
    public Aggregates(List<Attribute> input) {
        this.input = List.copyOf(input);
    }

    /** The calls in {@code value}, in the order in which they are to be taken in. */
    public static List<AggregateExpression> calls(Expression value) {
        List<AggregateExpression> found = new ArrayList<>();
        Scala.replaced(value, e -> {
            if (e instanceof AggregateExpression call) {
                found.add(call);
                return call;
            }
            return null;
        });
        return found;
    }

    /** Takes {@code call} in, without regard to its DISTINCT; what stands for its result, over {@code shown}. */
    public Expression add(AggregateExpression call) {
        return known.computeIfAbsent(call.canonicalized(), c -> added(call));
    }

    /** The columns of the row that {@code Work.results} gives. */
    public List<Attribute> shown() {
        List<Attribute> shown = new ArrayList<>(buffer);
        shown.addAll(evaluated);
        return shown;
    }

    /** What stands for the results of functions that are programs, each with the place of its buffer. */
    public Map<ExprId, Integer> programs() {
        Map<ExprId, Integer> places = new HashMap<>();
        for (int i = 0; i < imperatives.size(); i++) {
            places.put(evaluated.get(i).exprId(), imperatives.get(i).place);
        }
        return places;
    }

    /** A row of {@code shown} without values, for where nothing is computed. */
    public InternalRow none() {
        return new SpecificInternalRow(Scala.type(shown()));
    }

    private Expression added(AggregateExpression call) {
        AggregateFunction function = call.aggregateFunction();
        Expression condition = call.filter().isEmpty()
                ? null
                : new Coalesce(PythonUtils.toSeq(List.of(call.filter().get(), Literal.FalseLiteral())));
        List<AttributeReference> own = List.copyOf(Scala.list(function.aggBufferAttributes()));
        if (function instanceof DeclarativeAggregate declarative) {
            List<Expression> changed = List.copyOf(Scala.list(declarative.updateExpressions()));
            for (int i = 0; i < own.size(); i++) {
                updates.add(condition == null ? changed.get(i) : new If(condition, changed.get(i), own.get(i)));
            }
            buffer.addAll(own);
            merges.addAll(Scala.list(declarative.mergeExpressions()));
            merged.addAll(Scala.list(declarative.inputAggBufferAttributes()));
            initial.addAll(Scala.list(declarative.initialValues()));
            return declarative.evaluateExpression();
        }
        ImperativeAggregate program = ((ImperativeAggregate) function)
                .withNewMutableAggBufferOffset(buffer.size())
                .withNewInputAggBufferOffset(buffer.size());
        imperatives.add(new Imperative(program, condition, buffer.size()));
        for (AttributeReference attribute : own) {
            buffer.add(attribute);
            merged.add(Scala.attribute("merged", attribute.dataType()));
            merges.add(NoOp$.MODULE$);
            updates.add(NoOp$.MODULE$);
            initial.add(NoOp$.MODULE$);
        }
        AttributeReference result = Scala.attribute("result", function.dataType());
        evaluated.add(result);
        return result;
    }

    /** The computation on one task. */
    public final class Work {
        private final DataType[] types =
                buffer.stream().map(Expression::dataType).toArray(DataType[]::new);
        private final SpecificInternalRow row = new SpecificInternalRow(Scala.seq(List.of(types)));
        private final SpecificInternalRow extra = new SpecificInternalRow(Scala.type(evaluated));
        private final List<Imperative> programs = new ArrayList<>();
        private final MutableProjection start =
                MutableProjection.create(Scala.seq(initial), Scala.seq(List.<Attribute>of()));
        private final MutableProjection update;
        private final UnsafeProjection part = UnsafeProjection.create(types);
        private MutableProjection merge;
        private final JoinedRow all = new JoinedRow();
        private final JoinedRow computed = new JoinedRow();

        public Work() {
            for (Imperative imperative : imperatives) {
                ImperativeAggregate function = (ImperativeAggregate) Scala.bound(imperative.function, input);
                Expression condition = imperative.condition == null ? null : Scala.bound(imperative.condition, input);
                programs.add(new Imperative(function, condition, imperative.place));
            }
            List<Attribute> read = new ArrayList<>(buffer);
            read.addAll(input);
            update = MutableProjection.create(Scala.seq(updates), Scala.seq(read))
                    .target(row);
            start.target(row);
        }

        /** Begin with the buffers {@code kept}, whose first columns they are, or with no rows where it is null. */
        public void begin(InternalRow kept) {
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

        public void add(InternalRow next) {
            update.apply(all.apply(row, next));
            for (Imperative program : programs) {
                if (program.condition == null || (Boolean) program.condition.eval(next)) {
                    program.function.update(row, next);
                }
            }
        }

        /** Takes in the buffers {@code later} of rows that come behind those so far. */
        public void merge(InternalRow later) {
            if (merge == null) {
                List<Attribute> read = new ArrayList<>(buffer);
                read.addAll(merged);
                merge = MutableProjection.create(Scala.seq(merges), Scala.seq(read))
                        .target(row);
            }
            merge.apply(all.apply(row, later));
            programs.forEach(p -> p.function.merge(row, later));
        }

        /** The buffers as they are kept, while the computation continues; good until it does. */
        public InternalRow buffers() {
            if (programs.isEmpty()) {
                return row;
            }
            InternalRow kept = row.copy();
            for (Imperative program : programs) {
                if (program.function instanceof TypedImperativeAggregate<?> typed) {
                    kept.update(program.place, serialized(typed, row.get(program.place, types[program.place])));
                }
            }
            return kept;
        }

        @SuppressWarnings("unchecked") // Spark gives a function the buffer that it has made.
        private <T> byte[] serialized(TypedImperativeAggregate<T> function, Object value) {
            return function.serialize((T) value);
        }

        /** A copy of the buffers as they are kept. */
        public UnsafeRow part() {
            return part.apply(buffers()).copy();
        }

        /** What results are computed from. */
        public InternalRow results() {
            for (int i = 0; i < programs.size(); i++) {
                extra.update(i, programs.get(i).function.eval(row));
            }
            return computed.apply(row, extra);
        }

        /** The buffers as they are kept; the computation of these rows ends. */
        public InternalRow end() {
            for (Imperative program : programs) {
                if (program.function instanceof TypedImperativeAggregate<?> typed) {
                    typed.serializeAggregateBufferInPlace(row);
                }
            }
            return row;
        }
    }
}
