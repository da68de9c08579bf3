package sqlstream.operators;

import java.nio.ByteBuffer;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import scala.collection.Iterator;
import sqlstream.catalyst.Scala;

/**
 * The first row of each key by time, which comes out when the watermark has passed it: no earlier one can come then.
 *
 * <p>What waits of a key is its first row, and those that were it before. What is kept afterwards is that it has come out.
 */
public final class FirstRow extends InOrder {
    private static final byte[] WAITS = new byte[0];
    private static final byte[] GIVEN = new byte[1];

    private transient boolean given;

    /** The rows of {@code frame} that are the first of their {@code keys}; {@code time}: the column to order by, a TIMESTAMP that is never NULL. */
    public static Dataset<Row> of(Dataset<Row> frame, List<String> keys, String time) {
        FirstRow processor = new FirstRow(frame.schema().length(), frame.schema().fieldIndex(time));
        return Keyed.process((org.apache.spark.sql.classic.Dataset<Row>) frame, keys, frame.schema(), processor);
    }

    private FirstRow(int width, int time) {
        super(width, time);
    }

    @Override
    protected void open() {}

    @Override
    protected void load(ByteBuffer own) {
        given = own.hasRemaining();
    }

    @Override
    protected byte[] store() {
        return given ? GIVEN : WAITS;
    }

    @Override
    Iterator<InternalRow> admitted(Iterator<InternalRow> rows, long first) {
        InternalRow next = rows.hasNext() ? rows.next().copy() : null;
        while (rows.hasNext()) {
            rows.next();
        }
        return next == null || given || next.getLong(time) >= first ? Scala.rows() : Scala.rows(next);
    }

    @Override
    protected Iterator<InternalRow> process(InternalRow key, Iterator<InternalRow> rows, long watermark) {
        if (!rows.hasNext()) {
            return Scala.rows();
        }
        InternalRow first = rows.next().copy();
        while (rows.hasNext()) {
            rows.next();
        }
        given = true;
        return Scala.rows(first);
    }
}
