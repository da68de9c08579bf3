package sqlstream.checkpoints;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.streaming.operators.stateful.StatePartitionKeyExtractorFactory;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.StateStoreColumnFamilySchemaUtils;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.StateVariableType;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateVariableInfo;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import org.apache.spark.sql.execution.streaming.state.InMemoryStateSchemaProvider;
import org.apache.spark.sql.execution.streaming.state.KeyStateEncoderSpec;
import org.apache.spark.sql.execution.streaming.state.NoPrefixKeyStateEncoderSpec;
import org.apache.spark.sql.execution.streaming.state.OperatorStateMetadata;
import org.apache.spark.sql.execution.streaming.state.OperatorStateMetadataV2;
import org.apache.spark.sql.execution.streaming.state.PrefixKeyScanStateEncoderSpec;
import org.apache.spark.sql.execution.streaming.state.StatePartitionKeyExtractor;
import org.apache.spark.sql.execution.streaming.state.StateSchemaCompatibilityChecker;
import org.apache.spark.sql.execution.streaming.state.StateSchemaMetadata;
import org.apache.spark.sql.execution.streaming.state.StateSchemaProvider;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.sql.execution.streaming.state.StateStoreColFamilySchema;
import org.apache.spark.sql.execution.streaming.state.StateStoreConf;
import org.apache.spark.sql.execution.streaming.state.StateStoreId;
import org.apache.spark.sql.execution.streaming.state.StateStoreMetadata;
import org.apache.spark.sql.execution.streaming.state.StateStoreMetadataV2;
import org.apache.spark.sql.execution.streaming.state.StateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import sqlstream.catalyst.Scala;

/**
 * One state store of an operator in a checkpoint: its place, and the families of rows in it. Tasks open partitions of
 * it.
 */
final class Store implements Serializable {
    /** {@code many}: a key has a list of values. */
    record Family(StateStoreColFamilySchema schema, KeyStateEncoderSpec encoder, boolean many) implements Serializable {
        String name() {
            return schema.colFamilyName();
        }

        String types() {
            return types(keys()) + " and " + types(schema.valueSchema());
        }

        /** Whether rows of the one are rows of the other: names do not count. */
        boolean sameTypes(Family other) {
            return many == other.many && types().equals(other.types());
        }

        /** Whether they have the same keys. */
        boolean sameKeys(Family other) {
            return many == other.many && types(keys()).equals(types(other.keys()));
        }

        StructType keys() {
            return schema.keySchema();
        }

        static String types(StructType columns) {
            List<String> types = new ArrayList<>();
            for (StructField column : columns.fields()) {
                types.add(
                        column.dataType() instanceof StructType inner
                                ? types(inner)
                                : column.dataType().catalogString());
            }
            return types.toString();
        }

        boolean isDefault() {
            return name().equals(StateStore.DEFAULT_COL_FAMILY_NAME());
        }
    }

    private static final String TIMERS = "$";
    private static final StructType NOTHING = new StructType();

    final String name;
    final List<Family> families = new ArrayList<>();
    private final String root;
    private final long operator;
    private final String operatorName;
    private final StateStoreConf conf;
    private final StateSchemaProvider schemas;
    private final List<TransformWithStateVariableInfo> variables;
    private Commit.Ids ids = Commit.Ids.NONE;

    /**
     * @param root the folder of all state
     * @param metadata what the operator keeps; what it says of places does not count, as they may have been moved
     */
    Store(
            String root,
            OperatorStateMetadata metadata,
            StateStoreMetadata store,
            StateStoreConf conf,
            Configuration hadoop) {
        this.root = root;
        this.conf = conf;
        name = store.storeName();
        operator = metadata.operatorInfo().operatorId();
        operatorName = metadata.operatorInfo().operatorName();
        List<Path> files = new ArrayList<>();
        if (store instanceof StateStoreMetadataV2 second) {
            Scala.list(second.stateSchemaFilePaths())
                    .forEach(path -> files.add(Place.schema(root, operator, name, new Path(path))));
        }
        boolean transforms =
                metadata instanceof OperatorStateMetadataV2 && operatorName.startsWith("transformWithState");
        variables = transforms ? variables(((OperatorStateMetadataV2) metadata).operatorPropertiesJson()) : List.of();
        schemas = transforms
                ? new InMemoryStateSchemaProvider(StateSchemaMetadata.createStateSchemaMetadata(
                        root, hadoop, list(files.stream().map(Path::toString).toList())))
                : null;
        var checker = new StateSchemaCompatibilityChecker(
                new StateStoreProviderId(new StateStoreId(root, operator, 0, name), UUID.randomUUID()),
                hadoop,
                list(files),
                Option.empty(),
                false);
        for (StateStoreColFamilySchema schema : Scala.list(checker.readSchemaFile())) {
            KeyStateEncoderSpec encoder = schema.keyStateEncoderSpec().isDefined()
                    ? schema.keyStateEncoderSpec().get()
                    : store.numColsPrefixKey() > 0
                            ? new PrefixKeyScanStateEncoderSpec(schema.keySchema(), store.numColsPrefixKey())
                            : new NoPrefixKeyStateEncoderSpec(schema.keySchema());
            TransformWithStateVariableInfo variable = variable(schema.colFamilyName());
            boolean many = variable != null && variable.stateVariableType().equals(StateVariableType.ListState());
            families.add(new Family(schema, encoder, many));
        }
    }

