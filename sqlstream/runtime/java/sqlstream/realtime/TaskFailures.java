package sqlstream.realtime;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.SparkContext;
import org.apache.spark.status.AppStatusStore;
import org.apache.spark.status.api.v1.JobData;
import org.apache.spark.status.api.v1.StageData;
import org.apache.spark.status.api.v1.TaskData;
import sqlstream.catalyst.Scala;

/**
 * What the tasks of a query have failed with. In real time the stages of a micro-batch run at once: where a task fails,
 * those that it is connected to do as well, and Spark tells of the first of which it hears.
 */
public final class TaskFailures {
    private static final int MOST = 1000;

    private TaskFailures() {}

    /** The messages of the tasks that failed in the last job of {@code run}, the id of the run of a query. */
    public static List<String> of(SparkContext context, String run) {
        AppStatusStore store = context.statusStore();
        JobData last = Scala.list(store.jobsList(null)).stream()
                .filter(job -> job.jobGroup().contains(run))
                .max(Comparator.comparingInt(JobData::jobId))
                .orElse(null);
        List<String> failures = new ArrayList<>();
        if (last != null) {
            for (Object stage : Scala.list(last.stageIds())) {
                StageData data = store.lastStageAttempt((Integer) stage);
                for (TaskData task : Scala.list(store.taskList((Integer) stage, data.attemptId(), MOST))) {
                    if (task.status().equals("FAILED") && task.errorMessage().isDefined()) {
                        failures.add(task.errorMessage().get());
                    }
                }
            }
        }
        return failures;
    }
}
