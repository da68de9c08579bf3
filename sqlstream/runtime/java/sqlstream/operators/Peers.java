package sqlstream.operators;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * Rows in the order of their times, those of one time, or each alone, known together before the first of them is asked
 * for.
 */
abstract class Peers extends AbstractIterator<InternalRow> {
    private final Iterator<InternalRow> rows;
    private final int time;
    private final boolean alone;
    private final List<InternalRow> peers = new ArrayList<>();
    private InternalRow following;
    private int next;

    /**
     * @param rows come in the order of the column {@code time}; each is good until the next is asked for
     * @param alone whether each row is its own only peer
     */
    Peers(Iterator<InternalRow> rows, int time, boolean alone) {
        this.rows = rows;
        this.time = time;
        this.alone = alone;
    }

    /** The next peers are {@code peers}, which may be sorted. */
    abstract void begin(List<InternalRow> peers);

    @Override
    public final boolean hasNext() {
        if (next == peers.size()) {
            next = 0;
            peers.clear();
            collect();
            if (!peers.isEmpty()) {
                begin(peers);
            }
        }
        return next < peers.size();
    }

    private void collect() {
        if (alone) {
            if (rows.hasNext()) {
                peers.add(rows.next());
            }
            return;
        }
        if (following == null && rows.hasNext()) {
            following = rows.next().copy();
        }
        while (following != null
                && (peers.isEmpty() || following.getLong(time) == peers.get(0).getLong(time))) {
            peers.add(following);
            following = rows.hasNext() ? rows.next().copy() : null;
        }
    }

    @Override
    public InternalRow next() {
        return peers.get(next++);
    }
}
