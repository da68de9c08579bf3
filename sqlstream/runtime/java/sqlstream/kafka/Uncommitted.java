package sqlstream.kafka;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * What queries in real time have written into a topic of the latest rows by key since their last offsets. They read the
 * same records again, maybe in another order, in which a row that was written never is: nothing would remove it.
 */
public final class Uncommitted {
    /** The header of each record: the id of the query that has written it, a space, the number of the micro-batch. */
    public static final String HEADER = "sqlstream.batch";

    // Milliseconds for an answer; without one for so long the broker is away.
    private static final long LOOK = 500;
    private static final long SILENCE = 60_000;

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final KafkaProducer<byte[], byte[]> producer;
    private final Map<String, ? extends Number> committed;

    private Uncommitted(
            KafkaConsumer<byte[], byte[]> consumer,
            KafkaProducer<byte[], byte[]> producer,
            Map<String, ? extends Number> committed) {
        this.consumer = consumer;
        this.producer = producer;
        this.committed = committed;
    }

    /**
     * Gives each key the value back that it had before.
     *
     * @param client the properties of Kafka's clients
     * @param since when the first of these records may have been written, in milliseconds since 1970
     * @param committed the ids of the queries, and the last micro-batch of each whose offsets are written down
     * @return how many keys there are
     */
    public static long takeBack(
            Map<String, String> client, String topic, long since, Map<String, ? extends Number> committed)
            throws ExecutionException, InterruptedException {
        Map<String, Object> reading = new HashMap<>(client);
        reading.putAll(Map.of(
                "enable.auto.commit", "false",
                "isolation.level", "read_committed",
                "allow.auto.create.topics", "false"));
        reading.remove("group.id");
        Map<String, Object> writing = new HashMap<>(client);
        writing.put("acks", "all");
        ByteArrayDeserializer decoder = new ByteArrayDeserializer();
        ByteArraySerializer encoder = new ByteArraySerializer();
        long count = 0;
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(reading, decoder, decoder);
                KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(writing, encoder, encoder)) {
            Uncommitted uncommitted = new Uncommitted(consumer, producer, committed);
            for (PartitionInfo each : partitions(consumer, topic)) {
                TopicPartition partition = new TopicPartition(topic, each.partition());
                OffsetAndTimestamp first =
                        consumer.offsetsForTimes(Map.of(partition, since)).get(partition);
                count += first == null ? 0 : uncommitted.takeBack(partition, first.offset());
            }
        }
        return count;
    }

    private static List<PartitionInfo> partitions(KafkaConsumer<?, ?> consumer, String topic) {
        try {
            List<PartitionInfo> found = consumer.partitionsFor(topic);
            return found == null ? List.of() : found;
        } catch (UnknownTopicOrPartitionException gone) {
            return List.of();
        }
    }

    private long takeBack(TopicPartition partition, long since) throws ExecutionException, InterruptedException {
        long end = consumer.endOffsets(List.of(partition)).get(partition);
        // The last such record of each key.
        Map<ByteBuffer, Long> written = new HashMap<>();
        read(partition, since, end, each -> {
            if (each.key() != null && isUncommitted(each)) {
                written.put(ByteBuffer.wrap(each.key()), each.offset());
            }
        });
        if (written.isEmpty()) {
            return 0;
        }
        Map<ByteBuffer, ConsumerRecord<byte[], byte[]>> before = new HashMap<>();
        read(partition, consumer.beginningOffsets(List.of(partition)).get(partition), end, each -> {
            if (each.key() != null && written.containsKey(ByteBuffer.wrap(each.key())) && !isUncommitted(each)) {
                before.put(ByteBuffer.wrap(each.key()), each);
            }
        });
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        written.forEach((key, last) -> {
            ConsumerRecord<byte[], byte[]> old = before.get(key);
            // Else somebody has written the key since.
            if (old == null || old.offset() < last) {
                byte[] value = old == null ? null : old.value();
                Iterable<Header> headers = old == null ? List.of() : old.headers();
                sent.add(producer.send(new ProducerRecord<>(
                        partition.topic(), partition.partition(), null, key.array(), value, headers)));
            }
        });
        producer.flush();
        for (Future<RecordMetadata> each : sent) {
            each.get();
        }
        return sent.size();
    }

    private void read(TopicPartition partition, long from, long end, Consumer<ConsumerRecord<byte[], byte[]>> heard) {
        consumer.assign(List.of(partition));
        consumer.seek(partition, from);
        long at = System.currentTimeMillis();
        long before = from;
        while (consumer.position(partition) < end) {
            consumer.poll(Duration.ofMillis(LOOK)).forEach(heard);
            long now = consumer.position(partition);
            if (now > before) {
                before = now;
                at = System.currentTimeMillis();
            } else if (System.currentTimeMillis() - at > SILENCE) {
                throw new TimeoutException("Kafka gives no records of partition " + partition);
            }
        }
    }

    /** Whether one of the queries has written it, in a micro-batch whose offsets are not written down. */
    private boolean isUncommitted(ConsumerRecord<byte[], byte[]> record) {
        Header header = record.headers().lastHeader(HEADER);
        if (header == null) {
            return false;
        }
        String[] writer = new String(header.value(), StandardCharsets.UTF_8).split(" ", 2);
        Number last = committed.get(writer[0]);
        return last != null && writer.length == 2 && Long.parseLong(writer[1]) > last.longValue();
    }
}
