package acme;

import org.apache.flink.table.api.dataview.MapView;
import org.apache.flink.table.functions.AggregateFunction;

/** How many values there are, by a view, which only Flink's state has. */
public class Distinct extends AggregateFunction<Long, Distinct.Kept> {
    /** What is kept of a group. */
    public static class Kept {
        public MapView<Long, Boolean> seen = new MapView<>();
        public long count;
    }

    @Override
    public Kept createAccumulator() {
        return new Kept();
    }

    public void accumulate(Kept kept, Long value) throws Exception {
        if (value != null && !kept.seen.contains(value)) {
            kept.seen.put(value, true);
            kept.count++;
        }
    }

    @Override
    public Long getValue(Kept kept) {
        return kept.count;
    }
}
