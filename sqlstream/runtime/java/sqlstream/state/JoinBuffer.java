package sqlstream.state;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.unsafe.Platform;

/**
 * A list of rows with their times that are kept by key until their time has passed, each with a mark. Rows are in an
 * open run of bytes, which is stored beside other things, and in full runs, the chunks of a state, of which those are
 * read whose times are asked for.
 *
 * <p>A row stands after its time (8 bytes), its length and its mark (4 each).
 */
public final class JoinBuffer {
    private static final int BEFORE = 16;

    private final int width;
    private final boolean whole;
    private final Chunks chunks;
    private List<Run> runs;
    private Run open;
    private int fresh;
    private boolean changed;

    /** Some rows in the order in which they came. {@code number} is that of its chunk. */
    private static final class Run {
        private final long number;
        private byte[] bytes;
        private int length;
        private long first = Long.MAX_VALUE;
        private long last = Long.MIN_VALUE;

        private Run(long number, byte[] bytes) {
            this.number = number;
            this.bytes = bytes;
            length = bytes.length;
        }
    }

    /**
     * @param width how many columns the rows have
     * @param whole whether a chunk's rows stay until all of them can be dropped
     */
    public JoinBuffer(StatefulProcessorHandle handle, String name, int width, boolean whole) {
        this.width = width;
        this.whole = whole;
        chunks = new Chunks(handle, name);
    }

    /** Begin with a key, for which {@code head} has what {@link #store} wrote, or nothing. */
    public void load(ByteBuffer head) {
        runs = new ArrayList<>();
        open = new Run(-1, Chunks.NONE);
        fresh = 0;
        changed = false;
        if (head.hasRemaining()) {
            fresh = head.getInt();
            int full = head.getInt();
            byte[] bytes = new byte[head.getInt()];
            for (int i = 0; i < full; i++) {
                Run run = new Run(head.getInt(), Chunks.NONE);
                run.first = head.getLong();
                run.last = head.getLong();
                runs.add(run);
            }
            head.get(bytes);
            open = new Run(-1, bytes);
            for (int at = 0; at < open.length; at += BEFORE + size(open, at)) {
                seen(open, time(open, at));
            }
        }
    }

    /** How many bytes {@link #store} writes. */
    public int size() {
        return 12 + 20 * runs.size() + open.length;
    }

    public void store(ByteBuffer head) {
        head.putInt(fresh).putInt(runs.size()).putInt(open.length);
        for (Run run : runs) {
            head.putInt((int) run.number).putLong(run.first).putLong(run.last);
        }
        head.put(open.bytes, 0, open.length);
    }

    public boolean changed() {
        return changed;
    }

    public boolean isEmpty() {
        return runs.isEmpty() && open.length == 0;
    }

    /** The time that must have passed before anything can be dropped; Long.MAX_VALUE without rows. */
    public long next() {
        long next = open.first;
        for (Run run : runs) {
            next = Math.min(next, whole ? run.last : run.first);
        }
        return next;
    }

    /** Put a row at the end. */
    public void add(long time, UnsafeRow row, boolean marked) {
        int end = open.length + BEFORE + row.getSizeInBytes();
        if (end > open.bytes.length) {
            open.bytes = Arrays.copyOf(open.bytes, Math.max(end, 2 * open.bytes.length));
        }
        long offset = Platform.BYTE_ARRAY_OFFSET + (long) open.length;
        Platform.putLong(open.bytes, offset, time);
        Platform.putInt(open.bytes, offset + 8, row.getSizeInBytes());
        Platform.putInt(open.bytes, offset + 12, marked ? 1 : 0);
        row.writeToMemory(open.bytes, offset + BEFORE);
        open.length = end;
        seen(open, time);
        changed = true;
        if (end >= Chunks.FULL) {
            Run run = new Run(fresh++, Arrays.copyOf(open.bytes, end));
            run.first = open.first;
            run.last = open.last;
            chunks.put(run.number, run.bytes);
            run.bytes = Chunks.NONE;
            runs.add(run);
            open = new Run(-1, Chunks.NONE);
        }
    }

