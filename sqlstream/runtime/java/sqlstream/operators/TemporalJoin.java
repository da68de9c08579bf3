package sqlstream.operators;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import sqlstream.gateway.Described;
import sqlstream.state.Layout;
import sqlstream.state.StateTable;

/**
 * A join of each row of the left with the version of the right that held at its time: the latest up to then.
 *
 * <p>Rows of the left and versions wait together for the watermark. Then, in the order of time, only the version that
 * holds is known. As in Flink a row that is late finds it too, if it held at its time already, and a version that is
 * late takes its place if it is not older.
 *
 * <p>What is kept of a key: the time of the version, and the version, or nothing where it is the end of one.
 */
public final class TemporalJoin extends EventTimeOperator {
    private static final byte[] NOTHING = new byte[0];

    private final JoinSides sides;
    private final int kind;

    private transient BasePredicate matches;
    private transient long since;
    private transient UnsafeRow version;

    /**
     * What is asked for.
     *
     * @param kind the right's column with the kind of its rows; null where all are versions
     * @param lag by how many milliseconds the times are behind the watermark
     */
    record Options(String leftTime, String rightTime, String kind, long lag) {}

    /**
     * The result of {@code joined}, whose last operation is a join, inner or left outer, of streams; {@code options}
     * are JSON.
     */
    public static Dataset<Row> of(Dataset<Row> joined, String options) {
        Options said = Described.as(Options.class, options);
        JoinSides.Planned planned = JoinSides.of(joined, said.leftTime, said.rightTime, said.lag);
        JoinSides sides = planned.sides();
        int kind = said.kind == null ? -1 : sides.type(1).fieldIndex(said.kind);
        return KeyedProcess.of(planned.rows(), planned.keys(), joined.schema(), new TemporalJoin(sides, kind));
    }

    /** {@code kind}: the number of the right's column with the kind of its rows; -1 where all are versions. */
    private TemporalJoin(JoinSides sides, int kind) {
        super(sides.width(), sides.time());
        this.sides = sides;
        this.kind = kind;
    }

    @Override
    boolean dropsLate() {
        return false;
    }

    @Override
    public List<Layout> layouts() {
        return List.of(Layout.TEMPORAL_JOIN, Layout.EVENT_TIME_BUFFER);
    }

    @Override
    protected void describeWaiting(StateTable table, String waiting, StructType rows) {
        sides.describe(table).column("left", sides.waiting(waiting, 0)).column("right", sides.waiting(waiting, 1));
    }

    @Override
    protected void describeOwn(StateTable table, StructType rows) {
        String version = table.with("own", "version").value(StateTable.placed(sides.type(1)));
        table.column("version", "if(" + version + " IS NULL, NULL, " + StateTable.struct(version, sides.type(1)) + ")");
    }

    @Override
    protected void open() {
        matches = sides.condition();
    }

    @Override
    protected void load(ByteBuffer own) {
        since = own.hasRemaining() ? own.getLong() : Long.MIN_VALUE;
        version = null;
        if (own.hasRemaining()) {
            byte[] bytes = new byte[own.remaining()];
            own.get(bytes);
            version = new UnsafeRow(sides.width(1));
            version.pointTo(bytes, bytes.length);
        }
    }

    @Override
    protected byte[] store() {
        if (since == Long.MIN_VALUE) {
            return NOTHING;
        }
        byte[] row = version == null ? NOTHING : version.getBytes();
        return ByteBuffer.allocate(8 + row.length)
                .order(ByteOrder.nativeOrder())
                .putLong(since)
                .put(row)
                .array();
    }

    @Override
    protected Iterator<InternalRow> process(InternalRow key, Iterator<InternalRow> rows, long watermark) {
        return new Result(rows);
    }

    private final class Result extends AbstractIterator<InternalRow> {
        private final Iterator<InternalRow> rows;
        private final List<UnsafeRow> lefts = new ArrayList<>();
        private final JoinedRow pair = new JoinedRow();
        private InternalRow following;
        private long at;
        private int next;
        private boolean found;

        private Result(Iterator<InternalRow> rows) {
            this.rows = rows;
            advance();
        }

        private void advance() {
            following = rows.hasNext() ? rows.next().copy() : null;
        }

        @Override
        public boolean hasNext() {
            while (!found) {
                if (next < lefts.size()) {
                    found = join(lefts.get(next++));
                } else if (following != null) {
                    collect();
                } else {
                    return false;
                }
            }
            return true;
        }

        /** Takes the rows of one time: its version holds for its rows of the left. */
        private void collect() {
            lefts.clear();
            next = 0;
            at = following.getLong(time);
            while (following != null && following.getLong(time) == at) {
                int side = sides.side(following);
                UnsafeRow row = sides.row(following, side);
                if (side == 0) {
                    lefts.add(row);
                } else if (at >= since) {
                    since = at;
                    version = kind >= 0 && row.getByte(kind) == RowKinds.DELETE ? null : row.copy();
                }
                advance();
            }
        }

        private boolean join(UnsafeRow left) {
            if (version != null && since <= at) {
                pair.apply(left, version);
                if (matches == null || matches.eval(pair)) {
                    return true;
                }
            }
            pair.apply(left, sides.missing(1));
            return sides.outer[0];
        }

        @Override
        public InternalRow next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            found = false;
            return pair;
        }
    }
}
