package sqlstream.operators;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.Predicate;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.AbstractIterator;
import scala.jdk.javaapi.CollectionConverters;
import sqlstream.catalyst.Scala;
import sqlstream.gateway.Described;
import sqlstream.state.Layout;
import sqlstream.state.RowChanges;
import sqlstream.state.RowChanges.Change;
import sqlstream.state.RowLists;
import sqlstream.state.StateTable;

/**
 * A join of two streams whose rows are kept for ever, as one operator over the rows of both sides: Spark's join keeps
 * four states for them, reads and writes one of these for every row, and knows no retractions.
 *
 * <p>State by key: the rows of each side. A micro-batch is a change of both: what is emitted is how the join's result
 * changes by it, first that of the right with the left as it was, then that of the left with the right as it is. A row
 * that is retracted and not there is retracted from the result where it would have had matches, as Flink does; nothing
 * else changes by it.
 */
public final class KeyedJoin extends ListOperator {
    // Rows of one key that are held before they go to the state, where none is retracted.
    private static final int HELD_ROWS = 1 << 16;
    private static final int LEFT = 0;
    private static final int RIGHT = 1;

    private final StructType[] types;
    private final boolean[] optional;
    private final boolean pairs;
    private final boolean matched;
    private final boolean[] nullSafe;
    private final int side;
    private final boolean kinds;
    private final List<Attribute> columns;
    private final Expression condition;

    private transient BasePredicate matches;

    /** Which rows a join emits. */
    enum How {
        INNER,
        LEFT,
        RIGHT,
        FULL,
        SEMI,
        ANTI
    }

    /**
     * What is asked for.
     *
     * @param keys the columns that are equal in rows that are joined
     * @param nullSafe for each key, whether NULL is equal to NULL in it
     * @param changes whether the rows carry their kind
     * @param kinds whether those that are emitted do
     * @param ttl for how many milliseconds the rows of keys without new ones are kept; 0 for ever
     */
    record Options(How how, List<String> keys, List<Boolean> nullSafe, boolean changes, boolean kinds, long ttl) {}

    /**
     * The join of the rows of {@code tagged}: the keys, which side a row is of (0 for the left), its columns as a
     * struct in the place of its side, and where there are changes the kind of the row.
     *
     * @param options as JSON
     * @param conditioned the columns of both sides, filtered by the condition that pairs must fulfil, or null
     */
    public static Dataset<Row> of(Dataset<Row> tagged, String options, Dataset<Row> conditioned) {
        Options said = Described.as(Options.class, options);
        KeyedJoin processor = new KeyedJoin(tagged.schema(), said, conditioned);
        StructType output = new StructType();
        for (int i = LEFT; i <= (processor.pairs ? RIGHT : LEFT); i++) {
            for (var field : processor.types[i].fields()) {
                output = output.add(field.name(), field.dataType(), field.nullable() || processor.optional[1 - i]);
            }
        }
        output = said.kinds ? output.add(RowKinds.COLUMN, DataTypes.ByteType, false) : output;
        return KeyedProcess.of(
                (org.apache.spark.sql.classic.Dataset<Row>) tagged, said.keys, output, processor, said.ttl);
    }

    private KeyedJoin(StructType tagged, Options options, Dataset<Row> conditioned) {
        super(options.changes ? options.keys.size() + 3 : -1);
        side = options.keys.size();
        types = new StructType[] {
            (StructType) tagged.apply(side + 1).dataType(),
            (StructType) tagged.apply(side + 2).dataType()
        };
        How how = options.how;
        optional = new boolean[] {how == How.LEFT || how == How.FULL, how == How.RIGHT || how == How.FULL};
        pairs = how != How.SEMI && how != How.ANTI;
        matched = how == How.SEMI;
        nullSafe = new boolean[options.nullSafe.size()];
        for (int i = 0; i < nullSafe.length; i++) {
            nullSafe[i] = options.nullSafe.get(i);
        }
        kinds = options.kinds;
        columns = new ArrayList<>();
        Expression found = null;
        if (conditioned != null) {
            LogicalPlan plan = ReplaceExpressions.apply(((org.apache.spark.sql.classic.Dataset<Row>) conditioned)
                    .queryExecution()
                    .analyzed());
            columns.addAll(Scala.list(plan.output()));
            found = ((Filter) plan).condition();
        }
        condition = found;
    }

