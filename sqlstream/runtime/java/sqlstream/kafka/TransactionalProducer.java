package sqlstream.kafka;

import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.spark.SparkEnv;

/**
 * A producer of Kafka's with a transactional id, which one task has at a time. Where tasks run in the driver's process,
 * a transaction that is prepared waits here until all are, and the driver commits it: of a micro-batch that fails
 * nothing is there. Elsewhere each task commits its own. Between micro-batches producers stay, for a new one would ask
 * the broker to end the transactions of all before it.
 */
final class TransactionalProducer {
    private static final Map<String, TransactionalProducer> PREPARED = new ConcurrentHashMap<>();
    private static final Map<String, TransactionalProducer> IDLE = new ConcurrentHashMap<>();
    private static final long IDLE_MS = 300_000;
    private static final long ABORT_MS = 5_000;
    private static final ScheduledExecutorService CLOSING = Executors.newScheduledThreadPool(2, work -> {
        Thread thread = new Thread(work, "sqlstream-closing-producers");
        thread.setDaemon(true);
        return thread;
    });

    static {
        CLOSING.scheduleWithFixedDelay(TransactionalProducer::closeIdle, IDLE_MS, IDLE_MS, TimeUnit.MILLISECONDS);
    }

    private final String id;
    private final String topic;
    private final String longest;
    private final KafkaProducer<byte[], byte[]> producer;
    private Landed.Mark last;
    private Landed.Mark prepared;
    private long idleSince;
    private volatile Exception failure;

    private TransactionalProducer(String id, String topic, Map<String, String> client) {
        this.id = id;
        this.topic = topic;
        longest = client.get("transaction.timeout.ms");
        Map<String, Object> properties = new HashMap<>(client);
        properties.put("transactional.id", id);
        ByteArraySerializer encoder = new ByteArraySerializer();
        producer = new KafkaProducer<>(properties, encoder, encoder);
        try (Admin admin = Admin.create(new HashMap<>(client))) {
            // From here on no other with this id commits anything.
            producer.initTransactions();
            last = Landed.of(admin, topic, id);
        } catch (RuntimeException error) {
            producer.close(Duration.ZERO);
            throw error;
        }
    }

    /** The producer of a task that writes micro-batch {@code batch}. */
    static TransactionalProducer take(String id, String topic, Map<String, String> client, long batch) {
        abort(id);
        TransactionalProducer idle = IDLE.remove(id);
        if (idle != null) {
            // Of several executors another can have had the id since.
            if (isDriver() || idle.last.batch() == batch - 1) {
                return idle;
            }
            idle.producer.close(Duration.ZERO);
        }
        return new TransactionalProducer(id, topic, client);
    }

    private static boolean isDriver() {
        return SparkEnv.get().executorId().equals("driver");
    }

    /** Commit what a task of this process has prepared. */
    static void commit(String id) {
        TransactionalProducer producer = PREPARED.remove(id);
        if (producer != null) {
            producer.commit();
        }
    }

    /** Abort what a task of this process has prepared. */
    static void abort(String id) {
        TransactionalProducer producer = PREPARED.remove(id);
        if (producer != null) {
            producer.abort();
        }
    }

    /** No task of this process has the id from now on. */
    static void leave(String id) {
        abort(id);
        TransactionalProducer idle = IDLE.remove(id);
        if (idle != null) {
            idle.producer.close(Duration.ZERO);
        }
    }

    String id() {
        return id;
    }

    /** What the task has committed. */
    Landed.Mark last() {
        return last;
    }

    void begin() {
        producer.beginTransaction();
    }

    void send(ProducerRecord<byte[], byte[]> record) throws IOException {
        check();
        producer.send(record, (metadata, error) -> {
            if (error != null && failure == null) {
                failure = error;
            }
        });
    }

    private void check() throws IOException {
        if (failure != null) {
            throw new IOException(failure);
        }
    }

    /** All records are sent: with {@code mark}, the transaction is complete. */
    void prepare(Landed.Mark mark) throws IOException {
        producer.flush();
        check();
        producer.sendOffsetsToTransaction(mark.offsets(topic), new ConsumerGroupMetadata(id));
        prepared = mark;
        if (isDriver()) {
            PREPARED.put(id, this);
        } else {
            commit();
        }
    }

    private void commit() {
        try {
            producer.commitTransaction();
        } catch (ProducerFencedException | InvalidProducerEpochException | InvalidTxnStateException error) {
            producer.close(Duration.ZERO);
            throw new KafkaException(
                    "The transaction was ended by the broker, as it does after the " + longest
                            + " ms of transaction.timeout.ms, or when another process writes for the same query",
                    error);
        } catch (RuntimeException error) {
            // Whether it has committed is known to the next one with this id.
            producer.close(Duration.ZERO);
            throw error;
        }
        last = prepared;
        putBack();
    }

    /** It waits for the next micro-batch. */
    void putBack() {
        idleSince = System.currentTimeMillis();
        TransactionalProducer other = IDLE.put(id, this);
        if (other != null) {
            other.producer.close(Duration.ZERO);
        }
    }

    /** What it has sent since its last commit is never seen. A task's own thread, often interrupted, does not do it. */
    void abort() {
        Future<?> closed = CLOSING.submit(() -> {
            try {
                producer.abortTransaction();
            } finally {
                producer.close(Duration.ZERO);
            }
        });
        boolean interrupted = Thread.interrupted();
        try {
            closed.get(ABORT_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException error) {
            interrupted = true;
        } catch (ExecutionException | TimeoutException error) {
            // Then the broker ends it when its time is over, or with the next one that has this id.
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void closeIdle() {
        long now = System.currentTimeMillis();
        IDLE.forEach((id, each) -> {
            if (now - each.idleSince > IDLE_MS && IDLE.remove(id, each)) {
                each.producer.close(Duration.ZERO);
            }
        });
    }
}
