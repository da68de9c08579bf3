package sqlstream.capture;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.util.SerializableConfiguration;
import sqlstream.capture.CaptureLog.Segment;
import sqlstream.catalyst.StreamTable;

/**
 * The changes that the {@link Capture} of option {@code capture} has in its log, in their order: column {@code value}
 * has what Debezium says of each, {@code file} and {@code number} where it stands. Offsets are numbers of files.
 */
public final class CaptureSource implements TableProvider {
    private static final StructType COLUMNS = new StructType()
            .add("value", DataTypes.StringType)
            .add("file", DataTypes.StringType)
            .add("number", DataTypes.LongType);
    // Of one micro-batch.
    private static final long ROWS = 1_000_000;

    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return COLUMNS;
    }

    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
        return new StreamTable("capture", COLUMNS, Stream::new);
    }

    private static final class FileNumber extends Offset {
        private final long number;

        FileNumber(long number) {
            this.number = number;
        }

        @Override
        public String json() {
            return Long.toString(number);
        }
    }

    private static final class Stream implements MicroBatchStream, SupportsTriggerAvailableNow {
        private final Capture capture;
        private final String checkpoint;
        private final SerializableConfiguration hadoop;
        private Long end;

        Stream(CaseInsensitiveStringMap options, String checkpoint) {
            this.capture = Capture.of(options.get("capture"));
            this.checkpoint = checkpoint;
            this.hadoop = new SerializableConfiguration(capture.hadoop());
            capture.begin(checkpoint);
        }

        @Override
        public Offset initialOffset() {
            return new FileNumber(-1);
        }

        @Override
        public Offset deserializeOffset(String json) {
            return new FileNumber(Long.parseLong(json));
        }

        @Override
        public void prepareForTriggerAvailableNow() {
            end = capture.last();
        }

        @Override
        public Offset latestOffset() {
            throw new UnsupportedOperationException();
        }

        @Override
        public Offset latestOffset(Offset start, ReadLimit limit) {
            long last = capture.last();
            List<Segment> next = capture.behind(((FileNumber) start).number, end == null ? last : end, ROWS);
            return next.isEmpty()
                    ? start
                    : new FileNumber(next.get(next.size() - 1).number());
        }

        @Override
        public InputPartition[] planInputPartitions(Offset start, Offset end) {
            List<Segment> segments =
                    capture.behind(((FileNumber) start).number, ((FileNumber) end).number, Long.MAX_VALUE);
            List<Files> tasks = new ArrayList<>();
            for (Segment segment : segments) {
                // Changes have an order, the rows of a snapshot have none.
                if (tasks.isEmpty() || segment.snapshot()) {
                    tasks.add(new Files(new ArrayList<>(), hadoop));
                }
                tasks.get(tasks.size() - 1).names.add(segment.file());
            }
            return tasks.toArray(InputPartition[]::new);
        }

        @Override
        public PartitionReaderFactory createReaderFactory() {
            return partition -> new Lines((Files) partition);
        }

        @Override
        public void commit(Offset end) {
            capture.commit(checkpoint, ((FileNumber) end).number);
        }

        @Override
        public void stop() {
            capture.end(checkpoint);
        }

        @Override
        public String toString() {
            return "capture";
        }
    }

    private record Files(List<String> names, SerializableConfiguration hadoop) implements InputPartition {}

    private static final class Lines implements PartitionReader<InternalRow> {
        private final Files files;
        private int next;
        private BufferedReader lines;
        private UTF8String file;
        private long number;
        private String line;

        Lines(Files files) {
            this.files = files;
        }

        @Override
        public boolean next() throws IOException {
            while (lines == null || (line = lines.readLine()) == null) {
                close();
                if (next == files.names.size()) {
                    return false;
                }
                String name = files.names.get(next++);
                lines = CaptureLog.lines(files.hadoop.value(), name);
                lines.readLine();
                file = UTF8String.fromString(name.substring(name.lastIndexOf('/') + 1));
                number = 0;
            }
            number++;
            return true;
        }

        @Override
        public InternalRow get() {
            return new GenericInternalRow(new Object[] {UTF8String.fromString(line), file, number});
        }

        @Override
        public void close() throws IOException {
            if (lines != null) {
                lines.close();
                lines = null;
            }
        }
    }
}
