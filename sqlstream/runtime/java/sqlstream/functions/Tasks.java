package sqlstream.functions;

import org.apache.spark.TaskContext;
import org.apache.spark.unsafe.types.UTF8String;

/** What a task of a streaming query knows of itself. */
public final class Tasks {
    private Tasks() {}

    /** The id of the query, a space, and the number of the micro-batch. */
    @SqlFunction(deterministic = false)
    public static UTF8String microBatch() {
        TaskContext task = TaskContext.get();
        return UTF8String.fromString(
                task.getLocalProperty("sql.streaming.queryId") + " " + task.getLocalProperty("streaming.sql.batchId"));
    }
}
