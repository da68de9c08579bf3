package sqlstream.kafka;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupListing;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;

/**
 * What the tasks of a query have committed into a topic. Each task's transaction has, beside its records, an offset of
 * a group that is called like its transactional id, for the topic's first partition: the micro-batch's number, with the
 * number of its tasks and of the task's rows.
 */
public final class Landed {
    /** The last micro-batch that a task has committed, how many tasks it has, how many rows of it are the task's. */
    record Mark(long batch, int tasks, long rows) {
        /** That of a task which has committed none. */
        static final Mark NONE = new Mark(-1, 0, 0);

        Map<TopicPartition, OffsetAndMetadata> offsets(String topic) {
            return Map.of(place(topic), new OffsetAndMetadata(batch, tasks + " " + rows));
        }

        private static TopicPartition place(String topic) {
            return new TopicPartition(topic, 0);
        }

        private static Mark of(Map<TopicPartition, OffsetAndMetadata> offsets, String topic) {
            OffsetAndMetadata found = offsets.get(place(topic));
            if (found == null) {
                return NONE;
            }
            String[] numbers = found.metadata().split(" ");
            return new Mark(found.offset(), Integer.parseInt(numbers[0]), Long.parseLong(numbers[1]));
        }
    }

    // By the transactional ids of the tasks.
    private final Map<String, Mark> marks;

    private Landed(Map<String, Mark> marks) {
        this.marks = marks;
    }

    /** The transactional id of a task of a query. */
    static String id(String prefix, String writer, int task) {
        return prefix + infix(writer) + task;
    }

    /** A query has an id of its own, so what it has written is found whatever prefix it had then. */
    private static String infix(String writer) {
        return "-" + writer + "-";
    }

    /** What the tasks of a query have committed. */
    static Landed of(Map<String, String> client, String topic, String writer) {
        return asked(client, admin -> new Landed(marks(admin, topic, groups(admin, writer))));
    }

    /** What the task with this transactional id has committed. */
    static Mark of(Admin admin, String topic, String task) {
        return marks(admin, topic, List.of(task)).get(task);
    }

    /**
     * How much of a micro-batch of a query that has ended is in the topic. What has not committed by now never will.
     *
     * @return 1 for all of it, 0 for none, -1 for the rows of some tasks
     */
    public static int part(Map<String, String> client, String topic, String writer, long batch) {
        return asked(client, admin -> {
            List<String> ids = got(admin.listTransactions().all()).stream()
                    .map(TransactionListing::transactionalId)
                    .filter(id -> id.contains(infix(writer)))
                    .toList();
            ids.forEach(TransactionalProducer::leave);
            got(admin.fenceProducers(ids).all());
            return new Landed(marks(admin, topic, groups(admin, writer))).part(batch);
        });
    }

    /** Forget a query that never writes again. */
    public static void forget(Map<String, String> client, String writer) {
        asked(
                client,
                admin -> got(admin.deleteConsumerGroups(groups(admin, writer)).all()));
    }

    private int part(long batch) {
        List<Mark> found =
                marks.values().stream().filter(mark -> mark.batch == batch).toList();
        return found.isEmpty() ? 0 : found.size() == found.get(0).tasks ? 1 : -1;
    }

    /**
     * Throws where a micro-batch that is written now, by so many tasks whose ids begin with {@code prefix}, can't
     * complete what is there of it.
     */
    void check(String prefix, long batch, int tasks) {
        marks.forEach((id, mark) -> {
            if (mark.batch > batch) {
                throw new IllegalStateException(
                        "The topic has micro-batch %d of the query already, and number %d is to be written"
                                .formatted(mark.batch, batch));
            }
            if (mark.batch == batch && (mark.tasks != tasks || !id.startsWith(prefix + "-"))) {
                throw new IllegalStateException(
                        ("The topic has a part of micro-batch %d, by %d tasks with transactional ids like %s:"
                                        + " %d tasks with the prefix %s can't complete it")
                                .formatted(batch, mark.tasks, id, tasks, prefix));
            }
        });
    }

    private static List<String> groups(Admin admin, String writer) {
        return got(admin.listConsumerGroups().all()).stream()
                .map(ConsumerGroupListing::groupId)
                .filter(group -> group.contains(infix(writer)))
                .toList();
    }

    private static Map<String, Mark> marks(Admin admin, String topic, Collection<String> groups) {
        if (groups.isEmpty()) {
            return Map.of();
        }
        ListConsumerGroupOffsetsSpec all = new ListConsumerGroupOffsetsSpec();
        var asked = groups.stream().collect(Collectors.toMap(group -> group, group -> all));
        var options = new ListConsumerGroupOffsetsOptions().requireStable(true);
        var found = got(admin.listConsumerGroupOffsets(asked, options).all());
        return found.entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, each -> Mark.of(each.getValue(), topic)));
    }

    private static <T> T asked(Map<String, String> client, Function<Admin, T> question) {
        try (Admin admin = Admin.create(new HashMap<>(client))) {
            return question.apply(admin);
        }
    }

    private static <T> T got(KafkaFuture<T> answer) {
        try {
            return answer.get();
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(error);
        } catch (ExecutionException error) {
            if (error.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(error.getCause());
        }
    }
}
