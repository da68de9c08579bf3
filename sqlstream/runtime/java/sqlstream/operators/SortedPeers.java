package sqlstream.operators;

import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import scala.collection.Iterator;

/** Rows in the order of their times, those of one time sorted in a further order. */
public final class SortedPeers extends Peers {
    private final Comparator<InternalRow> order;

    /** {@code rows} come in the order of the column {@code time}; each is good until the next is asked for. */
    public SortedPeers(Iterator<InternalRow> rows, int time, Comparator<InternalRow> order) {
        super(rows, time, false);
        this.order = order;
    }

    @Override
    void begin(List<InternalRow> peers) {
        peers.sort(order);
    }
}
