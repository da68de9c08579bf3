package sqlstream.state;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructType;

/**
 * What our operators keep in their states, as text beside each state: an operator that finds another text there refuses the state. Spark knows
 * of most of them no more than that they are bytes.
 */
public final class StateSchema {
    private static final String KEY = "sqlstream.state";
    private static final String FILE = "_sqlstream";
    /** Of all states: another number where the same text stands for other bytes. */
    private static final int VERSION = 1;
    /** Runs of operators of which the state was found to be theirs. */
    private static final Map<String, UUID> KNOWN = new ConcurrentHashMap<>();

    private StateSchema() {}

    /** An operator whose state depends on more than the types of its rows. */
    public interface Depends {
        /** That, in words. */
        String kept();
    }

    /** What the state of {@code operator} is, for the plan's node to carry. */
    public static Metadata of(Object operator, StructType rows, List<String> keys, StructType output, boolean expires) {
        String text = operator.getClass().getSimpleName() + " " + VERSION
                + " by (" + String.join(", ", keys) + ") of " + rows.catalogString()
                + (operator instanceof Depends more ? " with " + more.kept() : "")
                + (expires ? ", which expires" : "")
                + ", giving " + output.catalogString();
        return new MetadataBuilder().putString(KEY, text).build();
    }

    /** {@code plan}; raises IllegalStateException where it is such an operator, and its state is another's. */
    public static SparkPlan checked(SparkPlan plan) {
        if (plan instanceof TransformWithStateExec exec && exec.isStreaming() && exec.stateInfo().isDefined()) {
            Metadata metadata = exec.outputObjAttr().metadata();
            if (metadata.contains(KEY)) {
                check(metadata.getString(KEY), exec.stateInfo().get(), exec.session().sessionState().newHadoopConf());
            }
        }
        return plan;
    }

    private static void check(String text, StatefulOperatorStateInfo info, Configuration configuration) {
        Path folder = new Path(info.checkpointLocation(), Long.toString(info.operatorId()));
        // A plan that is only told of is one of no place.
        if (!folder.isAbsolute() || info.queryRunId().equals(KNOWN.get(folder.toString()))) {
            return;
        }
        Path file = new Path(folder, FILE);
        CheckpointFileManager files = CheckpointFileManager.create(folder, configuration);
        try {
            if (files.exists(file)) {
                compare(text, read(files, file), folder);
            } else if (info.storeVersion() > 0) {
                compare(text, "not told", folder);
            } else {
                files.mkdirs(folder);
                write(files, file, text);
            }
        } catch (IOException error) {
            throw new UncheckedIOException("The state in " + folder + " can't be read: " + error.getMessage(), error);
        }
        KNOWN.put(folder.toString(), info.queryRunId());
    }

    private static void compare(String text, String found, Path folder) {
        if (!found.equals(text)) {
            throw new IllegalStateException(
                    "The state in " + folder.toUri().getPath() + " is another operator's. It is: " + found + ". This one's is: " + text + ".");
        }
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
