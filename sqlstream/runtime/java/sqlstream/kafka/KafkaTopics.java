package sqlstream.kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsResult;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.DisconnectException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.kafka010.JsonUtils;
import org.apache.spark.sql.kafka010.KafkaSourcePartitionOffset;
import sqlstream.watermark.SourceSplits;

/**
 * The partitions that a source of a query reads, on the driver: those of its start, and those that are found later,
 * every so often. All that there are of a topic are its splits.
 */
public final class KafkaTopics {
    private static final Map<String, KafkaTopics> BY_ID = new ConcurrentHashMap<>();
    private static final Comparator<TopicPartition> ORDER =
            Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition);

    // Milliseconds: after which a missing answer is reported, after which brokers that nothing has asked are asked, and
    // for an answer to a person.
    private static final long SILENCE = 5_000;
    private static final long ASK_AFTER = 3_000;
    // The same where rows are read in real time: between two micro-batches nobody else asks for the ends.
    private static final long ASK_SOON = 1_000;
    private static final int SOON = 3_000;

    private final String id = UUID.randomUUID().toString();
    private final List<String> topics;
    private final Pattern pattern;
    private final long every;
    private final String servers;
    private final Map<String, String> ids;
    private final SourceSplits splits;
    private final Set<TopicPartition> partitions = new TreeSet<>(ORDER);
    private long looked;
    private volatile Admin admin;
    // When the first request was sent that has no answer yet, the last answer came, and the last silence began and
    // ended: 0 for never.
    private long asked;
    private long heard;
    private long silent;
    private long back;
    private KafkaFuture<?> probe;
    // Of readers in real time, which are in this JVM: how far they are, and the ends of their partitions.
    private final Map<TopicPartition, Long> read = new ConcurrentHashMap<>();
    private final Map<TopicPartition, Long> ends = new ConcurrentHashMap<>();

    /**
     * @param topics those that are read
     * @param pattern all topics whose names it matches are read; null where {@code topics} says it
     * @param start the partitions that are read from the start, as Spark's option {@code assign} takes them
     * @param every milliseconds between two looks for others; 0 for never
     * @param servers the brokers, for people
     * @param ids those of topics by their names, as they were when the job began
     */
    public KafkaTopics(
            List<String> topics, String pattern, String start, long every, String servers, Map<String, String> ids) {
        this.ids = Map.copyOf(ids);
        this.servers = servers;
        this.topics = List.copyOf(topics);
        this.pattern = pattern == null ? null : Pattern.compile(pattern);
        this.every = every;
        this.partitions.addAll(List.of(JsonUtils.partitions(start)));
        this.splits = new SourceSplits(
                partitions.stream().map(TopicPartition::toString).toList());
        BY_ID.put(id, this);
    }

    /** A name by which {@link KafkaSource} finds this, until it stops. */
    public String id() {
        return id;
    }

    public SourceSplits splits() {
        return splits;
    }

    /** How many partitions are read. */
    public synchronized int size() {
        return partitions.size();
    }

    static KafkaTopics of(String id) {
        return BY_ID.get(id);
    }

    /** Notes how far a reader in real time is, where it is in the JVM of the driver. */
    static void read(String id, PartitionOffset offset) {
        KafkaTopics topics = BY_ID.get(id);
        if (topics != null && offset instanceof KafkaSourcePartitionOffset at) {
            topics.read.put(at.topicPartition(), at.partitionOffset());
        }
    }

    TopicPartition[] start() {
        return partitions.toArray(TopicPartition[]::new);
    }

    /** From now on others can be found: where reading starts has been settled. */
    synchronized void begin() {
        looked = looked == 0 ? System.currentTimeMillis() : looked;
    }

    /** The partitions to read: with those that are new, when it is time to look for some. */
    Set<TopicPartition> partitions(Admin admin) throws ExecutionException, InterruptedException {
        long now = System.currentTimeMillis();
        if (due(now)) {
            // Without the lock: the client's thread may wait for it, in an answer that comes before this one.
            found(existing(admin, null));
        }
        synchronized (this) {
            looked = due(now) ? now : looked;
            return Set.copyOf(partitions);
        }
    }

    private synchronized boolean due(long now) {
        return looked > 0 && every > 0 && now - looked >= every;
    }

    /** Notes that these partitions are read. */
    synchronized void found(Collection<TopicPartition> some) {
        Set<TopicPartition> sorted = new TreeSet<>(ORDER);
        sorted.addAll(some);
        partitions.addAll(sorted);
        sorted.forEach(each -> splits.add(each.toString()));
    }

    /** All partitions that the topics have now. */
    private List<TopicPartition> existing(Admin admin, Integer timeout)
            throws ExecutionException, InterruptedException {
        Collection<String> named = topics;
        if (pattern != null) {
            named = admin.listTopics(new ListTopicsOptions().timeoutMs(timeout)).names().get().stream()
                    .filter(name -> pattern.matcher(name).matches())
                    .toList();
        }
        return described(admin, named, timeout);
    }

    /** Fails where one of the topics was created again: offsets at which records wait may be of the new one. */
    void unchanged() throws ExecutionException, InterruptedException {
        if (!ids.isEmpty()) {
            described(admin, ids.keySet(), null);
        }
    }

    private List<TopicPartition> described(Admin admin, Collection<String> named, Integer timeout)
            throws ExecutionException, InterruptedException {
        List<TopicPartition> all = new ArrayList<>();
        DescribeTopicsResult described = admin.describeTopics(named, new DescribeTopicsOptions().timeoutMs(timeout));
        for (TopicDescription topic : described.allTopicNames().get().values()) {
            String id = topic.topicId().toString();
            if (!ids.getOrDefault(topic.name(), id).equals(id)) {
                throw new IllegalStateException(
                        "Kafka topic '" + topic.name() + "' was deleted and created again while the job ran.");
            }
            for (TopicPartitionInfo each : topic.partitions()) {
                all.add(new TopicPartition(topic.name(), each.partition()));
            }
        }
        return all;
    }

    /** The {@code ends} of partitions are known. */
    void end(Map<TopicPartition, Object> ends) {
        ends.forEach((partition, end) -> this.ends.put(partition, (Long) end));
    }

    /** {@code admin} is the client that asks from now on. */
    void asks(Admin admin) {
        this.admin = admin;
    }

    /** Closes the client. Requests that have no answer are given up: else it would wait for theirs. */
    void close() {
        BY_ID.remove(id);
        if (admin != null) {
            admin.close(Duration.ZERO);
        }
    }

    /** A request is sent. */
    synchronized void ask() {
        asked = asked == 0 ? System.currentTimeMillis() : asked;
    }

    /** An answer has come. */
    synchronized void answered() {
        long now = System.currentTimeMillis();
        if (silence(now)) {
            silent = asked;
            back = now;
        }
        asked = 0;
        heard = now;
    }

    /**
     * Whether {@code error}, which a request has met, only says that there was no answer from brokers that have
     * answered before.
     */
    synchronized boolean unanswered(Throwable error) {
        for (Throwable each = error; each != null; each = each.getCause()) {
            boolean gone = each instanceof TimeoutException
                    || each instanceof DisconnectException
                    || each instanceof NetworkException;
            // A client is made anew after each failure, which resolves the names of the brokers.
            if (gone || (each instanceof ConfigException && heard > 0)) {
                return true;
            }
        }
        return false;
    }

    private boolean silence(long now) {
        return asked != 0 && now - asked >= SILENCE;
    }

    /**
     * Whether the brokers answer: since when they don't, and when they last did not. Where nothing has asked them for a
     * while, as while a micro-batch runs, they are asked, and the next call knows more. {@code look}: also which
     * partitions are not read yet.
     */
    public Map<String, Object> standing(boolean look) {
        Admin admin = this.admin;
        Map<String, Object> found = new LinkedHashMap<>();
        boolean answers;
        synchronized (this) {
            long now = System.currentTimeMillis();
            if (admin != null
                    && now - heard >= (read.isEmpty() ? ASK_AFTER : ASK_SOON)
                    && (probe == null || probe.isDone())
                    && !partitions.isEmpty()) {
                probe(admin);
            }
            found.put("servers", servers);
            answers = admin != null && !silence(now);
            found.put("silent", silence(now) ? asked : null);
            found.put("silence", back == 0 ? null : List.of(silent, back));
            found.put("every", every);
            found.put("looked", looked);
        }
        found.put("unread", look && answers ? unread(admin) : List.of());
        found.put("name", toString());
        found.put("read", byName(read));
        found.put("ends", byName(ends));
        return found;
    }

    private static Map<String, Long> byName(Map<TopicPartition, Long> offsets) {
        return offsets.entrySet().stream()
                .collect(Collectors.toMap(each -> each.getKey().toString(), Map.Entry::getValue));
    }

    private void probe(Admin admin) {
        ask();
        Map<TopicPartition, OffsetSpec> wanted =
                partitions.stream().collect(Collectors.toMap(each -> each, each -> OffsetSpec.latest()));
        probe = admin.listOffsets(wanted, new ListOffsetsOptions().timeoutMs(SOON))
                .all()
                .whenComplete((answer, error) -> {
                    if (error == null) {
                        answer.forEach((partition, end) -> ends.put(partition, end.offset()));
                        answered();
                    }
                });
    }

    private List<String> unread(Admin admin) {
        try {
            return existing(admin, SOON).stream()
                    .filter(each -> !splits.has(each.toString()))
                    .sorted(ORDER)
                    .map(TopicPartition::toString)
                    .toList();
        } catch (ExecutionException e) {
            // The brokers don't answer now, or a topic is gone: which the next request of the query will tell.
            return List.of();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return List.of();
        }
    }

    @Override
    public String toString() {
        return "KafkaTopics[" + (pattern == null ? String.join(", ", topics) : pattern.pattern()) + "]";
    }
}
