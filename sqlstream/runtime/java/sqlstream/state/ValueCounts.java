package sqlstream.state;

import java.io.Serializable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import sqlstream.catalyst.Scala;
import sqlstream.catalyst.WholeRow;

/**
 * How often each value of some expressions is among the rows of a key for which a condition holds. State: a map from
 * values to counts.
 */
public final class ValueCounts implements Serializable {
    // Values of one key that a micro-batch holds before they go to the state store.
    private static final int HELD = 1 << 18;

    private final List<Expression> values;
    private final Expression condition;

    /** {@code condition}, BOOLEAN or null: which rows count. */
    public ValueCounts(List<Expression> values, Expression condition) {
        this.values = List.copyOf(values);
        this.condition = condition;
    }

    /** The type of the values. */
    public String type() {
        return Scala.type(values).catalogString();
    }

    /** Adds the values with their counts to {@code table}: a list of rows. */
    public void describe(StateTable table) {
        StructType rows = new StructType();
        StringBuilder name = new StringBuilder("distinct");
        for (Expression value : values) {
            String column = value instanceof NamedExpression named ? named.name() : "value";
            rows = rows.add(StateTable.isGenerated(column) ? "value" + rows.length() : column, value.dataType());
            name.append(' ').append(rows.apply(rows.length() - 1).name());
        }
        table.rows(name.toString(), rows.add("times", DataTypes.LongType));
    }

    /** The state in which values of these columns are counted. */
    public static MapState<InternalRow, Long> state(StatefulProcessorHandle handle, String name, StructType values) {
        return handle.getMapState(name, WholeRow.encoder(values), Encoders.LONG(), TTLConfig.NONE());
    }

    /** What becomes of a count. */
    public enum Counting {
        /** Rows only come: a value is known to be there, not how often. */
        PRESENCE,
        /** A retraction counts, whether its row is there or not: Flink's DISTINCT. */
        DIFFERENCE,
        /** A retraction of what is not there does not count: Flink's MIN and MAX. */
        NUMBER
    }

    /** The counts on one task. */
    public final class Work {
        private final Counting counting;
        private final UnsafeProjection projection;
        private final Expression where;
        private final MapState<InternalRow, Long> state;
        private Map<UnsafeRow, long[]> held = new HashMap<>();
        private boolean stored;

        /** {@code input}: the columns of the rows. */
        public Work(StatefulProcessorHandle handle, String name, List<Attribute> input, Counting counting) {
            this.counting = counting;
            projection = UnsafeProjection.create(Scala.seq(values), Scala.seq(input));
            where = condition == null ? null : Scala.bound(condition, input);
            state = ValueCounts.state(handle, name, Scala.type(values));
        }

        /** Begin with a key, for which there is something in the state if it is {@code known}. */
        public void begin(boolean known) {
            stored = known;
            held = new HashMap<>();
        }

        /** Takes in {@code sign} times the row; 1 where that adds its value, -1 where it removes the value, else 0. */
        public int add(InternalRow row, int sign) {
            if (where != null && !Boolean.TRUE.equals(where.eval(row))) {
                return 0;
            }
            UnsafeRow value = projection.apply(row);
            long[] counts = held.get(value);
            if (counts == null) {
                if (held.size() == HELD) {
                    store();
                    begin(true);
                }
                value = value.copy();
                Long kept = stored ? state.getValue(value) : null;
                long before = kept == null ? 0 : kept;
                counts = new long[] {before, before};
                held.put(value, counts);
            }
            boolean was = counts[1] > 0;
            counts[1] = switch (counting) {
                case PRESENCE -> 1;
                case DIFFERENCE -> counts[1] + sign;
                case NUMBER -> Math.max(0, counts[1] + sign);
            };
            boolean is = counts[1] > 0;
            return was == is ? 0 : is ? 1 : -1;
        }

        /** The value of the row that was added last, good until the next. */
        public UnsafeRow value(InternalRow row) {
            return projection.apply(row);
        }

        /** Write what has changed. */
        public void store() {
            held.forEach((value, counts) -> {
                if (counts[1] == 0 && counts[0] != 0) {
                    state.removeKey(value);
                } else if (counts[0] != counts[1]) {
                    state.updateValue(value, counts[1]);
                    stored = true;
                }
            });
            held.values().forEach(counts -> counts[0] = counts[1]);
        }

        /** All values that are there; to be called after {@code store}. */
        public Iterator<InternalRow> present() {
            return state.keys();
        }

        /** Forget the key that was begun with. */
        public void clear() {
            held.clear();
            if (stored) {
                state.clear();
            }
            stored = false;
        }
    }
}
