package sqlstream;

import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.aggregate.MergingSessionsExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.SessionWindowStateStoreRestoreExec;
import org.apache.spark.sql.types.DataTypes;
import scala.Function1;
import scala.Option;
import scala.runtime.AbstractPartialFunction;

/**
 * A row is late for a session by Flink's rule: after it is merged. Spark drops a row that would be late in a session of
 * its own, also where it belongs to one that is still open. So its own filter is taken out, and one put behind the merge:
 * a session that has state ends after the watermark, so one that does not is made of late rows alone.
 */
final class LateSessions extends Rule<SparkPlan> {
    @Override
    public SparkPlan apply(SparkPlan plan) {
        return (SparkPlan) plan.transformUp(new AbstractPartialFunction<SparkPlan, SparkPlan>() {
            @Override
            public boolean isDefinedAt(SparkPlan node) {
                return node instanceof MergingSessionsExec merging && restored(merging) != null;
            }

            @Override
            public <A extends SparkPlan, B> B applyOrElse(A node, Function1<A, B> other) {
                return isDefinedAt(node) ? (B) behindTheMerge((MergingSessionsExec) (SparkPlan) node) : other.apply(node);
            }
        });
    }

    private static SessionWindowStateStoreRestoreExec restored(SparkPlan merging) {
        SparkPlan below = Plans.below(merging, SessionWindowStateStoreRestoreExec.class);
        return below instanceof SessionWindowStateStoreRestoreExec found && found.eventTimeWatermarkForLateEvents().isDefined()
                ? found
                : null;
    }

    private static SparkPlan behindTheMerge(MergingSessionsExec merging) {
        SessionWindowStateStoreRestoreExec restored = restored(merging);
        long watermark = (Long) restored.eventTimeWatermarkForLateEvents().get();
        SparkPlan unfiltered = new SessionWindowStateStoreRestoreExec(
                restored.keyWithoutSessionExpressions(),
                restored.sessionExpression(),
                restored.stateInfo(),
                Option.empty(),
                restored.eventTimeWatermarkForEviction(),
                restored.stateFormatVersion(),
                restored.child());
        SparkPlan merged = Plans.replaced(merging, restored, unfiltered);
        Attribute session = merging.sessionExpression().toAttribute();
        return new FilterExec(
                new GreaterThan(
                        new GetStructField(session, 1, Option.apply("end")),
                        new Literal(watermark * 1000L, DataTypes.TimestampType)),
                merged);
    }
}