    @Override
    public List<Layout> layouts() {
        return List.of(Layout.KEYED_JOIN, Layout.ROW_LISTS);
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        kept = new RowLists(getHandle(), "rows", types[LEFT].length(), types[RIGHT].length());
        matches = condition == null ? null : Predicate.create(condition, Scala.seq(columns));
    }

    @Override
    public void describe(StateTable table, StructType rows) {
        table.by("lists").with("name", "rows").rows("left", types[LEFT]).rows("right", types[RIGHT]);
    }

    @Override
    public scala.collection.Iterator<InternalRow> handleInputRows(
            InternalRow key, scala.collection.Iterator<InternalRow> rows, TimerValues times) {
        // KeyedProcess's hash is before the keys.
        boolean alone = false;
        for (int i = 0; i < nullSafe.length; i++) {
            alone |= !nullSafe[i] && key.isNullAt(i + 1);
        }
        if (alone) {
            return new Alone(rows);
        }
        kept.load();
        return new Changes(rows);
    }

    /** What the result loses or gains. */
    private abstract class Output extends AbstractIterator<InternalRow> {
        private final GenericInternalRow code = new GenericInternalRow(1);
        private final JoinedRow pair = new JoinedRow();
        private final JoinedRow out = new JoinedRow();
        private final InternalRow[] nothing = {
            new GenericInternalRow(types[LEFT].length()), new GenericInternalRow(types[RIGHT].length())
        };

        /**
         * A row of {@code from} joined with {@code other}, or with none where it is null; retracted where {@code sign}
         * is negative.
         */
        final InternalRow row(int from, InternalRow row, InternalRow other, int sign) {
            InternalRow result = row;
            if (pairs) {
                InternalRow second = other == null ? nothing[1 - from] : other;
                result = pair.apply(from == LEFT ? row : second, from == LEFT ? second : row);
            }
            code.update(0, sign > 0 ? RowKinds.INSERT : RowKinds.DELETE);
            return kinds ? out.apply(result, code) : result;
        }

        final UnsafeRow own(UnsafeRow tagged, int from) {
            return tagged.getStruct(side + 1 + from, types[from].length());
        }

        final int sign(InternalRow tagged) {
            return kind >= 0 && RowKinds.retracts(tagged.getByte(kind)) ? -1 : 1;
        }

        /** Whether the join emits a row of {@code from} by itself where {@code some} say whether it has a match. */
        final boolean alone(int from, boolean some) {
            return pairs ? optional[from] && !some : from == LEFT && some == matched;
        }
    }

    /** Rows whose key is NULL: equal to nothing. */
    private final class Alone extends Output {
        private final scala.collection.Iterator<InternalRow> rows;
        private UnsafeRow row;

        private Alone(scala.collection.Iterator<InternalRow> rows) {
            this.rows = rows;
        }

        @Override
        public boolean hasNext() {
            while (row == null && rows.hasNext()) {
                UnsafeRow next = (UnsafeRow) rows.next();
                row = alone(next.getInt(side), false) ? next : null;
            }
            return row != null;
        }

        @Override
        public InternalRow next() {
            UnsafeRow next = row;
            row = null;
            int from = next.getInt(side);
            return row(from, own(next, from), null, sign(next));
        }
    }

    /** What the result loses or gains by the rows of one key of a micro-batch. */
    private final class Changes extends Output {
        private final scala.collection.Iterator<InternalRow> rows;
        private final List<List<Change>> changes = List.of(new ArrayList<>(), new ArrayList<>());
        private final JoinedRow tried = new JoinedRow();
        // Rows kept of each side, where they are needed more than once.
        private final List<List<UnsafeRow>> known = new ArrayList<>(List.of(List.of(), List.of()));
        private final int[] sizes = new int[2];
        // Rows kept of the right that the micro-batch takes away.
        private final Map<UnsafeRow, int[]> going = new HashMap<>();
        private Iterator<InternalRow> output = List.<InternalRow>of().iterator();
        private int phase;
        private Iterator<Change> outer = List.<Change>of().iterator();

