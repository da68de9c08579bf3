package sqlstream;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.Predicate;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions;
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.StructType;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * An inner join of two streams whose rows are kept for ever, as one operator over the rows of both sides: Spark's join keeps four
 * states for them, and reads and writes one of these for every row.
 *
 * <p>State by key: the rows of each side.
 */
public final class KeyedJoin extends StatefulProcessor<InternalRow, InternalRow, InternalRow> {
    // Rows of one key that a micro-batch holds before they go to the state.
    private static final int HELD_ROWS = 1 << 16;
    private static final String SIDE = "side";
    private static final String LEFT = "left";
    private static final String RIGHT = "right";

    private final StructType[] types;
    private final List<Attribute> columns;
    private final Expression condition;
    private final int side;

    private transient KeptRows kept;
    private transient BasePredicate matches;

    /** The result of {@code joined}, whose last operation is an inner join. */
    public static Dataset<Row> of(Dataset<Row> joined) {
        org.apache.spark.sql.classic.Dataset<Row> frame = (org.apache.spark.sql.classic.Dataset<Row>) joined;
        Join node = (Join) ReplaceExpressions.apply(frame.queryExecution().analyzed());
        var found = ExtractEquiJoinKeys.unapply(node);
        List<Expression> leftKeys = found.isEmpty() ? List.of() : CollectionConverters.asJava(found.get()._2());
        List<Expression> rightKeys = found.isEmpty() ? List.of() : CollectionConverters.asJava(found.get()._3());
        Expression condition = found.isEmpty() ? node.condition().getOrElse(() -> null) : found.get()._4().getOrElse(() -> null);
        Dataset<Row> left = tagged(frame, node.left(), leftKeys, 0, node.right().schema());
        Dataset<Row> right = tagged(frame, node.right(), rightKeys, 1, node.left().schema());
        List<String> keys = new ArrayList<>(Arrays.asList(left.columns()));
        keys.removeAll(List.of(SIDE, LEFT, RIGHT));
        var union = (org.apache.spark.sql.classic.Dataset<Row>) left.unionAll(right);
        return Keyed.process(union, keys, joined.schema(), new KeyedJoin(node, condition, keys.size()));
    }

    /** The rows of one side: its keys, which side it is, and a struct of its columns in the place of its side. */
    private static Dataset<Row> tagged(
            org.apache.spark.sql.classic.Dataset<Row> frame, LogicalPlan plan, List<Expression> keys, int side, StructType other) {
        Dataset<Row> source = Dataset$.MODULE$.ofRows(frame.sparkSession(), plan);
        List<Column> columns = new ArrayList<>();
        Column known = functions.lit(true);
        for (Expression key : keys) {
            Column column = ExpressionUtils.column(key);
            columns.add(column.as("k" + columns.size()));
            // NULL is equal to nothing.
            known = known.and(column.isNotNull());
        }
        if (keys.isEmpty()) {
            columns.add(functions.lit(0).as("k0"));
        }
        List<Column> own = new ArrayList<>();
        for (Attribute attribute : CollectionConverters.asJava(plan.output())) {
            own.add(ExpressionUtils.column(attribute));
        }
        Column row = functions.struct(own.toArray(Column[]::new));
        Column missing = functions.lit(null).cast(other);
        columns.add(functions.lit(side).as(SIDE));
        columns.add((side == 0 ? row : missing).as(LEFT));
        columns.add((side == 0 ? missing : row).as(RIGHT));
        return source.where(known).select(columns.toArray(Column[]::new));
    }

    private KeyedJoin(Join node, Expression condition, int side) {
        types = new StructType[] {node.left().schema(), node.right().schema()};
        columns = new ArrayList<>(CollectionConverters.asJava(node.left().output()));
        columns.addAll(CollectionConverters.asJava(node.right().output()));
        this.condition = condition;
        this.side = side;
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        kept = new KeptRows(getHandle(), "rows", types[0].length(), types[1].length());
        matches = condition == null ? null : Predicate.create(condition, PythonUtils.toSeq(columns));
    }

    @Override
    public Iterator<InternalRow> handleInputRows(InternalRow key, Iterator<InternalRow> rows, TimerValues times) {
        kept.load();
        return new Pairs(rows);
    }

    /** The pairs with a row of this micro-batch. Some of its rows are held at a time; when all their pairs were given, they are kept. */
    private final class Pairs extends AbstractIterator<InternalRow> {
        private final Iterator<InternalRow> rows;
        private final List<UnsafeRow> lefts = new ArrayList<>();
        private final List<UnsafeRow> rights = new ArrayList<>();
        private final JoinedRow pair = new JoinedRow();
        // What is paired now: new left rows with those kept of the right, new right rows with those kept of the left, new ones with new ones.
        private int phase = -1;
        private Iterator<InternalRow> outer = CollectionConverters.asScala(List.<InternalRow>of().iterator());
        private List<UnsafeRow> inner = List.of();
        private InternalRow row;
        private int next;
        private boolean found;

        private Pairs(Iterator<InternalRow> rows) {
            this.rows = rows;
            hold();
        }

        private void hold() {
            lefts.clear();
            rights.clear();
            while (rows.hasNext() && lefts.size() + rights.size() < HELD_ROWS) {
                UnsafeRow next = (UnsafeRow) rows.next();
                int from = next.getInt(side);
                (from == 0 ? lefts : rights).add(next.getStruct(side + 1 + from, types[from].length()).copy());
            }
        }

        @Override
        public boolean hasNext() {
            while (!found && phase < 3) {
                if (row == null) {
                    advance();
                } else if (next == inner.size()) {
                    row = null;
                } else {
                    InternalRow other = inner.get(next++);
                    pair.apply(phase == 0 ? other : row, phase == 0 ? row : other);
                    found = matches == null || matches.eval(pair);
                }
            }
            return found;
        }

        private void advance() {
            if (outer.hasNext()) {
                row = outer.next();
                next = 0;
                return;
            }
            phase++;
            switch (phase) {
                case 0 -> begin(kept.rows(1), lefts);
                case 1 -> begin(kept.rows(0), rights);
                case 2 -> begin(CollectionConverters.asScala(List.<InternalRow>copyOf(lefts).iterator()), rights);
                default -> {
                    kept.add(0, lefts);
                    kept.add(1, rights);
                    hold();
                    if (lefts.isEmpty() && rights.isEmpty()) {
                        kept.store();
                    } else {
                        phase = -1;
                    }
                }
            }
        }

        private void begin(Iterator<InternalRow> rows, List<UnsafeRow> others) {
            if (!others.isEmpty()) {
                outer = rows;
                inner = others;
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
