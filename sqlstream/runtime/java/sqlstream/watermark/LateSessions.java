package sqlstream.watermark;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.aggregate.MergingSessionsExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.SessionWindowStateStoreRestoreExec;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;
import sqlstream.catalyst.Scala;

/**
 * A row is late for a session by Flink's rule: after it is merged. Spark drops a row that would be late in a session of
 * its own, also where it belongs to one that is still open. So its own filter is taken out, and one put behind the
 * merge: a session that has state ends after the watermark, so one that does not is made of late rows alone.
 */
public final class LateSessions {
    private LateSessions() {}

    /** {@code plan}, or what takes its place where it merges sessions with those of the state. */
    public static SparkPlan of(SparkPlan plan) {
        if (!(plan instanceof MergingSessionsExec merging)) {
            return plan;
        }
        SparkPlan node = merging.child();
        while (!(node instanceof SessionWindowStateStoreRestoreExec)) {
            List<SparkPlan> inputs = CollectionConverters.asJava(node.children());
            if (inputs.size() != 1) {
                return plan;
            }
            node = inputs.get(0);
        }
        SessionWindowStateStoreRestoreExec restored = (SessionWindowStateStoreRestoreExec) node;
        return restored.eventTimeWatermarkForLateEvents().isDefined() ? behindTheMerge(merging, restored) : plan;
    }

    private static SparkPlan behindTheMerge(MergingSessionsExec merging, SessionWindowStateStoreRestoreExec restored) {
        long watermark = (Long) restored.eventTimeWatermarkForLateEvents().get();
        SparkPlan unfiltered = new SessionWindowStateStoreRestoreExec(
                restored.keyWithoutSessionExpressions(),
                restored.sessionExpression(),
                restored.stateInfo(),
                Option.empty(),
                restored.eventTimeWatermarkForEviction(),
                restored.stateFormatVersion(),
                restored.child());
        SparkPlan merged = Scala.replaced(merging, restored, unfiltered);
        Attribute session = merging.sessionExpression().toAttribute();
        return new FilterExec(
                LateRows.inTime(
                        new GetStructField(session, 1, Option.apply("end")),
                        watermark,
                        restored.stateInfo().get()),
                merged);
    }
}