    private static long time(Run run, int at) {
        return Platform.getLong(run.bytes, Platform.BYTE_ARRAY_OFFSET + (long) at);
    }

    private static int size(Run run, int at) {
        return Platform.getInt(run.bytes, Platform.BYTE_ARRAY_OFFSET + at + 8L);
    }

    private static void seen(Run run, long time) {
        run.first = Math.min(run.first, time);
        run.last = Math.max(run.last, time);
    }

    /**
     * The rows that have times from {@code from} to {@code until}, perhaps with others, and all that can be dropped: of
     * times up to {@code passed}.
     */
    public Cursor rows(long from, long until, long passed) {
        List<Run> read = new ArrayList<>();
        for (Run run : runs) {
            if (run.first <= until && run.last >= from || (whole ? run.last : run.first) <= passed) {
                read.add(run);
            }
        }
        read.add(open);
        return new Cursor(read, passed);
    }

    /** Goes over rows once; all of them, or what was marked and dropped is not kept. */
    public final class Cursor {
        private final UnsafeRow row = new UnsafeRow(width);
        private final List<Run> read;
        private final long passed;
        private Run run;
        private int at;
        private int following;
        private int kept;
        private boolean dirty;
        private boolean drops;

        private Cursor(List<Run> read, long passed) {
            this.read = read;
            this.passed = passed;
        }

        /** Goes to the next row; whether there is one. The row before is kept unless it {@link #expires}. */
        public boolean next() {
            if (run != null) {
                leave();
            }
            while (run == null || following == run.length) {
                if (run != null) {
                    end();
                }
                if (read.isEmpty()) {
                    return false;
                }
                begin(read.remove(0));
            }
            at = following;
            int size = JoinBuffer.size(run, at);
            following = at + BEFORE + size;
            row.pointTo(run.bytes, Platform.BYTE_ARRAY_OFFSET + at + (long) BEFORE, size);
            return true;
        }

        private void begin(Run next) {
            run = next;
            if (run != open) {
                run.bytes = chunks.get(run.number);
                run.length = run.bytes.length;
            }
            drops = run == open || !whole || run.last <= passed;
            if (drops) {
                run.first = Long.MAX_VALUE;
                run.last = Long.MIN_VALUE;
            }
            at = following = kept = 0;
            dirty = false;
        }

        /** Moves the row, unless it is dropped, to the end of those that are kept. */
        private void leave() {
            if (!drops) {
                kept = following;
            } else if (!expires()) {
                seen(run, time());
                if (kept < at) {
                    System.arraycopy(run.bytes, at, run.bytes, kept, following - at);
                }
                kept += following - at;
            }
        }

        private void end() {
            boolean shorter = kept < run.length;
            changed |= shorter || dirty;
            run.length = kept;
            if (run != open) {
                if (kept == 0) {
                    chunks.remove(run.number);
                    runs.remove(run);
                } else if (shorter || dirty) {
                    chunks.put(run.number, Arrays.copyOf(run.bytes, kept));
                }
                run.bytes = Chunks.NONE;
            }
            run = null;
        }

        public long time() {
            return JoinBuffer.time(run, at);
        }

        /** The row; good until the next is asked for. */
        public UnsafeRow row() {
            return row;
        }

        /** Whether the row's time has passed, and it is dropped. */
        public boolean expires() {
            return drops && time() <= passed;
        }

        public boolean isMarked() {
            return Platform.getInt(run.bytes, Platform.BYTE_ARRAY_OFFSET + at + 12L) != 0;
        }

        public void mark() {
            if (!isMarked()) {
                Platform.putInt(run.bytes, Platform.BYTE_ARRAY_OFFSET + at + 12L, 1);
                dirty = true;
            }
        }
    }
}
