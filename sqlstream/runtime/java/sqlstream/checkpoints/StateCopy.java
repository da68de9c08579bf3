package sqlstream.checkpoints;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.streaming.state.StatePartitionKeyExtractor;
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.util.SerializableConfiguration;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;
import sqlstream.catalyst.Scala;
import sqlstream.checkpoints.Store.Family;
import sqlstream.checkpoints.Store.Partition;
import sqlstream.operators.KeyedAggregate;

/** The rows of one state store, written into another as its first version: a Spark job over partitions. */
final class StateCopy {
    private final JavaSparkContext context;
    private final Broadcast<SerializableConfiguration> hadoop;
    private final Store old;
    private final Store fresh;
    private final long version;
    private final NewColumns columns;

    /**
     * {@code version} of {@code old}; null where there is none; {@code columns}: null where they stay the same.
     */
    StateCopy(SparkSession session, Store old, Store fresh, long version, NewColumns columns) {
        context = JavaSparkContext.fromSparkContext(session.sparkContext());
        hadoop = SerializableConfiguration.broadcast(
                session.sparkContext(), session.sessionState().newHadoopConf());
        this.old = old;
        this.fresh = fresh;
        this.version = version;
        this.columns = columns;
    }

    /** Writes so many empty partitions. */
    Commit.Ids fill(int partitions) {
        Store to = fresh;
        var configuration = hadoop;
        return collected(numbers(IntStream.range(0, partitions).boxed().toList())
                .mapToPair(partition -> {
                    try (Partition target =
                            to.open(partition, 0, configuration.value().value())) {
                        return new Tuple2<>(partition, target.commit());
                    }
                }));
    }

    private static Commit.Ids collected(JavaPairRDD<Integer, String> written) {
        Commit.Ids ids = new Commit.Ids(new TreeMap<>());
        for (Tuple2<Integer, String> each : written.collect()) {
            if (each._2() != null) {
                ids.byPartition().put(each._1(), each._2());
            }
        }
        return ids;
    }

    /** Copies the partitions {@code there}, of {@code before}, into {@code after} of them. */
    Commit.Ids copy(List<Integer> there, int before, int after) {
        if (old == null) {
            return fill(after);
        }
        for (Family family : old.families) {
            Family as = goal(old, family, fresh);
            if (as != null && !goesOn(family, as)) {
                throw new IllegalStateException("The state that is kept is of " + family.types()
                        + ", and the operator keeps " + as.types() + ".");
            }
        }
        boolean rekeyed = old.families.stream()
                .anyMatch(family -> goal(old, family, fresh) instanceof Family as && OtherKeys.areSame(family, as));
        if (!rekeyed && (before == after || there.equals(List.of(0)) && before > 1)) {
            return direct(there);
        }
        return shuffled(there, after);
    }

    private boolean goesOn(Family family, Family as) {
        NewColumns others = of(columns, old, family);
        return others == null
                ? family.sameTypes(as)
                : (family.sameKeys(as) || OtherKeys.areSame(family, as))
                        && others.fit(family.schema().valueSchema(), as.schema().valueSchema());
    }

    /** {@code columns} where {@code family} has them: of what an operator of ours keeps those are its buffers. */
    private static NewColumns of(NewColumns columns, Store from, Family family) {
        return from.isOfOurs() && !family.name().equals(KeyedAggregate.BUFFERS) ? null : columns;
    }

    private org.apache.spark.api.java.JavaRDD<Integer> numbers(List<Integer> partitions) {
        return context.parallelize(partitions, Math.max(1, partitions.size()));
    }

    private Commit.Ids direct(List<Integer> partitions) {
        Store from = old;
        Store to = fresh;
        long at = version;
        NewColumns others = columns;
        var configuration = hadoop;
        return collected(numbers(partitions).mapToPair(number -> {
            Configuration conf = configuration.value().value();
            try (Partition source = from.open(number, at, conf);
                    Partition target = to.open(number, 0, conf)) {
                for (Family family : from.families) {
                    Family as = goal(from, family, to);
                    Iterator<UnsafeRowPair> rows = rows(source, family);
                    UnaryOperator<UnsafeRow> value = as == null ? null : value(of(others, from, family), family, as);
                    while (as != null && rows.hasNext()) {
                        UnsafeRowPair row = rows.next();
                        if (family.many()) {
                            target.rows.putList(row.key(), values(source, family, row.key()), as.name());
                        } else {
                            target.rows.put(row.key(), value.apply(row.value()), as.name());
                        }
                    }
                }
                return new Tuple2<>(number, target.commit());
            }
        }));
    }

    /** A key with what is kept of it, on its way to another task. */
    private record Entry(int family, byte[] key, byte[][] values) implements Serializable {}

