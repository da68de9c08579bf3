package sqlstream.operators;

import java.nio.ByteBuffer;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import sqlstream.catalyst.Scala;
import sqlstream.state.Layout;
import sqlstream.state.StateTable;

/**
 * The first row of each key by time, which comes out when the watermark has passed it: no earlier one can come then.
 *
 * <p>What waits of a key is its first row, and those that were it before. What is kept afterwards is that it has come
 * out.
 */
public final class FirstRow extends EventTimeOperator {
    private static final byte[] WAITS = new byte[0];
    private static final byte[] EMITTED = new byte[1];

    private transient boolean emitted;

    /**
     * The rows of {@code frame} that are the first of their {@code keys}; {@code time}: the column to order by, a
     * TIMESTAMP that is never NULL.
     */
    public static Dataset<Row> of(Dataset<Row> frame, List<String> keys, String time) {
        FirstRow processor =
                new FirstRow(frame.schema().length(), frame.schema().fieldIndex(time));
        return KeyedProcess.of((org.apache.spark.sql.classic.Dataset<Row>) frame, keys, frame.schema(), processor);
    }

    private FirstRow(int width, int time) {
        super(width, time);
    }

    @Override
    public List<Layout> layouts() {
        return List.of(Layout.FIRST_ROW, Layout.EVENT_TIME_BUFFER);
    }

    @Override
    protected void describeOwn(StateTable table, StructType rows) {
        table.with("own", "flag").column("emitted", DataTypes.BooleanType);
    }

    @Override
    protected void open() {}

    @Override
    protected void load(ByteBuffer own) {
        emitted = own.hasRemaining();
    }

    @Override
    protected byte[] store() {
        return emitted ? EMITTED : WAITS;
    }

    @Override
    Iterator<InternalRow> admitted(Iterator<InternalRow> rows, long first) {
        InternalRow next = rows.hasNext() ? rows.next().copy() : null;
        while (rows.hasNext()) {
            rows.next();
        }
        return next == null || emitted || next.getLong(time) >= first ? Scala.rows() : Scala.rows(next);
    }

    @Override
    protected Iterator<InternalRow> process(InternalRow key, Iterator<InternalRow> rows, long watermark) {
        InternalRow first = rows.hasNext() && !emitted ? rows.next().copy() : null;
        while (rows.hasNext()) {
            rows.next();
        }
        emitted |= first != null;
        return first == null ? Scala.rows() : Scala.rows(first);
    }
}
