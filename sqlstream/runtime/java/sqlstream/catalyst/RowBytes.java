package sqlstream.catalyst;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;

/** Numbers and rows one behind the other, as they are kept in a state. A row stands after its length (4 bytes). */
public final class RowBytes {
    private byte[] bytes = new byte[1 << 8];
    private int length;

    /** {@code bytes} as what has been put is read. */
    public static ByteBuffer reader(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
    }

    /** The row of {@code width} columns that {@code from} has next. */
    public static UnsafeRow row(ByteBuffer from, int width) {
        byte[] own = new byte[from.getInt()];
        from.get(own);
        UnsafeRow row = new UnsafeRow(width);
        row.pointTo(own, own.length);
        return row;
    }

    /** The {@code count} rows that {@code from} has next. */
    public static List<UnsafeRow> rows(ByteBuffer from, int count, int width) {
        List<UnsafeRow> rows = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            rows.add(row(from, width));
        }
        return rows;
    }

    /** The bytes that {@code from} has next, or null. */
    public static byte[] bytes(ByteBuffer from) {
        int length = from.getInt();
        if (length < 0) {
            return null;
        }
        byte[] own = new byte[length];
        from.get(own);
        return own;
    }

    public RowBytes put(int number) {
        long place = grown(4);
        Platform.putInt(bytes, place, number);
        return this;
    }

    public RowBytes put(long number) {
        long place = grown(8);
        Platform.putLong(bytes, place, number);
        return this;
    }

    public RowBytes put(UnsafeRow row) {
        put(row.getSizeInBytes());
        long place = grown(row.getSizeInBytes());
        row.writeToMemory(bytes, place);
        return this;
    }

    public RowBytes put(List<UnsafeRow> rows) {
        rows.forEach(this::put);
        return this;
    }

    /** Bytes after their length, or null. */
    public RowBytes put(byte[] some) {
        put(some == null ? -1 : some.length);
        if (some != null) {
            long place = grown(some.length);
            Platform.copyMemory(some, Platform.BYTE_ARRAY_OFFSET, bytes, place, some.length);
        }
        return this;
    }

    public byte[] all() {
        return Arrays.copyOf(bytes, length);
    }

    /** Makes room behind the end, maybe in other {@code bytes} than before; where that is. */
    private long grown(int size) {
        long end = Platform.BYTE_ARRAY_OFFSET + (long) length;
        length += size;
        if (length > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length));
        }
        return end;
    }
}
