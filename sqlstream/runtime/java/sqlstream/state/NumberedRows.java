package sqlstream.state;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import sqlstream.catalyst.RowBytes;

/**
 * Rows of a key by their number, from the first that may still be asked for.
 *
 * <p>State: chunks of so many rows each, under their number, which are read when one of their rows is asked for; the
 * last rows, less than a chunk, stand beside what else is kept of the key. A row stands after its length (4 bytes).
 */
public final class NumberedRows {
    private static final int CHUNK = 256;

    private final int width;
    private final Chunks chunks;
    private final Map<Long, List<UnsafeRow>> held = new HashMap<>();

    // The chunks in the state are those from one number up to before another; what is behind them is held.
    private long from;
    private long until;
    private long next;

    /** {@code width}: how many columns the rows have. {@code handle} is null where all rows can be held. */
    public NumberedRows(StatefulProcessorHandle handle, int width) {
        this.width = width;
        chunks = handle == null ? null : new Chunks(handle, "rows");
    }

    /** The number that the next row gets. */
    public long next() {
        return next;
    }

    public UnsafeRow get(long number) {
        return held.computeIfAbsent(number / CHUNK, c -> RowBytes.rows(RowBytes.reader(chunks.get(c)), CHUNK, width))
                .get((int) (number % CHUNK));
    }

    public void add(UnsafeRow row) {
        held.computeIfAbsent(next / CHUNK, c -> new ArrayList<>()).add(row.copy());
        next++;
    }

    /** Rows before number {@code first} are not asked for any more. */
    public void forget(long first) {
        for (; from < first / CHUNK; from++) {
            held.remove(from);
            if (from < until) {
                chunks.remove(from);
            }
        }
        until = Math.max(from, until);
    }

    /** No row is asked for any more; numbers begin again. */
    public void clear() {
        forget(next + CHUNK);
        held.clear();
        from = 0;
        until = 0;
        next = 0;
    }

    /** Begin with what {@link #store} wrote, or nothing. */
    public void load(ByteBuffer buffer) {
        held.clear();
        boolean any = buffer.hasRemaining();
        from = any ? buffer.getLong() : 0;
        until = any ? buffer.getLong() : 0;
        next = any ? buffer.getLong() : 0;
        if (next > until * CHUNK) {
            held.put(until, RowBytes.rows(buffer, (int) (next - until * CHUNK), width));
        }
    }

    /** Puts full chunks into the state; the bytes of all else. */
    public byte[] store() {
        for (; (until + 1) * CHUNK <= next; until++) {
            chunks.put(until, new RowBytes().put(held.get(until)).all());
        }
        return new RowBytes()
                .put(from)
                .put(until)
                .put(next)
                .put(held.getOrDefault(until, List.of()))
                .all();
    }
}