    private static <T> scala.collection.immutable.List<T> list(List<T> values) {
        return scala.collection.immutable.List$.MODULE$.from(Scala.seq(values));
    }

    private static List<TransformWithStateVariableInfo> variables(String properties) {
        List<TransformWithStateVariableInfo> found = new ArrayList<>();
        try {
            for (JsonNode variable : new ObjectMapper().readTree(properties).get("stateVariables")) {
                found.add(TransformWithStateVariableInfo.fromJson(variable.toString()));
            }
        } catch (JsonProcessingException error) {
            throw new IllegalStateException("What an operator keeps can't be read: " + properties, error);
        }
        return found;
    }

    private TransformWithStateVariableInfo variable(String family) {
        return variables.stream()
                .filter(v -> v.stateName().equals(family))
                .findFirst()
                .orElse(null);
    }

    /** Whether its operator names what it keeps: one of ours. */
    boolean isOfOurs() {
        return !variables.isEmpty();
    }

    /** The only family in which the operator keeps something; null where there are several. */
    Family only() {
        List<Family> kept = families.stream()
                .filter(family -> !isOfOurs() || variable(family.name()) != null)
                .toList();
        return kept.size() == 1 ? kept.get(0) : null;
    }

    /** Finds in the keys of {@code family} by what Spark partitions; null where nothing is ever in it. */
    StatePartitionKeyExtractor partitioning(Family family) {
        TransformWithStateVariableInfo variable = variable(family.name());
        if (variable == null && !variables.isEmpty()) {
            // What Spark keeps beside a variable of its own: a name in which that one's is.
            variable = variables.stream()
                    .filter(each -> family.name().contains(each.stateName())
                            || family.name().startsWith(TIMERS)
                                    && each.stateName().startsWith(TIMERS))
                    .findFirst()
                    .orElse(null);
            if (variable == null) {
                return null;
            }
        }
        return StatePartitionKeyExtractorFactory.create(
                operatorName, family.schema().keySchema(), name, family.name(), Option.empty(), Option.apply(variable));
    }

    /** One partition, open: with the rows of a version, or empty. */
    static final class Partition implements AutoCloseable {
        final StateStore rows;
        private final StateStoreProvider provider;

        private Partition(StateStoreProvider provider, StateStore rows) {
            this.provider = provider;
            this.rows = rows;
        }

        void put(Family family, UnsafeRow key, UnsafeRow value) {
            rows.put(key, value, family.name());
        }

        /** Keeps what was put; the id that it is known by, null where there is none. */
        String commit() {
            rows.commit();
            return rows.getStateStoreCheckpointInfo().stateStoreCkptId().getOrElse(() -> null);
        }

        @Override
        public void close() {
            if (!rows.hasCommitted()) {
                rows.abort();
            }
            provider.close();
        }
    }

    /** Says which of the files of a version are meant. */
    void versions(Commit.Ids those) {
        ids = those;
    }

    /** {@code version} of a partition; 0 for an empty one, to be committed as version 1. */
    Partition open(int partition, long version, Configuration configuration) {
        Configuration hadoop = new Configuration(configuration);
        hadoop.set(StreamExecution.RUN_ID_KEY(), UUID.randomUUID().toString());
        boolean several = families.stream().anyMatch(family -> !family.isDefault());
        Family first = families.stream().filter(Family::isDefault).findFirst().orElse(null);
        StateStoreProvider provider = StateStoreProvider.createAndInit(
                new StateStoreProviderId(new StateStoreId(root, operator, partition, name), UUID.randomUUID()),
                first == null ? NOTHING : first.schema().keySchema(),
                first == null ? NOTHING : first.schema().valueSchema(),
                first == null ? new NoPrefixKeyStateEncoderSpec(NOTHING) : first.encoder(),
                several,
                conf,
                hadoop,
                first != null && first.many(),
                Option.apply(schemas));
        Option<String> id =
                version == 0 ? Option.empty() : Option.apply(ids.byPartition().get(partition));
        StateStore rows = provider.getStore(version, id, version == 0, version == 0);
        if (several) {
            for (Family family : families) {
                if (!family.isDefault()) {
                    rows.createColFamilyIfAbsent(
                            family.name(),
                            family.schema().keySchema(),
                            family.schema().valueSchema(),
                            family.encoder(),
                            family.many(),
                            StateStoreColumnFamilySchemaUtils.isInternalColFamily(family.name()));
                }
            }
        }
        return new Partition(provider, rows);
    }
}
