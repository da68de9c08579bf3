package sqlstream.operators;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/** Rows in the order of their times, those of one time sorted in a further order. */
public final class Peers extends AbstractIterator<InternalRow> {
    private final Iterator<InternalRow> rows;
    private final int time;
    private final Comparator<InternalRow> order;
    private final List<InternalRow> peers = new ArrayList<>();
    private UnsafeRow following;
    private int next;

    /** {@code rows} come in the order of the column {@code time}; each is good until the next is asked for. */
    public Peers(Iterator<InternalRow> rows, int time, Comparator<InternalRow> order) {
        this.rows = rows;
        this.time = time;
        this.order = order;
    }

    @Override
    public boolean hasNext() {
        if (next == peers.size()) {
            next = 0;
            peers.clear();
            collect();
        }
        return next < peers.size();
    }

    private void collect() {
        if (following == null && rows.hasNext()) {
            following = ((UnsafeRow) rows.next()).copy();
        }
        while (following != null && (peers.isEmpty() || following.getLong(time) == peers.get(0).getLong(time))) {
            peers.add(following);
            following = rows.hasNext() ? ((UnsafeRow) rows.next()).copy() : null;
        }
        peers.sort(order);
    }

    @Override
    public InternalRow next() {
        return peers.get(next++);
    }
}