        private Changes(scala.collection.Iterator<InternalRow> rows) {
            this.rows = rows;
            hold();
        }

        /**
         * Take the next rows of the micro-batch: all, with those left out that take each other away, or as many as are
         * held.
         */
        private void hold() {
            List<RowChanges> sides = List.of(new RowChanges(), new RowChanges());
            changes.forEach(List::clear);
            int held = 0;
            while (rows.hasNext() && (kind >= 0 || held < HELD_ROWS)) {
                UnsafeRow next = (UnsafeRow) rows.next();
                int from = next.getInt(side);
                UnsafeRow row = own(next, from).copy();
                if (kind >= 0) {
                    sides.get(from).add(row, sign(next) < 0);
                } else {
                    changes.get(from).add(new Change(row, 1));
                }
                held++;
            }
            for (int i = LEFT; i <= RIGHT; i++) {
                changes.get(i).addAll(sides.get(i).in(kept, i));
                sizes[i] = kept.size(i);
                known.set(i, List.of());
            }
            for (int i = LEFT; i <= RIGHT; i++) {
                if (matches != null && (pairs ? optional[i] : i == LEFT)) {
                    List<UnsafeRow> others = new ArrayList<>(sizes[1 - i]);
                    kept.rows(1 - i).foreach(row -> others.add(((UnsafeRow) row).copy()));
                    known.set(1 - i, others);
                }
            }
            going.clear();
            for (Change change : changes.get(RIGHT)) {
                if (change.times() < 0) {
                    going.put(change.row(), new int[] {-change.times()});
                }
            }
            phase = -1;
        }

        @Override
        public boolean hasNext() {
            while (!output.hasNext() && phase < 5) {
                if (outer.hasNext()) {
                    Change next = outer.next();
                    output = switch (phase) {
                        case 0 -> old(LEFT, next.row());
                        case 1 -> next.announced() < 0 ? alone(RIGHT, next, count(RIGHT, next.row())) : none();
                        case 2 -> old(RIGHT, next.row());
                        case 3 ->
                            next.announced() > 0
                                    ? chain(joined(RIGHT, next, changes.get(LEFT)), fresh(RIGHT, next))
                                    : none();
                        default -> fresh(LEFT, next);
                    };
                } else {
                    phase++;
                    outer = switch (phase) {
                        case 0 -> oldRows(LEFT);
                        case 1, 3 ->
                            pairs
                                    ? changes.get(RIGHT).iterator()
                                    : List.<Change>of().iterator();
                        case 2 -> oldRows(RIGHT);
                        case 4 -> changes.get(LEFT).iterator();
                        default -> {
                            keep();
                            yield outer;
                        }
                    };
                }
            }
            return output.hasNext();
        }

        @Override
        public InternalRow next() {
            return output.next();
        }

        /** The rows kept of a side that are to be joined with the other's changes: of the right those that stay. */
        private Iterator<Change> oldRows(int from) {
            if (changes.get(1 - from).isEmpty() || (!pairs && from == RIGHT)) {
                return List.<Change>of().iterator();
            }
            Iterator<InternalRow> rows = CollectionConverters.asJava(kept.rows(from));
            return new Iterator<>() {
                private UnsafeRow next;

                @Override
                public boolean hasNext() {
                    while (next == null && rows.hasNext()) {
                        UnsafeRow row = (UnsafeRow) rows.next();
                        int[] left = from == RIGHT ? going.get(row) : null;
                        next = left != null && left[0]-- > 0 ? null : row;
                    }
                    return next != null;
                }

                @Override
                public Change next() {
                    Change change = new Change(next, 1);
                    next = null;
                    return change;
                }
            };
        }

