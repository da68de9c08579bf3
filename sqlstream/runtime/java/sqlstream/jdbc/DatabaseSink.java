package sqlstream.jdbc;

import java.io.Serializable;
import java.sql.SQLException;
import java.util.List;
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

/** A table of a database as a sink of Spark's, which gets each row as it comes: see {@link DatabaseStream}. */
public final class DatabaseSink implements TableProvider {
    private static final Map<String, Sink> BY_ID = new ConcurrentHashMap<>();

    private record Sink(TableRows table, Database database) implements Serializable {}

    /**
     * Parameters as of {@link DatabaseWriter#write}; the option {@code id} by which the next query writes so.
     *
     * @param type that of the query's rows
     */
    public static String begin(
            StructType type,
            Map<String, String> options,
            String add,
            String remove,
            List<String> keys,
            int together,
            int retries) {
        String id = UUID.randomUUID().toString();
        BY_ID.put(
                id,
                new Sink(new TableRows(type, add, remove, keys, together), Database.of(Map.copyOf(options), retries)));
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
        return new Target(schema, BY_ID.remove(properties.get("id")));
    }

    private record Target(StructType schema, Sink sink) implements SupportsWrite {
        @Override
        public String name() {
            return "DatabaseSink";
        }

        @Override
        public Set<TableCapability> capabilities() {
            return Set.of(TableCapability.STREAMING_WRITE);
        }

        @Override
        public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
            return new Builder(sink);
        }
    }

    private record Builder(Sink sink) implements SupportsStreamingUpdateAsAppend {
        @Override
        public Write build() {
            return new Write() {
                @Override
                public StreamingWrite toStreaming() {
                    return new Stream(sink);
                }
            };
        }
    }

    private record Stream(Sink sink) implements StreamingWrite {
        @Override
        public StreamingDataWriterFactory createStreamingWriterFactory(PhysicalWriteInfo info) {
            return new Factory(sink);
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

    private record Factory(Sink sink) implements StreamingDataWriterFactory {
        @Override
        public DataWriter<InternalRow> createWriter(int partition, long task, long epoch) {
            try {
                return new DatabaseStream(sink.table, sink.database);
            } catch (SQLException e) {
                throw new IllegalStateException(e.getMessage(), e);
            }
        }
    }
}
