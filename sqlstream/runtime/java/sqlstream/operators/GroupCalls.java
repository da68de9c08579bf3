package sqlstream.operators;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.Max;
import org.apache.spark.sql.catalyst.expressions.aggregate.Min;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import sqlstream.aggregates.Accumulated;
import sqlstream.aggregates.Aggregates;
import sqlstream.aggregates.Fold;
import sqlstream.catalyst.Scala;
import sqlstream.catalyst.SqlText;
import sqlstream.state.StateTable;
import sqlstream.state.ValueCounts;

/**
 * How the calls of a GROUP BY are computed of rows that come one by one: for each function its buffer or, where rows
 * can be retracted and it has no way to subtract one, the counts of its values or all of its arguments.
 */
final class GroupCalls implements Serializable {
    /** The keys, behind their hash. */
    final List<Attribute> keys = new ArrayList<>();
    /** The columns of the rows, without the marks. */
    final List<Attribute> input;
    /** Which of them is the rows' kind; -1 where all are inserts. */
    final int kind;

    /** The values that count once, and the columns that stand for their marks. */
    final List<ValueCounts> marks = new ArrayList<>();

    final List<Attribute> marked = new ArrayList<>();
    final List<Extreme> extremes = new ArrayList<>();

    /** The functions whose buffers are kept; they see a row and its marks. */
    final Aggregates running;

    /** The functions that are computed anew of the arguments of all rows, which are kept. */
    final Aggregates replayed;

    final List<Attribute> replayInput = new ArrayList<>();

    /** The columns of the result, over keys, buffers, extremes and what is computed anew. */
    final List<Expression> results = new ArrayList<>();

    private final List<String> names = new ArrayList<>();

    /** MIN or MAX of rows that can be retracted: the counts of its values, and where its value stands. */
    record Extreme(ValueCounts values, boolean greatest, Attribute result) implements Serializable {}

    /**
     * @param node the groupBy
     * @param marks the columns of its input that stand for marks
     * @param folds the columns that are a struct of an accumulator and a list of rows, each with what folds such rows
     *     into it
     * @param changes whether rows carry their kind. The last column of the result is then how many rows there are
     */
    GroupCalls(Aggregate node, List<Mark> marks, Map<String, Fold> folds, boolean changes) {
        for (Mark mark : marks) {
            this.marks.add(mark.counts(node.child()));
            marked.add(mark.of(node.child()));
        }
        // The rows have KeyedProcess's hash at their end and ArrivalOrder's number behind it, the keys at their
        // beginning.
        input = new ArrayList<>(Scala.list(node.child().output()));
        input.removeIf(this::isMark);
        input.add(Scala.attribute("hash", DataTypes.LongType));
        keys.add(Scala.attribute("hash", DataTypes.LongType));
        Scala.list(node.groupingExpressions()).forEach(key -> keys.add((Attribute) key));
        kind = changes ? input.indexOf(Scala.named(node.child(), RowKinds.COLUMN)) : -1;
        if (changes) {
            input.add(Scala.attribute("arrival", DataTypes.LongType));
        }
        List<Attribute> seen = new ArrayList<>(input);
        seen.addAll(marked);
        running = new Aggregates(seen);
        List<NamedExpression> columns = Scala.list(node.aggregateExpressions());
        List<AggregateExpression> replays = new ArrayList<>();
        for (NamedExpression column : columns) {
            if (!folds.containsKey(column.name())) {
                Aggregates.calls(value(column)).stream()
                        .filter(this::isReplayed)
                        .forEach(replays::add);
            }
        }
        for (AggregateExpression call : replays) {
            for (Attribute column : Scala.list(call.references().toSeq())) {
                if (replayInput.stream().noneMatch(a -> a.exprId().equals(column.exprId()))) {
                    replayInput.add(column);
                }
            }
        }
        replayed = new Aggregates(replayInput);
        for (NamedExpression column : columns) {
            Fold fold = folds.get(column.name());
            names.add(column.name());
            results.add(
                    fold != null
                            ? running.add(accumulated(value(column), fold))
                            : Scala.replaced(
                                    value(column), e -> e instanceof AggregateExpression call ? added(call) : null));
        }
    }

    private static Expression value(NamedExpression column) {
        return column instanceof Alias alias ? alias.child() : (Expression) column;
    }

    private boolean isMark(Attribute column) {
        return marked.stream().anyMatch(m -> m.exprId().equals(column.exprId()));
    }

    /** Whether the call takes rows away by itself: it reads their kind or a mark. */
    private boolean isSigned(AggregateExpression call) {
        return Scala.list(call.references().toSeq()).stream()
                .anyMatch(a -> isMark(a) || input.get(kind).exprId().equals(a.exprId()));
    }

    private boolean isReplayed(AggregateExpression call) {
        return kind >= 0 && !isSigned(call) && extremeOf(call) == null;
    }

    private static Expression extremeOf(AggregateExpression call) {
        return call.aggregateFunction() instanceof Max max
                ? max.child()
                : call.aggregateFunction() instanceof Min min ? min.child() : null;
    }

    /** The struct {@code value}, as it is kept. Its list of rows is the only aggregate in it. */
    private static AggregateExpression accumulated(Expression value, Fold fold) {
        AggregateExpression rows = Aggregates.calls(value).get(0);
        Expression row = Scala.list(rows.aggregateFunction().children()).get(0);
        return new Accumulated(row, value.dataType(), fold, 0, 0).toAggregateExpression(false, rows.filter());
    }

    /** Takes {@code call} in; what stands for its result. */
    private Expression added(AggregateExpression call) {
        if (kind < 0 || isSigned(call)) {
            return running.add(call);
        }
        Expression value = extremeOf(call);
        if (value == null) {
            return replayed.add(call);
        }
        Attribute result = Scala.attribute("extreme", value.dataType());
        Expression present = new IsNotNull(value);
        Expression where = call.filter().isEmpty()
                ? present
                : new And(present, call.filter().get());
        extremes.add(
                new Extreme(new ValueCounts(List.of(value), where), call.aggregateFunction() instanceof Max, result));
        return result;
    }

    /** Where the extremes stand. */
    List<Attribute> found() {
        return extremes.stream().map(Extreme::result).toList();
    }

    /** What is kept of a key besides counts and arguments: the buffers, behind them the extremes. */
    List<Attribute> kept() {
        List<Attribute> columns = new ArrayList<>(running.buffer);
        columns.addAll(found());
        return columns;
    }

    /** How many rows a group has that has this {@code result}, where they can be retracted; else 1. */
    long number(InternalRow result) {
        return kind >= 0 ? result.getLong(results.size() - 1) : 1;
    }

    /** On what the state depends, in words. */
    String dependsOn() {
        List<String> values = new ArrayList<>();
        marks.forEach(m -> values.add(m.type()));
        extremes.forEach(e -> values.add(e.values.type() + (e.greatest ? " greatest" : " least")));
        return "buffers " + Scala.type(running.buffer).catalogString() + ", counts " + values + ", arguments "
                + Scala.type(replayInput).catalogString();
    }

    /** Says what the state keeps of a key. */
    void describe(StateTable table) {
        Map<ExprId, String> places = new HashMap<>();
        for (int i = 0; i < keys.size(); i++) {
            places.put(keys.get(i).exprId(), "k" + i);
        }
        kept().forEach(c -> places.put(c.exprId(), table.value(c.dataType())));
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
}
