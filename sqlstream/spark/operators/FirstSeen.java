package sqlstream;

import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * Which conditions hold for a value for the first time: the base of DISTINCT in aggregates that are updated as rows come. Each row has flags, one
 * for each condition; a flag goes on only where no earlier row of the key had it. A row of the class 0 always goes on, any other only
 * with a flag.
 *
 * <p>State: a BIGINT for each key, the flags that it has had.
 */
public final class FirstSeen extends StatefulProcessor<InternalRow, InternalRow, InternalRow> {
    private final int kind;
    private final int[] flags;
    private transient ValueState<Long> seen;

    private FirstSeen(int kind, int[] flags) {
        this.kind = kind;
        this.flags = flags;
    }

    /**
     * The rows of {@code frame} with what they bring for the first time.
     *
     * @param keys the columns that say which value of which group a row is about
     * @param kind the INT NOT NULL among these that is a row's class
     * @param flags columns of BOOLEAN NOT NULL, at most 64
     */
    public static Dataset<Row> of(Dataset<Row> frame, List<String> keys, String kind, List<String> flags) {
        StructType type = frame.schema();
        int[] places = flags.stream().mapToInt(type::fieldIndex).toArray();
        return Keyed.process((org.apache.spark.sql.classic.Dataset<Row>) frame, keys, type, new FirstSeen(type.fieldIndex(kind), places));
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        seen = getHandle().getValueState("seen", Encoders.LONG(), TTLConfig.NONE());
    }

    @Override
    public Iterator<InternalRow> handleInputRows(InternalRow key, Iterator<InternalRow> rows, TimerValues times) {
        return new AbstractIterator<>() {
            private final long before = seen.exists() ? seen.get() : 0;
            private long now = before;
            private InternalRow next;

            @Override
            public boolean hasNext() {
                while (next == null && rows.hasNext()) {
                    next = novel((UnsafeRow) rows.next());
                }
                if (next == null && now != before) {
                    seen.update(now);
                }
                return next != null;
            }

            @Override
            public InternalRow next() {
                InternalRow row = next;
                next = null;
                return row;
            }

            /** {@code row}, with the flags that are new; null if it goes no further. */
            private UnsafeRow novel(UnsafeRow row) {
                boolean any = row.getInt(kind) == 0;
                for (int i = 0; i < flags.length; i++) {
                    if (row.getBoolean(flags[i])) {
                        boolean first = (now & 1L << i) == 0;
                        // The row is read once: here.
                        row.setBoolean(flags[i], first);
                        now |= 1L << i;
                        any |= first;
                    }
                }
                return any ? row : null;
            }
        };
    }
}
