package sqlstream.realtime;

import java.io.Serializable;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;

/** A stream of a source in real-time mode: whether it is in it, and its readers of one micro-batch after the other. */
public final class RealTime {
    /** Who is told several times a second how far a reader is. */
    @FunctionalInterface
    public interface Progress extends Serializable {
        void at(PartitionOffset offset);
    }

    // What runs between two micro-batches takes seconds at first. So the first ones are short, while rows are slow
    // anyway:
    // each at most as long as those before it together.
    private static final long FIRST_MS = 5_000;

    private final Pause pause;
    private boolean on;
    private long began;

    /** @param pause the URI of the file of a {@link Pause}; null for a stream that is never in real time */
    public RealTime(String pause) {
        this.pause = new Pause(pause);
    }

    /** It is from now on. */
    public void begin() {
        on = true;
    }

    public boolean isOn() {
        return on;
    }

    /** {@code readers} of the next micro-batch: in real time they end it sooner than its time at first. */
    public PartitionReaderFactory next(PartitionReaderFactory readers, Progress progress) {
        if (!on) {
            return readers;
        }
        long now = System.currentTimeMillis();
        began = began == 0 ? now : began;
        return new PausableReaders(readers, pause, progress, Math.max(FIRST_MS, now - began));
    }
}
