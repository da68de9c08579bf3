package sqlstream.watermark;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The inputs of one query that have event time, and how far they have come together.
 *
 * <p>Flink's rule, at every place where watermarks meet: the least of the inputs that are not idle; where all are idle,
 * the greatest of all.
 */
public final class QueryWatermark {
    private final List<SourceWatermark> inputs = new CopyOnWriteArrayList<>();

    void add(SourceWatermark input) {
        inputs.add(input);
    }

    /** As {@link #watermark}; null for none yet. */
    public Long reached() {
        long watermark = watermark();
        return watermark == Long.MIN_VALUE ? null : Long.valueOf(watermark);
    }

    /** The watermark in milliseconds since 1970 that all inputs have come to; Long.MIN_VALUE for none yet. */
    long watermark() {
        long slowest = Long.MAX_VALUE;
        long furthest = Long.MIN_VALUE;
        boolean idle = true;
        for (SourceWatermark input : inputs) {
            boolean quiet = input.advance();
            long reached = input.reached();
            furthest = Math.max(furthest, reached);
            if (!quiet) {
                idle = false;
                slowest = Math.min(slowest, reached);
            }
        }
        return idle ? furthest : slowest;
    }
}
