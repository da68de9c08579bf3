package sqlstream.kafka;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap;
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap$;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.kafka010.AssignStrategy;
import org.apache.spark.sql.kafka010.KafkaBatchInputPartition;
import org.apache.spark.sql.kafka010.KafkaMicroBatchStream;
import org.apache.spark.sql.kafka010.KafkaOffsetRange;
import org.apache.spark.sql.kafka010.KafkaOffsetRangeLimit;
import org.apache.spark.sql.kafka010.KafkaOffsetReader;
import org.apache.spark.sql.kafka010.KafkaOffsetReaderAdmin;
import org.apache.spark.sql.kafka010.KafkaRecordToRowConverter;
import org.apache.spark.sql.kafka010.KafkaSourceOffset;
import org.apache.spark.sql.kafka010.KafkaSourceProvider;
import org.apache.spark.sql.kafka010.KafkaSourceProvider$;
import org.apache.spark.sql.kafka010.LatestOffsetRangeLimit$;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.jdk.javaapi.CollectionConverters;
import sqlstream.catalyst.Scala;
import sqlstream.catalyst.StreamTable;
import sqlstream.realtime.RealTime;

/**
 * Spark's streaming source of Kafka, with its options, over the partitions that {@link KafkaTopics} know, whose id
 * option {@code topics} is. One that was not there when the query began is read from its beginning. Offsets in a
 * checkpoint are Spark's own. Option {@code most}: the most records that a micro-batch reads.
 */
