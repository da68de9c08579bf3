package sqlstream;

import java.util.HashMap;
import java.util.Map;

/** How far each split of a source has come since its query started, in epoch milliseconds. Lives on the driver. */
public final class SplitProgress {
    private final int splits;
    private final Map<Integer, Long> greatest = new HashMap<>();
    private long floor = Long.MIN_VALUE;

    public SplitProgress(int splits) {
        this.splits = splits;
    }

    /** Takes in what a micro-batch has seen; the minimum over the splits, null while one of them has had no row. */
    synchronized Long advance(Map<Integer, Long> seen) {
        seen.forEach((split, time) -> {
            if (split == SplitTimes.ALL) {
                floor = Math.max(floor, time);
            } else {
                greatest.merge(split, time, Math::max);
            }
        });
        boolean started = greatest.size() >= splits;
        if (!started && floor == Long.MIN_VALUE) {
            return null;
        }
        long slowest = started ? greatest.values().stream().mapToLong(Long::longValue).min().orElse(floor) : floor;
        return Math.max(floor, slowest);
    }

    @Override
    public String toString() {
        return "splits=" + splits;
    }
}
