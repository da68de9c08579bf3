package sqlstream.state;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.function.Predicate;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.unsafe.Platform;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * Lists of rows that are kept by key, several lists a key. A key with few rows is one read and one write of the state
 * store a micro-batch, whatever lists they are in.
 *
 * <p>A list is a log: the removal of a row is written behind the others, and the first equal row is left out when the
 * list is read. A log of which half is such pairs is written anew.
 *
 * <p>State: {@code head} has, for each list, the number of its full chunks, the length of its open chunk in bytes, and
 * the numbers of its entries and of the removals among them; at the end the open chunks. {@code chunks} has full chunks
 * under {@code list + lists * number}. A chunk is rows in Spark's binary form, each after its length (8 bytes, negative
 * where the row is removed).
 */
public final class RowLists {
    private static final int NUMBERS = 16;

    private final int[] widths;
    private final ValueState<byte[]> head;
    private final Chunks chunks;
    private final byte[][] open;
    private final int[] full;
    private final int[] entries;
    private final int[] removals;
    // How often each row is in a list, where one was removed by itself.
    private final List<Map<UnsafeRow, int[]>> numbers = new ArrayList<>();
    private boolean changed;
    private boolean stored;

    /**
     * {@code widths}: how many columns the rows of each list have. {@code name}: of the state, as an operator may have
     * several.
     */
    public RowLists(StatefulProcessorHandle handle, String name, int... widths) {
        this.widths = widths;
        head = handle.getValueState(name + "Head", Encoders.BINARY(), TTLConfig.NONE());
        chunks = new Chunks(handle, name + "Chunks");
        open = new byte[widths.length][];
        full = new int[widths.length];
        entries = new int[widths.length];
        removals = new int[widths.length];
        numbers.addAll(Collections.nCopies(widths.length, null));
    }

