package sqlstream.realtime;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;
import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A sink of Spark's that gives a {@link RowTarget} each row as it comes. Its option {@code pause} is the URI of a
 * {@link Pause}'s file. A row that can't be written begins the pause: its task hears of that with the next row, or at
 * the end of the micro-batch.
 */
public final class RowSink implements TableProvider {
    private static final Map<String, RowTarget.Opener> BY_ID = new ConcurrentHashMap<>();

    /** The option {@code id} by which the next query writes to such targets. */
    public static String begin(RowTarget.Opener targets) {
        String id = UUID.randomUUID().toString();
        BY_ID.put(id, targets);
        return id;
    }

    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        throw new UnsupportedOperationException("It is written.");
    }

    @Override
    public boolean supportsExternalMetadata() {
        return true;
    }

    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
        // Nobody asks for it again.
        RowTarget.Opener targets = BY_ID.remove(properties.get("id"));
        return new Target(schema, new Factory(targets, new Pause(properties.get("pause"))));
    }

    private record Target(StructType schema, Factory writers) implements SupportsWrite {
        @Override
        public String name() {
            return "RowSink";
        }

        @Override
        public Set<TableCapability> capabilities() {
            return Set.of(TableCapability.STREAMING_WRITE);
        }

        @Override
        public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
            return new Builder(writers);
        }
    }

    private record Builder(Factory writers) implements SupportsStreamingUpdateAsAppend {
        @Override
        public Write build() {
            return new Write() {
                @Override
                public StreamingWrite toStreaming() {
                    return new Stream(writers);
                }
            };
        }
    }

    private record Stream(Factory writers) implements StreamingWrite {
        @Override
        public StreamingDataWriterFactory createStreamingWriterFactory(PhysicalWriteInfo info) {
            return writers;
        }

        @Override
        public void commit(long epoch, WriterCommitMessage[] messages) {
            // Each task has committed its own.
        }

        @Override
        public void abort(long epoch, WriterCommitMessage[] messages) {
            // What was written stands: it is read again.
        }
    }

    private record Factory(RowTarget.Opener targets, Pause pause) implements StreamingDataWriterFactory {
        @Override
        public DataWriter<InternalRow> createWriter(int partition, long task, long epoch) {
            try {
                return new EachRow(targets.open(), pause);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