    private Commit.Ids shuffled(List<Integer> partitions, int after) {
        Store from = old;
        Store to = fresh;
        long at = version;
        NewColumns others = columns;
        var configuration = hadoop;
        var entries = numbers(partitions).<Integer, Entry>mapPartitionsToPair(numbers -> {
            Partition source =
                    from.open(numbers.next(), at, configuration.value().value());
            org.apache.spark.TaskContext.get()
                    .addTaskCompletionListener((org.apache.spark.util.TaskCompletionListener) done -> source.close());
            List<Iterator<Tuple2<Integer, Entry>>> all = new ArrayList<>();
            for (int i = 0; i < from.families.size(); i++) {
                if (goal(from, from.families.get(i), to) instanceof Family as
                        && from.partitioning(from.families.get(i)) != null) {
                    all.add(entries(source, from, i, to, as, after));
                }
            }
            return all.stream()
                    .<Tuple2<Integer, Entry>>flatMap(StateCopy::stream)
                    .iterator();
        });
        return collected(entries.partitionBy(new HashPartitioner(after)).mapPartitionsToPair(arrived -> {
            int number = org.apache.spark.TaskContext.getPartitionId();
            try (Partition target = to.open(number, 0, configuration.value().value())) {
                Map<String, UnaryOperator<UnsafeRow>> values = new HashMap<>();
                while (arrived.hasNext()) {
                    Entry entry = arrived.next()._2();
                    Family family = from.families.get(entry.family);
                    Family as = goal(from, family, to);
                    UnsafeRow key = row(entry.key, as.keys().length());
                    UnsafeRow[] kept = new UnsafeRow[entry.values.length];
                    for (int i = 0; i < kept.length; i++) {
                        kept[i] = row(
                                entry.values[i], family.schema().valueSchema().length());
                    }
                    if (family.many()) {
                        target.rows.putList(key, kept, as.name());
                    } else {
                        var value =
                                values.computeIfAbsent(as.name(), name -> value(of(others, from, family), family, as));
                        target.rows.put(key, value.apply(kept[0]), as.name());
                    }
                }
                return List.of(new Tuple2<>(number, target.commit())).iterator();
            }
        }));
    }

    private static <T> java.util.stream.Stream<T> stream(Iterator<T> rows) {
        Iterable<T> all = () -> rows;
        return java.util.stream.StreamSupport.stream(all.spliterator(), false);
    }

    private static Iterator<Tuple2<Integer, Entry>> entries(
            Partition source, Store from, int place, Store to, Family as, int after) {
        Family family = from.families.get(place);
        boolean rekeyed = OtherKeys.areSame(family, as);
        StatePartitionKeyExtractor extractor = rekeyed ? to.partitioning(as) : from.partitioning(family);
        UnaryOperator<UnsafeRow> keys = rekeyed ? OtherKeys.projection(family, as) : UnaryOperator.identity();
        List<Expression> columns = new ArrayList<>();
        for (StructField field : extractor.partitionKeySchema().fields()) {
            columns.add(new BoundReference(columns.size(), field.dataType(), field.nullable()));
        }
        Expression id = new HashPartitioning(Scala.seq(columns), after).partitionIdExpression();
        UnsafeProjection target = UnsafeProjection.create(Scala.seq(List.of(id)));
        boolean alone = columns.isEmpty();
        Iterator<UnsafeRowPair> rows = rows(source, family);
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return rows.hasNext();
            }

            @Override
            public Tuple2<Integer, Entry> next() {
                UnsafeRowPair row = rows.next();
                UnsafeRow[] values = family.many() ? values(source, family, row.key()) : new UnsafeRow[] {row.value()};
                byte[][] bytes = new byte[values.length][];
                for (int i = 0; i < values.length; i++) {
                    bytes[i] = values[i].getBytes();
                }
                UnsafeRow key = keys.apply(row.key());
                int number =
                        alone ? 0 : target.apply(extractor.partitionKey(key)).getInt(0);
                return new Tuple2<>(number, new Entry(place, key.getBytes(), bytes));
            }
        };
    }

    private static UnaryOperator<UnsafeRow> value(NewColumns columns, Family from, Family to) {
        return columns == null
                ? UnaryOperator.identity()
                : columns.projection(from.schema().valueSchema(), to.schema().valueSchema());
    }

    private static UnsafeRow row(byte[] bytes, int columns) {
        UnsafeRow row = new UnsafeRow(columns);
        row.pointTo(bytes, bytes.length);
        return row;
    }

    private static Iterator<UnsafeRowPair> rows(Partition source, Family family) {
        return CollectionConverters.asJava(source.rows.iterator(family.name()));
    }

    private static UnsafeRow[] values(Partition source, Family family, UnsafeRow key) {
        List<UnsafeRow> values = new ArrayList<>();
        CollectionConverters.asJava(source.rows.valuesIterator(key, family.name()))
                .forEachRemaining(v -> values.add(v.copy()));
        return values.toArray(UnsafeRow[]::new);
    }

    /** What of {@code to} goes on with a family; null for nothing. */
    private static Family goal(Store from, Family family, Store to) {
        if (from.isOfOurs() != to.isOfOurs()) {
            return family.equals(from.only()) ? to.only() : null;
        }
        return to.families.stream()
                .filter(each -> each.name().equals(family.name()))
                .findFirst()
                .orElse(null);
    }
}
