package acme;

import org.apache.flink.table.functions.AggregateFunction;

/** A sum. */
public class Total extends AggregateFunction<Long, Total.Kept> {
    /** What is kept of a group. */
    public static class Kept {
        public long sum;
    }

    @Override
    public Kept createAccumulator() {
        return new Kept();
    }

    public void accumulate(Kept kept, Long value) {
        kept.sum += value == null ? 0 : value;
    }

    public void retract(Kept kept, Long value) {
        kept.sum -= value == null ? 0 : value;
    }

    @Override
    public Long getValue(Kept kept) {
        return kept.sum;
    }
}
