package sqlstream.monitor;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.RowDataSourceScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.datasources.v2.MicroBatchScanExec;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.execution.streaming.runtime.IncrementalExecution;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecutionContext;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper;
import org.apache.spark.sql.execution.ui.SQLAppStatusStore;
import org.apache.spark.sql.execution.ui.SQLExecutionUIData;
import org.apache.spark.sql.execution.ui.SQLPlanMetric;
import org.apache.spark.sql.execution.ui.SparkPlanGraphNode;
import org.apache.spark.sql.kafka010.KafkaSourceRDDPartition;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryProgress;
import org.apache.spark.status.api.v1.JobData;
import org.apache.spark.status.api.v1.StageData;
import scala.jdk.javaapi.CollectionConverters;
import sqlstream.kafka.KafkaTopics;
import sqlstream.watermark.LateRows;
import sqlstream.watermark.SourceWatermark;

/** What can be known of a running query from outside, as JSON: one call from Python each time. */
public final class QuerySamples {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long END_MS = 5_000;

    private QuerySamples() {}

    /**
     * A sample of a run of a query: the micro-batches that have ended since {@code after} (their {@code timestamp}),
     * the one that runs, whether it waits for input, how many rows went where, where the splits of its watermarks
     * stand, and whether its brokers answer; {@code look}: and which partitions it does not read yet; how much of the
     * heap is in use.
     */
    public static String of(
            StreamingQuery query,
            QueryRows rows,
            List<SourceWatermark> times,
            List<KafkaTopics> topics,
            String after,
            boolean look)
            throws JsonProcessingException {
        Map<String, Object> sample = new LinkedHashMap<>();
        sample.put("at", System.currentTimeMillis());
        sample.put("ended", ended(query, after));
        sample.put("running", query.isActive() && query.status().isTriggerActive() ? running(query) : null);
        // Spark's words for both triggers, once a look for input has found none.
        sample.put("waits", query.status().message().startsWith("Waiting for"));
        sample.put("real_time", rows.realTime());
        sample.put("read", rows.read());
        sample.put("out", rows.out());
        sample.put("filters", rows.filters());
        sample.put("late", LateRows.count(query.runId().toString()));
        sample.put("times", times.stream().map(SourceWatermark::standing).toList());
        sample.put("topics", topics.stream().map(each -> each.standing(look)).toList());
        Runtime machine = Runtime.getRuntime();
        sample.put("heap", machine.totalMemory() - machine.freeMemory());
        return JSON.writeValueAsString(sample);
    }

    /**
     * A sample of a job in batch mode, whose work is that of a job group: what of {@code frame}, that which it writes,
     * has been read; {@code ended}: all of its work has.
     */
    public static String ofGroup(String group, Dataset<Row> frame, boolean ended) throws JsonProcessingException {
        if (ended) {
            StatusEvents.await(SparkContext.getOrCreate());
        }
        Map<String, Object> sample = new LinkedHashMap<>(work(group, false));
        sample.put("at", System.currentTimeMillis());
        sample.put(
                "rows",
                Math.max(
                        (Long) sample.get("rows"),
                        scanned(frame.sparkSession().sharedState().statusStore(), jobs(group))));
        Extent extent = sample.get("tasks").equals(0)
                ? Extent.NONE
                : extent(frame.queryExecution().executedPlan());
        sample.put("total", extent.rows);
        sample.put("size", extent.bytes);
        return JSON.writeValueAsString(sample);
    }

    private static Set<Object> jobs(String group) {
        Set<Object> jobs = new HashSet<>();
        SparkContext context = SparkContext.getOrCreate();
        for (int id : context.statusTracker().getJobIdsForGroup(group)) {
            if (!ofDelta(job(context, id))) {
                jobs.add(id);
            }
        }
        return jobs;
    }

    /**
     * The rows that have come out of the scans of the queries whose work some of {@code jobs} are: not every source
     * tells its tasks' metrics.
     */
    private static long scanned(SQLAppStatusStore queries, Set<Object> jobs) {
        long rows = 0;
        for (SQLExecutionUIData query : CollectionConverters.asJava(queries.executionsList())) {
            if (Collections.disjoint(CollectionConverters.asJava(query.jobs()).keySet(), jobs)) {
                continue;
            }
            Map<Object, String> values = CollectionConverters.asJava(queries.executionMetrics(query.executionId()));
            for (SparkPlanGraphNode node : CollectionConverters.asJava(
                    queries.planGraph(query.executionId()).allNodes())) {
                for (SQLPlanMetric metric : CollectionConverters.asJava(node.metrics())) {
                    String value = values.get(metric.accumulatorId());
                    if (node.name().startsWith("Scan ")
                            && metric.name().equals("number of output rows")
                            && value != null) {
                        rows += Long.parseLong(value.replace(",", ""));
                    }
                }
            }
        }
        return rows;
    }

    /** Rows of topics and bytes of files that the scans of a plan read. */
    private record Extent(long rows, long bytes) {
        static final Extent NONE = new Extent(0, 0);

        Extent and(Extent other) {
            return new Extent(rows + other.rows, bytes + other.bytes);
        }
    }

