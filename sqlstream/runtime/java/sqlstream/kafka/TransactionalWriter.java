package sqlstream.kafka;

import java.io.IOException;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** Writes the rows of a task and micro-batch in one transaction, or passes over them where it has committed. */
final class TransactionalWriter implements DataWriter<InternalRow> {
    private final String topic;
    private final Columns columns;
    private final long batch;
    private final int tasks;
    private final TransactionalProducer producer;
    private final boolean landed;
    private long rows;
    private boolean over;

    TransactionalWriter(String topic, String id, Map<String, String> client, Columns columns, long batch, int tasks) {
        this.topic = topic;
        this.columns = columns;
        this.batch = batch;
        this.tasks = tasks;
        producer = TransactionalProducer.take(id, topic, client, batch);
        landed = producer.last().batch() == batch;
        try {
            begin();
        } catch (RuntimeException error) {
            producer.abort();
            throw error;
        }
    }

    private void begin() {
        if (producer.last().batch() > batch) {
            throw new IllegalStateException(
                    "Kafka topic '%s' has the task's micro-batch %d already, and number %d is to be written"
                            .formatted(topic, producer.last().batch(), batch));
        }
        if (!landed) {
            producer.begin();
        }
    }

    @Override
    public void write(InternalRow row) throws IOException {
        rows++;
        if (!landed) {
            producer.send(columns.record(topic, row));
        }
    }

    @Override
    public WriterCommitMessage commit() throws IOException {
        if (!landed) {
            producer.prepare(new Landed.Mark(batch, tasks, rows));
        } else if (producer.last().rows() == rows) {
            producer.putBack();
        } else {
            throw new IllegalStateException(
                    "Kafka topic '%s' has %d rows of a task of micro-batch %d, which has %d rows now"
                            .formatted(topic, producer.last().rows(), batch, rows));
        }
        over = true;
        return new Prepared(producer.id());
    }

    @Override
    public void abort() {
        // That is part of closing.
    }

    @Override
    public void close() {
        if (!over) {
            producer.abort();
        }
    }

    /** What the driver hears of a task: its transaction, with this id, has all of its records. */
    record Prepared(String id) implements WriterCommitMessage {}
}
