package sqlstream.catalyst;

import java.util.UUID;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.execution.CommandExecutionMode;
import org.apache.spark.sql.execution.python.EvaluatePython;
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqMetadata;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.*;
import org.apache.spark.sql.execution.streaming.runtime.IncrementalExecution;
import org.apache.spark.sql.execution.streaming.runtime.WatermarkPropagator;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.ArrowUtils;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.StorageLevel;
import org.apache.spark.util.io.ChunkedByteBuffer;
import scala.Option;
import scala.reflect.ClassTag$;

/** What is called otherwise in each release of Spark. */
public final class SparkCalls {
    private SparkCalls() {}

    /** Whether the log of offsets knows sources by their names, and a commit the files of states by their ids. */
    public static boolean namedOffsets() {
        return true;
    }

    /** The columns of {@code type} as Arrow has them, in UTC. */
    public static Schema arrow(StructType type) {
        return ArrowUtils.toArrowSchema(type, "UTC", true);
    }

    /** How a micro-batch of {@code frame} runs, whose state is in the folder {@code state}; {@code first}: of all. */
    public static IncrementalExecution execution(
            Dataset<Row> frame, OutputMode mode, String state, OffsetSeqMetadata metadata, boolean first) {
        return new IncrementalExecution(
                frame.sparkSession(),
                frame.logicalPlan(),
                mode,
                state,
                UUID.randomUUID(),
                UUID.randomUUID(),
                0,
                Option.empty(),
                metadata,
                WatermarkPropagator.noop(),
                first,
                new scala.collection.mutable.HashMap<>(),
                new scala.collection.mutable.HashMap<>(),
                CommandExecutionMode.ALL(),
                false,
                false);
    }

    /** What reads and writes the states of an operator that are in {@code store}, outside of a query. */
    public static StatefulProcessorHandle handle(StateStore store, ExpressionEncoder<Object> keys) {
        return new StatefulProcessorHandleImpl(
                store,
                UUID.randomUUID(),
                keys,
                TimeMode.None(),
                true,
                Option.empty(),
                Option.empty(),
                new scala.collection.immutable.HashMap<>(),
                Option.empty());
    }

    /** A row as an object that is pickled for Python; {@code binaryAsBytes}: a value of bytes as Python's bytes. */
    public static Object forPython(InternalRow row, StructType type, boolean binaryAsBytes) {
        return EvaluatePython.toJava(row, type, binaryAsBytes, Option.empty());
    }

    /** Keeps a block on the disk; whether it is there. */
    public static boolean keepOnDisk(BlockManager blocks, BlockId block, ChunkedByteBuffer bytes) {
        var any = ClassTag$.MODULE$.apply(Object.class);
        return blocks.putBytes(
                block,
                bytes,
                StorageLevel.DISK_ONLY(),
                true,
                blocks.putBytes$default$5(),
                blocks.putBytes$default$6(),
                any);
    }
}
