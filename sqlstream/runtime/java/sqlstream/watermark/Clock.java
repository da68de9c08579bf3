package sqlstream.watermark;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongUnaryOperator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeMode;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import sqlstream.catalyst.StreamTable;
import sqlstream.realtime.RealTime;

/**
 * A streaming source of moments: one row (value BIGINT, milliseconds since 1970) whenever a new one has come, so that a
 * query continues where no record arrives. With options {@code every}, {@code offset} (milliseconds) and {@code zone}
 * the moments are the starts of windows of that length. With {@code times} they are those at which a split of
 * {@link SourceWatermark} of that id becomes idle, and its rows are NULL: they say nothing about time. In real-time
 * mode it has a row as a micro-batch begins; {@code pause} is the file of {@link Pause}.
 */
public final class Clock implements TableProvider {
    private static final StructType SCHEMA = new StructType().add("value", DataTypes.LongType, true);
    private static final Map<String, SourceWatermark> TIMES = new ConcurrentHashMap<>();

    /** Makes {@code times} known by their id until the source that asks for them stops. */
    static void watch(SourceWatermark times, String id) {
        TIMES.put(id, times);
    }

    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return SCHEMA;
    }

    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
        return new StreamTable("clock", SCHEMA, (options, checkpoint) -> stream(options));
    }

    private static MicroBatchStream stream(CaseInsensitiveStringMap options) {
        String id = options.get("times");
        if (id != null) {
            return new Stream(
                    last -> TIMES.get(id).ask(System.currentTimeMillis()), () -> TIMES.remove(id), false, null);
        }
        long every = options.getLong("every", 1000);
        long offset = options.getLong("offset", 0);
        ZoneId zone = ZoneId.of(options.getOrDefault("zone", "UTC"));
        return new Stream(
                last -> {
                    long now = System.currentTimeMillis();
                    long local = now
                            + zone.getRules()
                                            .getOffset(Instant.ofEpochMilli(now))
                                            .getTotalSeconds()
                                    * 1000L;
                    return now - Math.floorMod(local - offset, every);
                },
                () -> {},
                true,
                options.get("pause"));
    }

    /** The moments that {@code next} gives; it is asked on the driver before each micro-batch. */
    public static final class Stream implements MicroBatchStream, SupportsRealTimeMode {
        private final LongUnaryOperator next;
        private final Runnable stopped;
        private final boolean shown;
        private final RealTime realTime;
        private long last;

        Stream(LongUnaryOperator next, Runnable stopped, boolean shown, String pause) {
            this.next = next;
            this.stopped = stopped;
            this.shown = shown;
            this.realTime = new RealTime(pause);
        }

        @Override
        public void prepareForRealTimeMode() {
            realTime.begin();
        }

        @Override
        public Offset initialOffset() {
            return new Moment(0);
        }

        @Override
        public Offset deserializeOffset(String json) {
            last = Math.max(last, Long.parseLong(json));
            return new Moment(Long.parseLong(json));
        }

        @Override
        public Offset latestOffset() {
            // Clocks may be set back.
            last = Math.max(last, next.applyAsLong(last));
            return new Moment(last);
        }

        @Override
        public InputPartition[] planInputPartitions(Offset start, Offset end) {
            long millis = ((Moment) end).millis;
            return ((Moment) start).millis == millis
                    ? new InputPartition[0]
                    : new InputPartition[] {new Piece(shown ? millis : null)};
        }

        @Override
        public InputPartition[] planInputPartitions(Offset start) {
            return new InputPartition[] {new Piece(((Moment) latestOffset()).millis)};
        }

        @Override
        public Offset mergeOffsets(PartitionOffset[] offsets) {
            return new Moment(((At) offsets[0]).millis);
        }

        @Override
        public PartitionReaderFactory createReaderFactory() {
            return realTime.next(piece -> new Reader(((Piece) piece).millis()), offset -> {});
        }

        @Override
        public void commit(Offset end) {
            // Nothing is kept.
        }

        @Override
        public void stop() {
            stopped.run();
        }

        /** How progress calls it: its rows are none that the query reads. */
        @Override
        public String toString() {
            return "Clock[]";
        }
    }

    private static final class Moment extends Offset {
        private final long millis;

        Moment(long millis) {
            this.millis = millis;
        }

        @Override
        public String json() {
            return Long.toString(millis);
        }
    }

    private record Piece(Long millis) implements InputPartition {}

    private record At(long millis) implements PartitionOffset {}

    /** Has one row; in real-time mode it waits for the end of the micro-batch afterwards. */
    private static final class Reader implements SupportsRealTimeRead<InternalRow> {
        private final Long millis;
        private boolean read;

        Reader(Long millis) {
            this.millis = millis;
        }

        @Override
        public RecordStatus nextWithTimeout(Long start, Long timeout) throws IOException {
            if (read) {
                try {
                    Thread.sleep(timeout);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new InterruptedIOException("The task was ended.");
                }
            }
            return RecordStatus.newStatusWithoutArrivalTime(next());
        }

        @Override
        public PartitionOffset getOffset() {
            return new At(millis);
        }

        @Override
        public boolean next() {
            boolean more = !read;
            read = true;
            return more;
        }

        @Override
        public InternalRow get() {
            return new GenericInternalRow(new Object[] {millis});
        }

        @Override
        public void close() {
            // Nothing is open.
        }
    }
}