        /** What a row that is kept emits by the changes of the other side. */
        private Iterator<InternalRow> old(int from, UnsafeRow row) {
            Change whole = new Change(row, 1);
            List<Change> others = changes.get(1 - from);
            if (!(pairs ? optional[from] : from == LEFT)) {
                return joined(from, whole, others);
            }
            int change = matching(from, row, others);
            int before = change == 0 && matches != null ? 0 : count(from, row);
            boolean was = alone(from, before > 0);
            boolean is = change == 0 && matches != null ? was : alone(from, before + change > 0);
            Iterator<InternalRow> changed = pairs ? joined(from, whole, others) : none();
            if (was == is) {
                return changed;
            }
            // A row without a match is retracted before its matches are added, and added after they are retracted.
            return is ? chain(changed, once(from, row, 1)) : chain(once(from, row, -1), changed);
        }

        /** What a row of a change emits by itself, with the other side as it is afterwards. */
        private Iterator<InternalRow> fresh(int from, Change change) {
            return alone(from, change, count(from, change.row()) + matching(from, change.row(), changes.get(1 - from)));
        }

        /** What a row of a change emits by itself where so many rows of the other side match. */
        private Iterator<InternalRow> alone(int from, Change change, int matches) {
            if (!(pairs ? optional[from] : from == LEFT) || !alone(from, matches > 0)) {
                return none();
            }
            return repeated(Math.abs(change.announced()), () -> row(from, change.row(), null, change.announced()));
        }

        private Iterator<InternalRow> none() {
            return List.<InternalRow>of().iterator();
        }

        /** How many rows kept of the other side match. */
        private int count(int from, UnsafeRow row) {
            if (matches == null) {
                return sizes[1 - from];
            }
            int found = 0;
            for (UnsafeRow other : known.get(1 - from)) {
                found += matching(from, row, other) ? 1 : 0;
            }
            return found;
        }

        /** How many more rows match by changes of the other side. */
        private int matching(int from, UnsafeRow row, List<Change> others) {
            int found = 0;
            for (Change other : others) {
                found += matches == null || matching(from, row, other.row()) ? other.times() : 0;
            }
            return found;
        }

        private boolean matching(int from, InternalRow row, InternalRow other) {
            return matches == null || matches.eval(tried.apply(from == LEFT ? row : other, from == LEFT ? other : row));
        }

        /** The pairs of a row with changes of the other side. */
        private Iterator<InternalRow> joined(int from, Change change, List<Change> others) {
            Iterator<Change> each = others.iterator();
            return new Iterator<>() {
                private Change other;
                private int left;

                @Override
                public boolean hasNext() {
                    while (left == 0 && each.hasNext()) {
                        other = each.next();
                        left = matching(from, change.row(), other.row())
                                ? Math.abs(change.announced() * other.announced())
                                : 0;
                    }
                    return left > 0;
                }

                @Override
                public InternalRow next() {
                    left--;
                    return row(from, change.row(), other.row(), change.announced() * other.announced());
                }
            };
        }

        private Iterator<InternalRow> once(int from, UnsafeRow row, int sign) {
            return repeated(1, () -> row(from, row, null, sign));
        }

        /** Rows made when they are asked for: all are one object. */
        private Iterator<InternalRow> repeated(int times, java.util.function.Supplier<InternalRow> row) {
            return java.util.stream.Stream.generate(row).limit(times).iterator();
        }

        private Iterator<InternalRow> chain(Iterator<InternalRow> first, Iterator<InternalRow> second) {
            return new Iterator<>() {
                @Override
                public boolean hasNext() {
                    return first.hasNext() || second.hasNext();
                }

                @Override
                public InternalRow next() {
                    return first.hasNext() ? first.next() : second.next();
                }
            };
        }

        /** All has been emitted: keep the changes, and go on with the rows that are left. */
        private void keep() {
            for (int i = LEFT; i <= RIGHT; i++) {
                kept.change(i, changes.get(i));
            }
            hold();
            if (changes.get(LEFT).isEmpty() && changes.get(RIGHT).isEmpty()) {
                kept.store();
                phase = 5;
            }
        }
    }
}