    private static Extent extent(SparkPlan plan) {
        if (plan instanceof AdaptiveSparkPlanExec adaptive) {
            return extent(adaptive.inputPlan());
        }
        Extent found = Extent.NONE;
        if (plan instanceof FileSourceScanExec scan) {
            found = new Extent(0, scan.selectedPartitions().totalFileSize());
        } else if (plan instanceof RowDataSourceScanExec scan) {
            for (Partition part : scan.rdd().partitions()) {
                found = part instanceof KafkaSourceRDDPartition records
                        ? found.and(new Extent(records.offsetRange().size(), 0))
                        : found;
            }
        }
        for (SparkPlan child : CollectionConverters.asJava(plan.children())) {
            found = found.and(extent(child));
        }
        return found;
    }

    private static List<Object> ended(StreamingQuery query, String after) throws JsonProcessingException {
        StreamExecution execution = ((StreamingQueryWrapper) query).streamingQuery();
        if (!execution.isActive()) {
            awaitEnd(execution);
        }
        reportLast(execution, query.lastProgress());
        List<Object> found = new ArrayList<>();
        for (StreamingQueryProgress progress : query.recentProgress()) {
            if (progress.timestamp().compareTo(after) > 0) {
                found.add(JSON.readTree(progress.json()));
            }
        }
        return found;
    }

    /** A query's end is known a moment before its thread has ended. */
    private static void awaitEnd(StreamExecution query) {
        try {
            query.queryExecutionThread().join(END_MS);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * A stop interrupts a query wherever it is: its last micro-batch may have been committed, and not reported. Then
     * its report is made here.
     */
    private static void reportLast(StreamExecution query, StreamingQueryProgress last) {
        if (query.queryExecutionThread().isAlive()
                || !(query.getLatestExecutionContext() instanceof MicroBatchExecutionContext batch)) {
            return;
        }
        boolean committed = query.commitLog().getLatestBatchId().contains(batch.batchId());
        if (committed && batch.executionPlan() != null && (last == null || last.batchId() < batch.batchId())) {
            // The stores' commits have been counted up by then.
            query.progressReporter().shouldValidateStateStoreCommit().set(false);
            batch.finishTrigger(
                    !CollectionConverters.asJava(batch.newData()).isEmpty(), batch.executionPlan(), batch.batchId());
        }
    }

    /**
     * The work that is under way, and the offsets from which and up to which each source is read, by its description.
     */
    private static Map<String, Object> running(StreamingQuery query) {
        Map<String, Object> batch = new LinkedHashMap<>(work(query.runId().toString(), true));
        Map<String, Object> start = new LinkedHashMap<>();
        Map<String, Object> end = new LinkedHashMap<>();
        long size = 0;
        // Before there is any work the plan may not have been made, and to ask for it would make it, here.
        IncrementalExecution execution =
                ((StreamingQueryWrapper) query).streamingQuery().lastExecution();
        if (!batch.get("tasks").equals(0) && execution != null) {
            size = reads(execution.executedPlan(), start, end);
        }
        batch.put("start", start);
        batch.put("end", end);
        batch.put("size", size);
        return batch;
    }

    /** Notes what the scans of {@code plan} read; the size of the files among it comes back. */
    private static long reads(SparkPlan plan, Map<String, Object> start, Map<String, Object> end) {
        if (plan instanceof MicroBatchScanExec scan) {
            start.put(scan.stream().toString(), parsed(scan.start().json()));
            end.put(scan.stream().toString(), parsed(scan.end().json()));
        }
        SQLMetric files = plan instanceof FileSourceScanExec scan
                ? CollectionConverters.asJava(scan.metrics()).get("filesSize")
                : null;
        long size = files == null ? 0 : files.value();
        for (SparkPlan child : CollectionConverters.asJava(plan.children())) {
            size += reads(child, start, end);
        }
        return size;
    }

    private static Object parsed(String json) {
        try {
            return JSON.readTree(json);
        } catch (JsonProcessingException e) {
            return json;
        }
    }

    /**
     * The work of a job group, or what of it is {@code running}: rows and bytes read so far, tasks and those that are
     * done.
     */
    private static Map<String, Object> work(String group, boolean running) {
        SparkContext context = SparkContext.getOrCreate();
        long rows = 0;
        long bytes = 0;
        int tasks = 0;
        int done = 0;
        for (int id : context.statusTracker().getJobIdsForGroup(group)) {
            JobData job = job(context, id);
            if (job == null || ofDelta(job) || (running && !job.status().name().equals("RUNNING"))) {
                continue;
            }
            tasks += job.numTasks() - job.numSkippedTasks();
            done += job.numCompletedTasks();
            for (Object stage : CollectionConverters.asJava(job.stageIds())) {
                StageData data = stage(context, (Integer) stage);
                rows += data == null ? 0 : data.inputRecords();
                bytes += data == null ? 0 : data.inputBytes();
            }
        }
        return Map.<String, Object>of("rows", rows, "bytes", bytes, "tasks", tasks, "done", done);
    }

    /** Whether a job reads Delta's log, and not rows. */
    private static boolean ofDelta(JobData job) {
        return job != null
                && job.description().isDefined()
                && job.description().get().startsWith("Delta: ");
    }

    private static JobData job(SparkContext context, int id) {
        try {
            return context.statusStore().job(id);
        } catch (NoSuchElementException e) {
            return null;
        }
    }

    private static StageData stage(SparkContext context, int id) {
        try {
            return context.statusStore().lastStageAttempt(id);
        } catch (NoSuchElementException e) {
            return null;
        }
    }
}
