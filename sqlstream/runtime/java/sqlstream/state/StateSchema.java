package sqlstream.state;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructType;

/**
 * What our operators keep in their states, as text beside each state: the layouts with their versions, the types of
 * rows. An operator refuses a state of another one, and one of a version that it does not know. Spark knows of most
 * states no more than that they are bytes.
 *
 * <p>The text is written before the first micro-batch, and stays: a restart reads it, whatever has become of the
 * state's own files.
 */
public final class StateSchema {
    private static final String KEY = "sqlstream.state";
    private static final String TABLE = "sqlstream.table";
    public static final String FILE = "_sqlstream";

    /** What is between the layouts and the rest. */
    private static final String ROWS = " by (";
    /** What is behind all that is kept: the rows that come out. */
    private static final String GIVING = ", giving ";

    private static final Pattern LAYOUTS = Pattern.compile("\\w+ \\d{1,9}(, \\w+ \\d{1,9})*" + Pattern.quote(ROWS));
    private static final Pattern NAMES = Pattern.compile("(?<=[<,])[^<>:,()]+:");
    /** Of a layout that a text does not name: it is of a release that wrote the operator's only. */
    private static final int FIRST = 1;
    /** What was found for runs of operators, by their folders. */
    private static final Map<String, Known> KNOWN = new ConcurrentHashMap<>();

    private record Known(UUID run, Map<String, Integer> versions) {}

    private StateSchema() {}

    /** What the state of {@code operator} is, for the plan's node to carry. */
    public static Metadata of(
            KeyedOperator operator, StructType rows, List<String> keys, StructType output, boolean expires) {
        String depends = operator.dependsOn();
        String text = operator.layouts().stream().map(Layout::toString).collect(Collectors.joining(", "))
                + ROWS + String.join(", ", keys) + ") of " + rows.catalogString()
                + (depends.isEmpty() ? "" : " with " + depends)
                + (expires ? ", which expires" : "")
                + GIVING + output.catalogString();
        StateTable table = new StateTable().key(null, DataTypes.LongType);
        keys.forEach(key -> table.key(key, rows.apply(key).dataType()));
        operator.describe(table, rows);
        return new MetadataBuilder()
                .putString(KEY, text)
                .putString(TABLE, table.json())
                .build();
    }

    /** What the state of {@code exec} keeps, as a {@link StateTable}; null where its operator is none of ours. */
    public static String table(TransformWithStateExec exec) {
        Metadata metadata = exec.outputObjAttr().metadata();
        return metadata.contains(TABLE) ? metadata.getString(TABLE) : null;
    }

    /** What the state of {@code exec} is; null where its operator is none of ours. */
    public static String text(TransformWithStateExec exec) {
        Metadata metadata = exec.outputObjAttr().metadata();
        return metadata.contains(KEY) ? metadata.getString(KEY) : null;
    }

    /**
     * {@code text}, of an operator that goes on with a state beside which {@code found} stands: in that one's versions.
     *
     * @param others whether it keeps other columns of the same groups
     */
    public static String carried(String found, String text, boolean others) {
        if (!operator(found).equals(operator(text)) || !others && !shape(found).equals(shape(text))) {
            throw new IllegalStateException(
                    "The state is another operator's. It is: " + found + ". This one's is: " + text + ".");
        }
        return found.substring(0, found.indexOf(ROWS)) + rest(text);
    }

    private static String operator(String text) {
        return text.substring(0, text.indexOf(' '));
    }

    /** What is kept, without what comes out and the names of columns: a state knows them by their places. */
    private static String shape(String text) {
        String kept = text.substring(text.indexOf(" of "));
        int gives = kept.lastIndexOf(GIVING);
        return NAMES.matcher(gives < 0 ? kept : kept.substring(0, gives)).replaceAll("");
    }

    /**
     * {@code plan}; raises IllegalStateException where it is such an operator, and its state is another's or of a
     * version that is not known.
     */
    public static SparkPlan checked(SparkPlan plan) {
        if (plan instanceof TransformWithStateExec exec
                && exec.isStreaming()
                && exec.stateInfo().isDefined()) {
            Metadata metadata = exec.outputObjAttr().metadata();
            if (metadata.contains(KEY) && (Object) exec.statefulProcessor() instanceof KeyedOperator operator) {
                operator.reads(checked(
                        metadata.getString(KEY),
                        exec.stateInfo().get(),
                        exec.session().sessionState().newHadoopConf()));
            }
        }
        return plan;
    }

