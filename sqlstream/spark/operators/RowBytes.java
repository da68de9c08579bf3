package sqlstream;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;

/** Numbers and rows one behind the other, as they are kept in a state. A row stands after its length (4 bytes). */
final class RowBytes {
    private byte[] bytes = new byte[1 << 8];
    private int length;

    /** {@code bytes} as what has been put is read. */
    static ByteBuffer reader(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
    }

    /** The row of {@code width} columns that {@code from} has next. */
    static UnsafeRow row(ByteBuffer from, int width) {
        byte[] own = new byte[from.getInt()];
        from.get(own);
        UnsafeRow row = new UnsafeRow(width);
        row.pointTo(own, own.length);
        return row;
    }

    RowBytes put(int number) {
        Platform.putInt(bytes, Platform.BYTE_ARRAY_OFFSET + (long) grown(4), number);
        return this;
    }

    RowBytes put(long number) {
        Platform.putLong(bytes, Platform.BYTE_ARRAY_OFFSET + (long) grown(8), number);
        return this;
    }

    RowBytes put(UnsafeRow row) {
        put(row.getSizeInBytes());
        row.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET + (long) grown(row.getSizeInBytes()));
        return this;
    }

    byte[] all() {
        return Arrays.copyOf(bytes, length);
    }

    /** Makes room behind the end; where that is. */
    private int grown(int size) {
        int end = length;
        length += size;
        if (length > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length));
        }
        return end;
    }
}
