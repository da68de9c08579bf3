package sqlstream;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.util.AccumulatorV2;

/** The greatest time of each split in a micro-batch, in epoch milliseconds: gathered by tasks, read on the driver. */
public final class SplitTimes extends AccumulatorV2<Long, Map<Integer, Long>> {
    /** The split of a control row. */
    static final int ALL = -1;

    private final HashMap<Integer, Long> greatest = new HashMap<>();
    // A task reads one split for long: its time is kept out of the map.
    private int split;
    private long time;
    private boolean any;

    void add(int from, long millis) {
        if (any && from == split) {
            if (millis > time) {
                time = millis;
            }
            return;
        }
        value();
        split = from;
        time = millis;
        any = true;
    }

    @Override
    public void add(Long millis) {
        add(ALL, millis);
    }

    @Override
    public Map<Integer, Long> value() {
        if (any) {
            greatest.merge(split, time, Math::max);
            any = false;
        }
        return greatest;
    }

    @Override
    public boolean isZero() {
        return !any && greatest.isEmpty();
    }

    @Override
    public void reset() {
        greatest.clear();
        any = false;
    }

    @Override
    public AccumulatorV2<Long, Map<Integer, Long>> copy() {
        SplitTimes same = new SplitTimes();
        same.greatest.putAll(value());
        return same;
    }

    @Override
    public void merge(AccumulatorV2<Long, Map<Integer, Long>> other) {
        value();
        other.value().forEach((k, v) -> greatest.merge(k, v, Math::max));
    }
}