    private static Map<String, Integer> checked(
            String text, StatefulOperatorStateInfo info, Configuration configuration) {
        Path folder = new Path(info.checkpointLocation(), Long.toString(info.operatorId()));
        // A plan that is only explained is one of no place.
        if (!folder.isAbsolute()) {
            return versions(text);
        }
        Known known = KNOWN.get(folder.toString());
        if (known == null || !known.run.equals(info.queryRunId())) {
            known = new Known(info.queryRunId(), found(text, folder, info.storeVersion() == 0, configuration));
            KNOWN.put(folder.toString(), known);
        }
        return known.versions;
    }

    /**
     * The versions of the state in {@code folder}; where it is {@code fresh}, nothing being committed, those that
     * {@code text} names are its own.
     */
    private static Map<String, Integer> found(String text, Path folder, boolean fresh, Configuration configuration) {
        Path file = new Path(folder, FILE);
        CheckpointFileManager files = CheckpointFileManager.create(folder, configuration);
        try {
            String found = files.exists(file) ? read(files, file) : "unknown";
            if (!fresh) {
                return versions(text, found, folder.toUri().getPath());
            }
            if (!found.equals(text)) {
                files.mkdirs(folder);
                write(files, file, text);
            }
            return versions(text);
        } catch (IOException error) {
            throw new UncheckedIOException("The state in " + folder + " can't be read: " + error.getMessage(), error);
        }
    }

    /**
     * The versions of the layouts that {@code text} names in a state beside which {@code found} stands.
     *
     * @throws IllegalStateException if the state is another operator's, or has a layout or version that {@code text}
     *     does not know
     */
    static Map<String, Integer> versions(String text, String found, String folder) {
        String operator = text.substring(0, text.indexOf(' '));
        if (!found.startsWith(operator + " ")
                || !LAYOUTS.matcher(found).lookingAt()
                || !rest(found).equals(rest(text))) {
            throw new IllegalStateException("The state in " + folder + " is another operator's. It is: " + found
                    + ". This one's is: " + text + ".");
        }
        Map<String, Integer> written = versions(found);
        Map<String, Integer> versions = new LinkedHashMap<>();
        versions(text)
                .forEach((layout, latest) -> versions.put(
                        layout, known(written.getOrDefault(layout, FIRST), layout, latest, operator, folder)));
        written.forEach((layout, version) -> {
            if (!versions.containsKey(layout)) {
                known(version, layout, 0, operator, folder);
            }
        });
        return versions;
    }

    private static int known(int version, String layout, int latest, String operator, String folder) {
        if (version < FIRST || version > latest) {
            String known = latest == 0 ? "none" : latest == FIRST ? "version 1" : "versions 1 to " + latest;
            throw new IllegalStateException("The state of " + operator + " in " + folder + " has version " + version
                    + " of the layout " + layout + ", of which this release reads " + known + ".");
        }
        return version;
    }

    /** The layouts that a text begins with. */
    private static Map<String, Integer> versions(String text) {
        Map<String, Integer> versions = new LinkedHashMap<>();
        for (String layout : text.substring(0, text.indexOf(ROWS)).split(", ")) {
            int space = layout.lastIndexOf(' ');
            versions.put(layout.substring(0, space), Integer.parseInt(layout.substring(space + 1)));
        }
        return versions;
    }

    private static String rest(String text) {
        return text.substring(text.indexOf(ROWS));
    }

    private static String read(CheckpointFileManager files, Path file) throws IOException {
        try (FSDataInputStream in = files.open(file)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static void write(CheckpointFileManager files, Path file, String text) throws IOException {
        var out = files.createAtomic(file, true);
        try {
            out.write(text.getBytes(StandardCharsets.UTF_8));
            out.close();
        } catch (IOException error) {
            out.cancel();
            throw error;
        }
    }
}
