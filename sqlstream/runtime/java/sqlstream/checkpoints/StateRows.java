package sqlstream.checkpoints;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.*;
import org.apache.spark.sql.execution.streaming.state.OperatorStateMetadata;
import org.apache.spark.sql.execution.streaming.state.StateStoreConf;
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import org.apache.spark.util.TaskCompletionListener;
import scala.jdk.javaapi.CollectionConverters;
import sqlstream.catalyst.Scala;
import sqlstream.checkpoints.Store.Family;
import sqlstream.checkpoints.Store.Partition;

/**
 * What an operator keeps, as rows: of each key its columns (k0, k1, ..) and the values that a reader finds (v0, v1,
 * ..). Each partition of the state is one of the frame, and is read as the operator reads it.
 */
public final class StateRows {
    // A checkpoint that was derived has one version of its state.
    private static final long VERSION = 1;

    private StateRows() {}

    /**
     * The rows of {@code operator} in {@code checkpoint}, a copy of a query's.
     *
     * @param described {@link sqlstream.state.StateTable#reader} of it, as JSON
     * @throws IllegalStateException if the state is another one than that which was described
     */
    public static Dataset<Row> of(
            org.apache.spark.sql.SparkSession spark, String checkpoint, long operator, String described)
            throws IOException {
        SparkSession session = (SparkSession) spark;
        JsonNode reader = new ObjectMapper().readTree(described);
        StructType keys = type(reader, "keys");
        StructType values = type(reader, "values");
        StructType columns = keys;
        for (StructField value : values.fields()) {
            columns = columns.add(value);
        }
        Place place = new Place(checkpoint, session.sessionState().newHadoopConf());
        JavaSparkContext context = JavaSparkContext.fromSparkContext(session.sparkContext());
        if (!place.exists("metadata")) {
            throw new IllegalStateException("There is no checkpoint in " + place.path + ".");
        }
        if (!place.exists("offsets/0")) {
            return session.internalCreateDataFrame(
                    context.<InternalRow>emptyRDD().rdd(), columns, false);
        }
        JsonNode metadata = Offsets.read(place, 0).metadata;
        Commit commit = Commit.read(place, 0, metadata);
        Store store = store(place, operator, Derivation.conf(session, metadata, commit.identifies()));
        store.versions(commit.ids(operator, 0));
        StateReader found = StateReader.of(reader, values, store);
        if (!matches(found.family.schema().keySchema(), keys)) {
            throw new IllegalStateException("The state of operator " + operator + " in " + place.path + " has keys "
                    + found.family.schema().keySchema().catalogString() + ", and was recorded with "
                    + keys.catalogString()
                    + ".");
        }
        List<Integer> partitions =
                place.numbers("state/" + operator).stream().map(Long::intValue).toList();
        var hadoop = SerializableConfiguration.broadcast(session.sparkContext(), place.hadoop);
        JavaRDD<InternalRow> rows = context.parallelize(partitions, Math.max(1, partitions.size()))
                .mapPartitions(numbers -> numbers.hasNext()
                        ? rows(store, found, numbers.next(), hadoop.value().value())
                        : List.<InternalRow>of().iterator());
        return session.internalCreateDataFrame(rows.rdd(), columns, false);
    }

    private static StructType type(JsonNode reader, String name) {
        return (StructType) DataType.fromJson(reader.get(name).asText());
    }

    static boolean matches(StructType found, StructType recorded) {
        if (found.length() != recorded.length()) {
            return false;
        }
        for (int i = 0; i < found.length(); i++) {
            if (!DataType.equalsIgnoreNullability(
                    found.apply(i).dataType(), recorded.apply(i).dataType())) {
                return false;
            }
        }
        return true;
    }

    private static Store store(Place place, long operator, StateStoreConf conf) throws IOException {
        OperatorStateMetadata metadata = Derivation.metadata(place, operator, 0);
        return new Store(
                place.state(),
                metadata,
                Scala.list(metadata.stateStoresMetadata()).get(0),
                conf,
                place.hadoop);
    }

    private static Iterator<InternalRow> rows(Store store, StateReader reader, int partition, Configuration hadoop) {
        Partition open = store.open(partition, VERSION, hadoop);
        TaskContext.get().addTaskCompletionListener((TaskCompletionListener) done -> open.close());
        reader.open(open);
        Family family = reader.family;
        Iterator<UnsafeRowPair> pairs = CollectionConverters.asJava(open.rows.iterator(family.name()));
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return pairs.hasNext();
            }

            @Override
            public InternalRow next() {
                UnsafeRowPair pair = pairs.next();
                InternalRow key = pair.key().copy();
                ImplicitGroupingKeyTracker.setImplicitKey(key);
                try {
                    return new JoinedRow(
                            key,
                            new GenericInternalRow(reader.values(pair.value().copy())));
                } finally {
                    ImplicitGroupingKeyTracker.removeImplicitKey();
                }
            }
        };
    }
}
