package sqlstream.functions;

import java.nio.charset.StandardCharsets;
import org.apache.spark.TaskContext;

/** What a task of a streaming query knows of itself. */
public final class Tasks {
    private Tasks() {}

    /** The id of the query, a space, and the number of the micro-batch. */
    @SqlFunction(deterministic = false)
    public static byte[] microBatch() {
        TaskContext task = TaskContext.get();
        return (task.getLocalProperty("sql.streaming.queryId") + " " + task.getLocalProperty("streaming.sql.batchId"))
                .getBytes(StandardCharsets.UTF_8);
    }
}
