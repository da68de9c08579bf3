package sqlstream.state;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import sqlstream.aggregates.Aggregates;
import sqlstream.catalyst.RowBytes;

/**
 * The last rows of a key, to which rows are added at one end and from which they are removed at the other, and
 * aggregates of them, at a cost that does not depend on how many there are: nothing is ever subtracted, so that it
 * serves every function whose buffers can be merged.
 *
 * <p>The rows are segments. Those at the front have buffers of all rows from one on, the others have been added to one
 * running buffer; when the front is used up the others become it. A full segment is a chunk of the state, read when its
 * first row is to be removed; beside it stand its buffers.
 */
public final class SlidingFrame {
    private static final int SEGMENT = 1 << 8;
    // Segments that came in one micro-batch and are held before they go to the state.
    private static final int HELD = 1 << 6;

    private final int width;
    private final int parts;
    private final Chunks chunks;
    private final Aggregates.Work running;
    private final Aggregates.Work shown;
    private final Aggregates.Work built;
    private ArrayDeque<Segment> front;
    private ArrayDeque<Segment> back;
    private UnsafeRow[] suffixes;
    private int gone;
    private int fresh;
    private int size;

    /** {@code width}: how many columns the rows have; the functions read the first of them. */
    public SlidingFrame(StatefulProcessorHandle handle, Aggregates aggregates, int width) {
        this.width = width;
        parts = aggregates.buffer.size();
        chunks = new Chunks(handle, "frame");
        running = aggregates.new Work();
        shown = aggregates.new Work();
        built = aggregates.new Work();
    }

    /**
     * Rows that follow each other. {@code number}: of its chunk, or -1; {@code suffix}: the buffers of it and all
     * behind it in the front.
     */
    private final class Segment {
        private int number = -1;
        private int count;
        private List<UnsafeRow> rows;
        private UnsafeRow part;
        private UnsafeRow suffix;

        private List<UnsafeRow> rows() {
            if (rows == null) {
                rows = RowBytes.rows(RowBytes.reader(chunks.get(number)), count, width);
            }
            return rows;
        }

        private UnsafeRow part() {
            if (part == null) {
                built.begin(null);
                rows.forEach(built::add);
                part = built.part();
            }
            return part;
        }

        private void save() {
            part();
            number = fresh++;
            chunks.put(number, new RowBytes().put(rows).all());
        }
    }

    /** Begin with a key, for which {@code kept} has what {@link #store} wrote, or nothing. */
    public void load(ByteBuffer kept) {
        front = new ArrayDeque<>();
        back = new ArrayDeque<>();
        suffixes = null;
        gone = 0;
        fresh = 0;
        size = 0;
        running.begin(null);
        if (!kept.hasRemaining()) {
            return;
        }
        size = kept.getInt();
        fresh = kept.getInt();
        gone = kept.getInt();
        int saved = kept.getInt();
        for (int i = 0; i < saved; i++) {
            Segment segment = new Segment();
            segment.number = kept.getInt();
            segment.count = kept.getInt();
            segment.part = RowBytes.row(kept, parts);
            front.add(segment);
        }
        int open = kept.getInt();
        if (open > 0) {
            Segment segment = new Segment();
            segment.count = open;
            segment.rows = RowBytes.rows(kept, open, width);
            front.add(segment);
        }
        sum();
    }

    /** Computes the buffers behind each segment of the front. */
    private void sum() {
        UnsafeRow behind = null;
        for (Iterator<Segment> segments = front.descendingIterator(); segments.hasNext(); ) {
            Segment segment = segments.next();
            // Of the first they are computed row by row.
            if (segments.hasNext()) {
                built.begin(segment.part());
                if (behind != null) {
                    built.merge(behind);
                }
                segment.suffix = built.part();
                behind = segment.suffix;
            }
        }
    }

    public int size() {
        return size;
    }

    public void add(UnsafeRow row) {
        Segment last = back.peekLast();
        if (last == null || last.count == SEGMENT) {
            if (back.size() > HELD) {
                last.save();
                last.rows = null;
            }
            last = new Segment();
            last.rows = new ArrayList<>();
            back.add(last);
        }
        UnsafeRow own = row.copy();
        last.rows.add(own);
        last.count++;
        running.add(own);
        size++;
    }

    /** The first row, which is there. */
    public UnsafeRow first() {
        return ready().rows().get(gone);
    }

    /** The first segment, with the buffers from each of its rows on. */
    private Segment ready() {
        if (front.isEmpty()) {
            front = back;
            back = new ArrayDeque<>();
            running.begin(null);
            sum();
        }
        Segment first = front.peek();
        if (suffixes == null) {
            List<UnsafeRow> rows = first.rows();
            suffixes = new UnsafeRow[rows.size()];
            Iterator<Segment> others = front.iterator();
            others.next();
            UnsafeRow behind = others.hasNext() ? others.next().suffix : null;
            for (int i = rows.size() - 1; i >= gone; i--) {
                built.begin(null);
                built.add(rows.get(i));
                if (behind != null) {
                    built.merge(behind);
                }
                suffixes[i] = built.part();
                behind = suffixes[i];
            }
        }
        return first;
    }

    public void removeFirst() {
        Segment first = ready();
        size--;
        if (++gone == first.count) {
            if (first.number >= 0) {
                chunks.remove(first.number);
            }
            front.remove();
            gone = 0;
            suffixes = null;
        }
    }

    /** What results are computed from. */
    public InternalRow results() {
        if (front.isEmpty()) {
            return running.results();
        }
        ready();
        shown.begin(suffixes[gone]);
        if (!back.isEmpty()) {
            shown.merge(running.buffers());
        }
        return shown.results();
    }

    /** Forget the key. */
    public void clear() {
        chunks.clear();
    }

    public void store(RowBytes kept) {
        List<Segment> saved = new ArrayList<>();
        List<UnsafeRow> tail = new ArrayList<>();
        for (ArrayDeque<Segment> side : List.of(front, back)) {
            for (Segment segment : side) {
                if (segment.number >= 0) {
                    cut(tail, saved, 1);
                    saved.add(segment);
                } else {
                    boolean first = segment == front.peek();
                    tail.addAll(first ? segment.rows.subList(gone, segment.count) : segment.rows);
                    gone = first ? 0 : gone;
                }
            }
        }
        cut(tail, saved, SEGMENT);
        kept.put(size).put(fresh).put(gone).put(saved.size());
        for (Segment segment : saved) {
            kept.put(segment.number).put(segment.count).put(segment.part);
        }
        kept.put(tail.size()).put(tail);
    }

    /** Takes segments of at least {@code least} rows from {@code tail} to {@code saved}. */
    private void cut(List<UnsafeRow> tail, List<Segment> saved, int least) {
        int from = 0;
        while (tail.size() - from >= least) {
            Segment segment = new Segment();
            segment.count = Math.min(SEGMENT, tail.size() - from);
            segment.rows = tail.subList(from, from + segment.count);
            segment.save();
            segment.rows = null;
            saved.add(segment);
            from += segment.count;
        }
        tail.subList(0, from).clear();
    }
}
