package acme;

import org.apache.flink.table.functions.TableAggregateFunction;
import org.apache.flink.util.Collector;

/** What SQL can't call. */
public class Pairs extends TableAggregateFunction<Long, Total.Kept> {
    @Override
    public Total.Kept createAccumulator() {
        return new Total.Kept();
    }

    public void accumulate(Total.Kept kept, Long value) {
        kept.sum += value;
    }

    public void emitValue(Total.Kept kept, Collector<Long> out) {
        out.collect(kept.sum);
    }
}
