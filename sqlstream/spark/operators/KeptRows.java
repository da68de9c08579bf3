package sqlstream;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.NoSuchElementException;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.unsafe.Platform;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * Lists of rows that are kept by key, several lists a key. A key with few rows is one read and one write of the state store a micro-batch,
 * whatever lists they are in.
 *
 * <p>State: {@code head} has, for each list, the number of its full chunks, the length of its open chunk in bytes, and at the end the open
 * chunks; {@code chunks} has full chunks under {@code list + lists * number}. A chunk is rows in Spark's binary form, each after its length (8 bytes).
 */
final class KeptRows {
    private static final int FULL = 1 << 16;
    private static final byte[] NONE = new byte[0];

    private final int[] widths;
    private final ValueState<byte[]> head;
    private final MapState<Long, byte[]> chunks;
    private final byte[][] open;
    private final int[] full;
    private boolean changed;

    /** {@code widths}: how many columns the rows of each list have. */
    KeptRows(StatefulProcessorHandle handle, int... widths) {
        this.widths = widths;
        head = handle.getValueState("head", Encoders.BINARY(), TTLConfig.NONE());
        chunks = handle.getMapState("chunks", Encoders.LONG(), Encoders.BINARY(), TTLConfig.NONE());
        open = new byte[widths.length][];
        full = new int[widths.length];
    }

    /** Read what is kept for the key that is being processed. */
    void load() {
        byte[] bytes = head.get();
        int offset = 8 * widths.length;
        ByteBuffer buffer = bytes == null ? null : ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        for (int i = 0; i < widths.length; i++) {
            full[i] = bytes == null ? 0 : buffer.getInt();
            int length = bytes == null ? 0 : buffer.getInt();
            open[i] = length == 0 ? NONE : Arrays.copyOfRange(bytes, offset, offset + length);
            offset += length;
        }
        changed = false;
    }

    /** The rows of a list. Each is good until the next is asked for. */
    Iterator<InternalRow> rows(int list) {
        return new AbstractIterator<>() {
            private final UnsafeRow row = new UnsafeRow(widths[list]);
            private int number = 0;
            private byte[] chunk = NONE;
            private int offset = 0;

            @Override
            public boolean hasNext() {
                while (offset == chunk.length && number <= full[list]) {
                    chunk = number == full[list] ? open[list] : chunks.getValue(key(list, number));
                    offset = 0;
                    number++;
                }
                return offset < chunk.length;
            }

            @Override
            public InternalRow next() {
                if (!hasNext()) {
                    throw new NoSuchElementException();
                }
                int length = Math.toIntExact(Platform.getLong(chunk, Platform.BYTE_ARRAY_OFFSET + (long) offset));
                row.pointTo(chunk, Platform.BYTE_ARRAY_OFFSET + offset + 8L, length);
                offset += 8 + length;
                return row;
            }
        };
    }

    /** Put rows at the end of a list. */
    void add(int list, List<UnsafeRow> rows) {
        int from = 0;
        while (from < rows.size()) {
            int until = from;
            int length = open[list].length;
            while (until < rows.size() && length < FULL) {
                length += 8 + rows.get(until++).getSizeInBytes();
            }
            byte[] grown = Arrays.copyOf(open[list], length);
            int offset = open[list].length;
            for (UnsafeRow row : rows.subList(from, until)) {
                Platform.putLong(grown, Platform.BYTE_ARRAY_OFFSET + (long) offset, row.getSizeInBytes());
                row.writeToMemory(grown, Platform.BYTE_ARRAY_OFFSET + offset + 8L);
                offset += 8 + row.getSizeInBytes();
            }
            open[list] = grown;
            if (length >= FULL) {
                chunks.updateValue(key(list, full[list]++), grown);
                open[list] = NONE;
            }
            changed = true;
            from = until;
        }
    }

    /** Write what has changed. */
    void store() {
        if (!changed) {
            return;
        }
        int length = 8 * widths.length;
        for (byte[] each : open) {
            length += each.length;
        }
        ByteBuffer buffer = ByteBuffer.allocate(length).order(ByteOrder.nativeOrder());
        for (int i = 0; i < widths.length; i++) {
            buffer.putInt(full[i]).putInt(open[i].length);
        }
        for (byte[] each : open) {
            buffer.put(each);
        }
        head.update(buffer.array());
        changed = false;
    }

    private Long key(int list, int number) {
        return list + (long) widths.length * number;
    }
}