    /** Read what is kept for the key that is being processed. */
    public void load() {
        byte[] bytes = head.get();
        stored = bytes != null;
        int offset = NUMBERS * widths.length;
        ByteBuffer buffer = stored ? ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()) : null;
        for (int i = 0; i < widths.length; i++) {
            full[i] = stored ? buffer.getInt() : 0;
            int length = stored ? buffer.getInt() : 0;
            entries[i] = stored ? buffer.getInt() : 0;
            removals[i] = stored ? buffer.getInt() : 0;
            open[i] = length == 0 ? Chunks.NONE : Arrays.copyOfRange(bytes, offset, offset + length);
            offset += length;
            numbers.set(i, null);
        }
        changed = false;
    }

    /** How many rows a list has. */
    public int size(int list) {
        return entries[list] - 2 * removals[list];
    }

    /** The rows of a list. Each is good until the next is asked for. */
    public Iterator<InternalRow> rows(int list) {
        Log log = new Log(list);
        if (removals[list] == 0) {
            return log;
        }
        Map<UnsafeRow, int[]> removed = new HashMap<>();
        while (log.hasNext()) {
            UnsafeRow row = log.next();
            if (log.removes) {
                removed.computeIfAbsent(row.copy(), r -> new int[1])[0]++;
            }
        }
        return new Remaining(new Log(list), removed);
    }

    /** How often each of the rows that are {@code asked} for is in a list; of those that are. */
    Map<UnsafeRow, int[]> numbers(int list, Predicate<UnsafeRow> asked) {
        Map<UnsafeRow, int[]> numbers = new HashMap<>();
        rows(list).foreach(row -> {
            if (asked.test((UnsafeRow) row)) {
                int[] known = numbers.get(row);
                if (known == null) {
                    numbers.put(((UnsafeRow) row).copy(), new int[] {1});
                } else {
                    known[0]++;
                }
            }
            return null;
        });
        return numbers;
    }

    /** Change a list as {@code changes} say, which are what changes in it. */
    public void change(int list, List<RowChanges.Change> changes) {
        add(list, RowChanges.rows(changes, 1));
        remove(list, RowChanges.rows(changes, -1));
    }

    /** Put a row at the end of a list. */
    public void add(int list, UnsafeRow row) {
        add(list, List.of(row));
        if (numbers.get(list) != null) {
            numbers.get(list).computeIfAbsent(row, r -> new int[1])[0]++;
        }
    }

    /** Remove the first row that is equal from a list, if there is one. */
    public void remove(int list, UnsafeRow row) {
        if (numbers.get(list) == null) {
            numbers.set(list, numbers(list, r -> true));
        }
        int[] number = numbers.get(list).get(row);
        if (number != null && number[0] > 0) {
            number[0]--;
            remove(list, List.of(row));
        }
    }

    /** Put rows at the end of a list. */
    private void add(int list, List<UnsafeRow> rows) {
        append(list, rows, 1);
    }

    /** Remove rows that are in a list: for each the first that is equal. */
    private void remove(int list, List<UnsafeRow> rows) {
        append(list, rows, -1);
        removals[list] += rows.size();
    }

    /** Let a list have these rows. */
    public void replace(int list, List<UnsafeRow> rows) {
        while (full[list] > 0) {
            chunks.remove(key(list, --full[list]));
        }
        open[list] = Chunks.NONE;
        entries[list] = 0;
        removals[list] = 0;
        numbers.set(list, null);
        changed = true;
        append(list, rows, 1);
    }

    /** Remove all rows from all lists. */
    public void clear() {
        for (int i = 0; i < widths.length; i++) {
            replace(i, List.of());
        }
        if (stored) {
            head.clear();
        }
        changed = false;
        stored = false;
    }

    private void append(int list, List<UnsafeRow> rows, int sign) {
        entries[list] += rows.size();
        int from = 0;
        while (from < rows.size()) {
            int until = from;
            int length = open[list].length;
            while (until < rows.size() && length < Chunks.FULL) {
                length += 8 + rows.get(until++).getSizeInBytes();
            }
            byte[] grown = Arrays.copyOf(open[list], length);
            int offset = open[list].length;
            for (UnsafeRow row : rows.subList(from, until)) {
                Platform.putLong(grown, Platform.BYTE_ARRAY_OFFSET + (long) offset, (long) sign * row.getSizeInBytes());
                row.writeToMemory(grown, Platform.BYTE_ARRAY_OFFSET + offset + 8L);
                offset += 8 + row.getSizeInBytes();
            }
            open[list] = grown;
            if (length >= Chunks.FULL) {
                chunks.put(key(list, full[list]++), grown);
                open[list] = Chunks.NONE;
            }
            changed = true;
            from = until;
        }
    }

    /** Write what has changed. */
    public void store() {
        if (!changed) {
            return;
        }
        int length = NUMBERS * widths.length;
        int left = 0;
        for (int i = 0; i < widths.length; i++) {
            if (removals[i] > 0 && 4 * removals[i] > entries[i]) {
                List<UnsafeRow> rows = new ArrayList<>(size(i));
                rows(i).foreach(row -> rows.add(((UnsafeRow) row).copy()));
                replace(i, rows);
            }
            length += open[i].length;
            left += entries[i];
        }
        if (left == 0) {
            clear();
            return;
        }
        ByteBuffer buffer = ByteBuffer.allocate(length).order(ByteOrder.nativeOrder());
        for (int i = 0; i < widths.length; i++) {
            buffer.putInt(full[i]).putInt(open[i].length).putInt(entries[i]).putInt(removals[i]);
        }
        for (byte[] each : open) {
            buffer.put(each);
        }
        head.update(buffer.array());
        changed = false;
        stored = true;
    }

    private long key(int list, int number) {
        return list + (long) widths.length * number;
    }

    /** The entries of a list as they were written. */
    private final class Log extends AbstractIterator<InternalRow> {
        private final int list;
        private final UnsafeRow row;
        private int number = 0;
        private byte[] chunk = Chunks.NONE;
        private int offset = 0;
        private boolean removes;

        private Log(int list) {
            this.list = list;
            row = new UnsafeRow(widths[list]);
        }

        @Override
        public boolean hasNext() {
            while (offset == chunk.length && number <= full[list]) {
                chunk = number == full[list] ? open[list] : chunks.get(key(list, number));
                offset = 0;
                number++;
            }
            return offset < chunk.length;
        }

        @Override
        public UnsafeRow next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            int length = Math.toIntExact(Platform.getLong(chunk, Platform.BYTE_ARRAY_OFFSET + (long) offset));
            removes = length < 0;
            length = Math.abs(length);
            row.pointTo(chunk, Platform.BYTE_ARRAY_OFFSET + offset + 8L, length);
            offset += 8 + length;
            return row;
        }
    }

    /** The entries of a log that are not removed. */
    private static final class Remaining extends AbstractIterator<InternalRow> {
        private final Log log;
        private final Map<UnsafeRow, int[]> removed;
        private UnsafeRow next;

        private Remaining(Log log, Map<UnsafeRow, int[]> removed) {
            this.log = log;
            this.removed = removed;
        }

        @Override
        public boolean hasNext() {
            while (next == null && log.hasNext()) {
                UnsafeRow row = log.next();
                int[] count = removed.get(row);
                if (log.removes) {
                    continue;
                }
                if (count != null && count[0] > 0) {
                    count[0]--;
                } else {
                    next = row;
                }
            }
            return next != null;
        }

        @Override
        public UnsafeRow next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            UnsafeRow row = next;
            next = null;
            return row;
        }
    }
}
