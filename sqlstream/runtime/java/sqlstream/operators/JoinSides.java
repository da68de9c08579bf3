package sqlstream.operators;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.Coalesce;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.Predicate;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions;
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;
import sqlstream.catalyst.Scala;
import sqlstream.state.StateTable;

/**
 * The rows of both sides of a join on time, as one frame: the join's keys, the time of a row, the number of its side (0
 * for the left), and a struct of each side's columns, the other side's NULL.
 */
final class JoinSides implements java.io.Serializable {
    private static final String NO_TIME =
            "RowTime field should not be null, please convert it to a non-null long value.";

    /** How many columns the keys are. The time's and the side's come behind them, then the structs. */
    final int keys;

    /** Which sides' rows come out alone where they find none. */
    final boolean[] outer;

    private final List<KeyColumn> named = new ArrayList<>();
    private final StructType[] types;
    private final List<Attribute> columns;
    private final Expression condition;

    private JoinSides(Join node, Expression condition, int keys) {
        this.keys = keys;
        this.condition = condition;
        String kind = node.joinType().sql();
        outer = new boolean[] {
            kind.equals("LEFT OUTER") || kind.equals("FULL OUTER"),
            kind.equals("RIGHT OUTER") || kind.equals("FULL OUTER")
        };
        types = new StructType[] {node.left().schema(), node.right().schema()};
        columns = new ArrayList<>(CollectionConverters.asJava(node.left().output()));
        columns.addAll(CollectionConverters.asJava(node.right().output()));
    }

    /** A column of the key: {@code sql} over those by which rows are brought together. */
    private record KeyColumn(String name, String sql) implements java.io.Serializable {}

    /** What makes an operator of the sides, and the frame that it gets. */
    record Planned(JoinSides sides, org.apache.spark.sql.classic.Dataset<Row> rows, List<String> keys) {}

    /**
     * The sides of {@code joined}, whose last operation is a join, with the column of each that is its time.
     *
     * @param lag by how many milliseconds the times are behind the watermark
     */
    static Planned of(Dataset<Row> joined, String leftTime, String rightTime, long lag) {
        var frame = (org.apache.spark.sql.classic.Dataset<Row>) joined;
        Join node = (Join) ReplaceExpressions.apply(frame.queryExecution().analyzed());
        var found = ExtractEquiJoinKeys.unapply(node);
        List<Expression> leftKeys = found.isEmpty()
                ? List.of()
                : CollectionConverters.asJava(found.get()._2());
        List<Expression> rightKeys = found.isEmpty()
                ? List.of()
                : CollectionConverters.asJava(found.get()._3());
        Expression condition = found.isEmpty()
                ? node.condition().getOrElse(() -> null)
                : found.get()._4().getOrElse(() -> null);
        JoinSides sides = new JoinSides(node, condition, Math.max(1, leftKeys.size()));
        sides.name(leftKeys);
        Dataset<Row> left = sides.tagged(frame, node.left(), leftKeys, 0, leftTime, lag);
        Dataset<Row> right = sides.tagged(frame, node.right(), rightKeys, 1, rightTime, lag);
        List<String> keys = List.of(left.columns()).subList(0, sides.keys);
        return new Planned(sides, (org.apache.spark.sql.classic.Dataset<Row>) left.unionAll(right), keys);
    }

    /** Names the columns of keys as the left has them. */
    private void name(List<Expression> leftKeys) {
        for (int i = 0; i < leftKeys.size(); i++) {
            Expression key = leftKeys.get(i);
            String place = "k" + (i + 1);
            if (key instanceof Coalesce coalesced && i + 1 < leftKeys.size() && leftKeys.get(i + 1) instanceof IsNull) {
                // NULL is a value beside a mark.
                named.add(new KeyColumn(
                        named(Scala.list(coalesced.children()).get(0)), "if(k" + (i + 2) + ", NULL, " + place + ")"));
                i++;
            } else {
                named.add(new KeyColumn(named(key), place));
            }
        }
    }

    private static String named(Expression key) {
        return key instanceof NamedExpression column ? column.name() : "key";
    }

    /** Adds the keys to the columns of a state, and what is kept of them. */
    StateTable describe(StateTable table) {
        table.withoutKeys();
        named.forEach(key -> table.column(key.name, key.sql));
        return table;
    }

    private Dataset<Row> tagged(
            org.apache.spark.sql.classic.Dataset<Row> frame,
            LogicalPlan plan,
            List<Expression> keys,
            int side,
            String time,
            long lag) {
        List<Column> tagged = new ArrayList<>();
        Column known = functions.lit(true);
        for (Expression key : keys) {
            Column column = ExpressionUtils.column(key);
            tagged.add(column.as("k" + tagged.size()));
            // NULL is equal to nothing.
            known = known.and(column.isNotNull());
        }
        if (keys.isEmpty()) {
            tagged.add(functions.lit(0).as("k0"));
        }
        Column micros = functions
                .unix_micros(ExpressionUtils.column(Scala.named(plan, time)))
                .plus(lag * 1000L);
        tagged.add(functions
                .timestamp_micros(functions.coalesce(
                        micros, functions.raise_error(functions.lit(NO_TIME)).cast("bigint")))
                .as("time"));
        tagged.add(functions.lit(side).as("side"));
        List<Column> own = new ArrayList<>();
        for (Attribute attribute : CollectionConverters.asJava(plan.output())) {
            own.add(ExpressionUtils.column(attribute));
        }
        Column row = functions.struct(own.toArray(Column[]::new));
        tagged.add((side == 0 ? row : functions.lit(null).cast(types[0])).as("left"));
        tagged.add((side == 1 ? row : functions.lit(null).cast(types[1])).as("right"));
        Dataset<Row> source = Dataset$.MODULE$.ofRows(frame.sparkSession(), plan);
        return (outer[side] ? source : source.where(known)).select(tagged.toArray(Column[]::new));
    }

    /** The number of the column with the time, a TIMESTAMP. */
    int time() {
        return keys;
    }

    /** The columns of a side. */
    StructType type(int side) {
        return types[side];
    }

    /** SQL of the rows of a side in {@code tagged}, a list of these rows by the places of their columns. */
    String waiting(String tagged, int side) {
        return "transform(filter(" + tagged + ", r -> r.c" + (keys + 1) + " = " + side + "), r -> "
                + StateTable.named("r.c" + (keys + 2 + side), types[side]) + ")";
    }

    /** How many columns the rows have. */
    int width() {
        return keys + 4;
    }

    /** Which side {@code tagged} is of. */
    int side(InternalRow tagged) {
        return tagged.getInt(keys + 1);
    }

    /** The side's own row. */
    UnsafeRow row(InternalRow tagged, int side) {
        return (UnsafeRow) tagged.getStruct(keys + 2 + side, width(side));
    }

    /** How many columns a side has. */
    int width(int side) {
        return types[side].length();
    }

    /** The columns of a side where it has no row. */
    InternalRow missing(int side) {
        return new GenericInternalRow(width(side));
    }

    /** Whether rows of {@code key}, as the operator gets it, are equal to none. */
    boolean unknown(InternalRow key) {
        // KeyedProcess puts a hash before the columns.
        for (int i = 1; i <= keys; i++) {
            if (key.isNullAt(i)) {
                return true;
            }
        }
        return false;
    }

    /** What is asked of a pair of rows besides equal keys; null for nothing. */
    BasePredicate condition() {
        return condition == null ? null : Predicate.create(condition, PythonUtils.toSeq(columns));
    }
}
