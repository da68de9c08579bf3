package sqlstream.state;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.PriorityQueue;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.unsafe.Platform;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * The rows of a key that wait for their time, read in its order, and rows of one time in that of their arrival.
 *
 * <p>They are runs of rows in order: some full ones, chunks of the state that are read when their first row's time has
 * come, and an open one beside their list. A row in a run stands after its length and its number among those that
 * arrived (4 bytes each).
 */
public final class EventTimeBuffer {

    private final int width;
    private final int time;
    private final Chunks chunks;

    private List<Run> full;
    private byte[] open;
    private int fresh;
    private int arrived;
    private boolean changed;

    /** {@code width}: how many columns the rows have. {@code time}: which of them is their time. */
    public EventTimeBuffer(StatefulProcessorHandle handle, int width, int time) {
        this.width = width;
        this.time = time;
        chunks = new Chunks(handle, "waiting");
    }

    /** One run. Its bytes are read when they are needed. */
    private final class Run implements Comparable<Run> {
        private final int number;
        private final UnsafeRow row = new UnsafeRow(width);
        private byte[] bytes;
        private int offset;
        private long at;
        private int arrival;

        private Run(int number, long at, int arrival) {
            this.number = number;
            this.at = at;
            this.arrival = arrival;
        }

        private Run(byte[] bytes) {
            this(-1, 0, 0);
            this.bytes = bytes;
            point();
        }

        /** Its first row that was not read yet, which is there. */
        private UnsafeRow row() {
            if (bytes == null) {
                bytes = chunks.get(number);
                chunks.remove(number);
                point();
            }
            return row;
        }

        private void point() {
            int length = Platform.getInt(bytes, Platform.BYTE_ARRAY_OFFSET + (long) offset);
            arrival = Platform.getInt(bytes, Platform.BYTE_ARRAY_OFFSET + offset + 4L);
            row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET + offset + 8L, length);
            at = row.getLong(time);
        }

        /** Goes to the next row; whether there is one. */
        private boolean next() {
            offset += 8 + row.getSizeInBytes();
            if (offset == bytes.length) {
                return false;
            }
            point();
            return true;
        }

        @Override
        public int compareTo(Run other) {
            // Numbers of arrival begin again after the greatest.
            return at != other.at ? Long.compare(at, other.at) : arrival - other.arrival;
        }
    }

    /** Begin with a key, for which {@code head} has what {@link #store} wrote, or nothing. */
    public void load(ByteBuffer head) {
        full = new ArrayList<>();
        open = Chunks.NONE;
        fresh = 0;
        arrived = 0;
        changed = false;
        if (head.hasRemaining()) {
            fresh = head.getInt();
            arrived = head.getInt();
            int runs = head.getInt();
            open = new byte[head.getInt()];
            for (int i = 0; i < runs; i++) {
                full.add(new Run(head.getInt(), head.getLong(), head.getInt()));
            }
            head.get(open);
        }
    }

    /** How many bytes {@link #store} writes. */
    public int size() {
        return 16 + 16 * full.size() + open.length;
    }

    public void store(ByteBuffer head) {
        head.putInt(fresh).putInt(arrived).putInt(full.size()).putInt(open.length);
        for (Run run : full) {
            head.putInt(run.number).putLong(run.at).putInt(run.arrival);
        }
        head.put(open);
    }

    public boolean changed() {
        return changed;
    }

    /** The time of the first row; Long.MAX_VALUE without one. */
    public long first() {
        long first = open.length == 0 ? Long.MAX_VALUE : new Run(open).at;
        for (Run run : full) {
            first = Math.min(first, run.at);
        }
        return first;
    }

    /**
     * The rows up to the time {@code until}, of those that wait and of {@code added}, which are in the order of their
     * times. Each is good until the next is asked for. When there is none any more, the others wait.
     */
    public Iterator<InternalRow> due(Iterator<InternalRow> added, long until) {
        return new Due(added, until);
    }

    private final class Due extends AbstractIterator<InternalRow> {
        private final PriorityQueue<Run> runs = new PriorityQueue<>(full);
        private final Iterator<InternalRow> added;
        private final long until;
        private UnsafeRow next;
        private long at = Long.MIN_VALUE;
        private boolean ofAdded;
        private Run current;
        private boolean ended;

        private Due(Iterator<InternalRow> added, long until) {
            this.added = added;
            this.until = until;
            if (open.length > 0) {
                runs.add(new Run(open));
            }
            advance();
        }

        private void advance() {
            if (!added.hasNext()) {
                next = null;
                return;
            }
            next = (UnsafeRow) added.next();
            if (next.getLong(time) < at) {
                throw new IllegalStateException("rows of a key that are not in the order of their times");
            }
            at = next.getLong(time);
        }

        /** Of rows of one time those that wait came first. */
        private boolean waitingFirst() {
            return !runs.isEmpty() && (next == null || runs.peek().at <= at);
        }

        @Override
        public boolean hasNext() {
            if (ended) {
                return false;
            }
            step();
            if (waitingFirst() ? runs.peek().at <= until : next != null && at <= until) {
                return true;
            }
            ended = true;
            keep();
            return false;
        }

        @Override
        public InternalRow next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            if (waitingFirst()) {
                current = runs.poll();
                return current.row();
            }
            ofAdded = true;
            return next;
        }

        /** Leaves the row that was read last. */
        private void step() {
            if (ofAdded) {
                ofAdded = false;
                advance();
            } else if (current != null) {
                changed = true;
                if (current.next()) {
                    runs.add(current);
                }
                current = null;
            }
        }

        /**
         * Lets the rows that are left wait: those of chunks that were not read where they are, the others in new runs.
         */
        private void keep() {
            full.clear();
            List<Run> read = new ArrayList<>();
            for (Run run : runs) {
                (run.bytes == null ? full : read).add(run);
            }
            if (next == null && !changed) {
                return;
            }
            changed = true;
            runs.clear();
            runs.addAll(read);
            Writer writer = new Writer();
            while (next != null || !runs.isEmpty()) {
                if (waitingFirst()) {
                    Run run = runs.poll();
                    writer.add(run.row, run.arrival);
                    if (run.next()) {
                        runs.add(run);
                    }
                } else {
                    writer.add(next, arrived++);
                    advance();
                }
            }
            open = Arrays.copyOf(writer.bytes, writer.length);
        }
    }

    /** Cuts rows in order into runs. */
    private final class Writer {
        private byte[] bytes = new byte[1 << 10];
        private int length;

        private void add(UnsafeRow row, int arrival) {
            int size = row.getSizeInBytes();
            if (length + 8 + size > bytes.length) {
                bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + 8 + size));
            }
            Platform.putInt(bytes, Platform.BYTE_ARRAY_OFFSET + (long) length, size);
            Platform.putInt(bytes, Platform.BYTE_ARRAY_OFFSET + length + 4L, arrival);
            row.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET + length + 8L);
            length += 8 + size;
            if (length >= Chunks.FULL) {
                Run first = new Run(bytes);
                full.add(new Run(fresh, first.at, first.arrival));
                chunks.put(fresh++, Arrays.copyOf(bytes, length));
                length = 0;
            }
        }
    }
}
