package sqlstream.kafka;

import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A sink of Spark's that writes records into a topic exactly once: those of a task and micro-batch in one transaction,
 * which says so itself ({@link Landed}). All of a micro-batch commit when its last task has ended. One that runs again
 * because it was killed just then passes over the tasks that had committed, each of which has the same rows again.
 *
 * <p>Rows have the columns {@code value}, {@code key}, {@code headers}, {@code timestamp}, all but the first where they
 * are needed. Options: {@code topic}, {@code prefix} of the transactional ids, {@code kafka.*} for the clients, and of
 * a batch {@code writer} and {@code batch}, which a stream has of its own: the query's id and the micro-batch's number.
 */
public final class TransactionalSink implements TableProvider {
    // The run of a query of which the first micro-batch was checked, by the query's id.
    private static final Map<String, String> CHECKED = new ConcurrentHashMap<>();

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
        return new Topic(schema);
    }

    private record Topic(StructType schema) implements SupportsWrite {
        @Override
        public String name() {
            return "TransactionalSink";
        }

        @Override
        public Set<TableCapability> capabilities() {
            return Set.of(
                    TableCapability.STREAMING_WRITE, TableCapability.BATCH_WRITE, TableCapability.ACCEPT_ANY_SCHEMA);
        }

        @Override
        public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
            return new Builder(info);
        }
    }

    private record Builder(LogicalWriteInfo info) implements SupportsStreamingUpdateAsAppend {
        @Override
        public Write build() {
            Map<String, String> options = info.options().asCaseSensitiveMap();
            Writers writers = new Writers(
                    options.get("topic"),
                    options.get("prefix"),
                    options.getOrDefault("writer", info.queryId()),
                    client(options),
                    Columns.of(info.schema()));
            return new Write() {
                @Override
                public BatchWrite toBatch() {
                    return new Batch(writers, Long.parseLong(options.get("batch")));
                }

                @Override
                public StreamingWrite toStreaming() {
                    return new Stream(writers);
                }
            };
        }

        private static Map<String, String> client(Map<String, String> options) {
            Map<String, String> client = new HashMap<>();
            options.forEach((key, value) -> {
                if (key.startsWith("kafka.")) {
                    client.put(key.substring("kafka.".length()), value);
                }
            });
            return client;
        }
    }

    /** What the writers of all micro-batches have the same. */
    private record Writers(String topic, String prefix, String writer, Map<String, String> client, Columns columns)
            implements Serializable {
        DataWriter<InternalRow> open(int task, long batch, int tasks) {
            String id = Landed.id(prefix, writer, task);
            return new TransactionalWriter(topic, id, client, columns, batch, tasks);
        }

        /** What is there already of the first micro-batch of a run can be of other tasks. */
        void check(long batch, int tasks) {
            String run = SparkContext.getOrCreate().getLocalProperty("spark.jobGroup.id");
            if (run == null || !run.equals(CHECKED.put(writer, run))) {
                Landed.of(client, topic, writer).check(prefix, batch, tasks);
            }
        }
    }

    /** What is committed when one can't be is passed over when the micro-batch runs again. */
    private static void commitAll(WriterCommitMessage[] messages) {
        for (WriterCommitMessage each : messages) {
            TransactionalProducer.commit(((TransactionalWriter.Prepared) each).id());
        }
    }

    /** Of tasks that have not ended there is no message. */
    private static void abortAll(WriterCommitMessage[] messages) {
        for (WriterCommitMessage each : messages) {
            if (each instanceof TransactionalWriter.Prepared prepared) {
                TransactionalProducer.abort(prepared.id());
            }
        }
    }

    private record Batch(Writers writers, long number) implements BatchWrite {
        @Override
        public DataWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
            writers.check(number, info.numPartitions());
            return new BatchFactory(writers, number, info.numPartitions());
        }

        @Override
        public void commit(WriterCommitMessage[] messages) {
            commitAll(messages);
        }

        @Override
        public void abort(WriterCommitMessage[] messages) {
            abortAll(messages);
        }
    }

    private record BatchFactory(Writers writers, long number, int tasks) implements DataWriterFactory {
        @Override
        public DataWriter<InternalRow> createWriter(int partition, long task) {
            return writers.open(partition, number, tasks);
        }
    }

    private record Stream(Writers writers) implements StreamingWrite {
        @Override
        public StreamingDataWriterFactory createStreamingWriterFactory(PhysicalWriteInfo info) {
            String batch = SparkContext.getOrCreate().getLocalProperty(MicroBatchExecution.BATCH_ID_KEY());
            writers.check(Long.parseLong(batch), info.numPartitions());
            return new StreamFactory(writers, info.numPartitions());
        }

        @Override
        public void commit(long epoch, WriterCommitMessage[] messages) {
            commitAll(messages);
        }

        @Override
        public void abort(long epoch, WriterCommitMessage[] messages) {
            abortAll(messages);
        }
    }

    private record StreamFactory(Writers writers, int tasks) implements StreamingDataWriterFactory {
        @Override
        public DataWriter<InternalRow> createWriter(int partition, long task, long epoch) {
            return writers.open(partition, epoch, tasks);
        }
    }
}