public final class KafkaSource implements TableProvider {
    private static final KafkaSourceProvider$ SPARKS = KafkaSourceProvider$.MODULE$;
    private static final Comparator<InputPartition> ORDER = Comparator.comparing(
            partition -> ((KafkaBatchInputPartition) partition).offsetRange(),
            Comparator.comparing(KafkaOffsetRange::topic)
                    .thenComparing(KafkaOffsetRange::partition)
                    .thenComparing(KafkaOffsetRange::fromOffset));

    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return KafkaRecordToRowConverter.kafkaSchema(options.getBoolean(SPARKS.INCLUDE_HEADERS(), false));
    }

    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
        return new StreamTable("kafka", schema, KafkaSource::stream);
    }

    private static MicroBatchStream stream(CaseInsensitiveStringMap options, String checkpoint) {
        KafkaTopics topics = KafkaTopics.of(options.get("topics"));
        CaseInsensitiveMap<String> sparks = CaseInsensitiveMap$.MODULE$.apply(Scala.map(options));
        new KafkaSourceProvider().org$apache$spark$sql$kafka010$KafkaSourceProvider$$validateStreamOptions(sparks);
        scala.collection.immutable.Map<String, String> clients =
                SPARKS.org$apache$spark$sql$kafka010$KafkaSourceProvider$$convertToSpecifiedParams(sparks);
        String group =
                SPARKS.org$apache$spark$sql$kafka010$KafkaSourceProvider$$streamingUniqueGroupId(sparks, checkpoint);
        KafkaOffsetRangeLimit start = KafkaSourceProvider.getKafkaOffsetRangeLimit(
                sparks,
                SPARKS.STARTING_TIMESTAMP_OPTION_KEY(),
                SPARKS.STARTING_OFFSETS_BY_TIMESTAMP_OPTION_KEY(),
                SPARKS.STARTING_OFFSETS_OPTION_KEY(),
                LatestOffsetRangeLimit$.MODULE$);
        KafkaOffsetReader reader = new KafkaOffsetReaderAdmin(
                new Assigned(topics), KafkaSourceProvider.kafkaParamsForDriver(clients), sparks, group + "-driver");
        return new Stream(
                topics,
                reader,
                KafkaSourceProvider.kafkaParamsForExecutors(clients, group),
                options,
                checkpoint,
                start);
    }

    /** The partitions whose offsets Spark asks for. */
    private static final class Assigned extends AssignStrategy {
        private static final long serialVersionUID = 1;

        private final transient KafkaTopics topics;

        Assigned(KafkaTopics topics) {
            super(topics.start());
            this.topics = topics;
        }

        @Override
        public Admin createAdmin(Map<String, Object> properties) {
            Admin admin = super.createAdmin(properties);
            topics.asks(admin);
            return closesAtOnce(admin);
        }

        /**
         * {@code admin}, which gives up its requests when it is closed: Spark closes it without a limit after one that
         * has failed, and its wait for brokers that are away would go on after they are back.
         */
        private static Admin closesAtOnce(Admin admin) {
            return (Admin) Proxy.newProxyInstance(
                    Admin.class.getClassLoader(), new Class<?>[] {Admin.class}, (self, method, arguments) -> {
                        if (method.getName().equals("close")) {
                            admin.close(Duration.ZERO);
                            return null;
                        }
                        try {
                            return method.invoke(admin, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }

        @Override
        public scala.collection.immutable.Set<TopicPartition> assignedTopicPartitions(Admin admin) {
            try {
                return scala.collection.immutable.Set$.MODULE$.from(
                        CollectionConverters.asScala(topics.partitions(admin)));
            } catch (ExecutionException | InterruptedException e) {
                throw Scala.unchecked(e);
            }
        }

        @Override
        public String toString() {
            return topics.toString();
        }
    }

    private static final class Stream extends KafkaMicroBatchStream {
        private final KafkaTopics topics;
        private final RealTime realTime;
        private final long most;
        private boolean once;
        private Offset latest;

        Stream(
                KafkaTopics topics,
                KafkaOffsetReader reader,
                Map<String, Object> consumers,
                CaseInsensitiveStringMap options,
                String checkpoint,
                KafkaOffsetRangeLimit start) {
            super(reader, consumers, options, checkpoint, start, true);
            this.topics = topics;
            this.realTime = new RealTime(options.get("pause"));
            this.most = options.getLong("most", Long.MAX_VALUE);
        }

        @Override
        public void prepareForRealTimeMode() {
            realTime.begin();
            super.prepareForRealTimeMode();
        }

        @Override
        public PartitionReaderFactory createReaderFactory() {
            String id = topics.id();
            return realTime.next(super.createReaderFactory(), offset -> KafkaTopics.read(id, offset));
        }

        /**
         * Spark's own option is refused in real-time mode, where a micro-batch is over when its time is. What runs once
         * is one micro-batch: the input may end with it.
         */
        @Override
        public ReadLimit getDefaultReadLimit() {
            return realTime.isOn() || once ? super.getDefaultReadLimit() : ReadLimit.maxRows(most);
        }

        @Override
        public void prepareForTriggerAvailableNow() {
            once = true;
            super.prepareForTriggerAvailableNow();
        }

        @Override
        public Offset latestOffset(Offset start, ReadLimit limit) {
            topics.begin();
            while (true) {
                topics.ask();
                try {
                    latest = super.latestOffset(start, limit);
                    if (!latest.equals(start)) {
                        topics.unchanged();
                    }
                    topics.answered();
                    if (realTime.isOn()) {
                        topics.end(offsets(latest));
                    }
                    return latest;
                } catch (Exception e) {
                    // As Flink's source, it waits for brokers for as long as they are away.
                    if (!topics.unanswered(e)) {
                        throw Scala.unchecked(e);
                    }
                }
            }
        }

        @Override
        public InputPartition[] planInputPartitions(Offset start, Offset end) {
            // After a restart the partitions are those of the micro-batch that had begun.
            InputPartition[] planned = super.planInputPartitions(withFresh(start, end), end);
            // Spark's order is that of a set, another one in each process: a task that has committed would not be the
            // same again.
            Arrays.sort(planned, ORDER);
            return planned;
        }

        /** Of a micro-batch in real-time mode, whose end nobody knows yet. */
        @Override
        public InputPartition[] planInputPartitions(Offset start) {
            return super.planInputPartitions(withFresh(start, latest));
        }

        private Offset withFresh(Offset start, Offset end) {
            Map<TopicPartition, Object> until = offsets(end);
            topics.found(until.keySet());
            Map<TopicPartition, Object> from = new HashMap<>(offsets(start));
            List<TopicPartition> fresh = until.keySet().stream()
                    .filter(each -> !from.containsKey(each))
                    .toList();
            // Spark would take it for a loss of data if the topic's retention has removed the first records, which
            // Flink doesn't.
            from.putAll(CollectionConverters.asJava(kafkaOffsetReader().fetchEarliestOffsets(Scala.seq(fresh))));
            return new KafkaSourceOffset(Scala.map(from));
        }

        @Override
        public void stop() {
            topics.close();
            super.stop();
        }

        @Override
        public String toString() {
            return topics.toString();
        }
    }

    private static Map<TopicPartition, Object> offsets(Offset offset) {
        return CollectionConverters.asJava(((KafkaSourceOffset) offset).partitionToOffsets());
    }
}
