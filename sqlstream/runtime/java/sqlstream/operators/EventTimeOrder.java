package sqlstream.operators;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.SortExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec;
import scala.jdk.javaapi.CollectionConverters;
import sqlstream.catalyst.Scala;
import sqlstream.watermark.LateRows;

/**
 * Gives {@link EventTimeOperator} the rows of a micro-batch by key and time, where Spark sorts them by key alone, and
 * drops those that are late.
 */
public final class EventTimeOrder {
    private EventTimeOrder() {}

    /** {@code plan}, or what takes its place where it is such an operator. */
    public static SparkPlan of(SparkPlan plan) {
        if (!(plan instanceof TransformWithStateExec exec)
                || !((Object) exec.statefulProcessor() instanceof EventTimeOperator processor)) {
            return plan;
        }
        Attribute time = CollectionConverters.asJava(exec.dataAttributes()).get(processor.time);
        List<SparkPlan> inputs = CollectionConverters.asJava(exec.children());
        SortExec sort = (SortExec) inputs.get(0);
        SparkPlan rows = processor.dropsLate() ? inTime(sort.child(), time, exec) : sort.child();
        List<SortOrder> order = new ArrayList<>(CollectionConverters.asJava(sort.sortOrder()));
        order.add(new SortOrder(
                time, Ascending$.MODULE$, Ascending$.MODULE$.defaultNullOrdering(), PythonUtils.toSeq(List.of())));
        SparkPlan sorted = new SortExec(PythonUtils.toSeq(order), false, rows, sort.testSpillFrequency());
        return exec.withNewChildren(PythonUtils.toSeq(List.of(sorted, inputs.get(1))));
    }

    /** The rows of {@code plan} that are not late, dropped below its shuffle. */
    private static SparkPlan inTime(SparkPlan plan, Attribute time, TransformWithStateExec exec) {
        long watermark = exec.eventTimeWatermarkForLateEvents().getOrElse(() -> 0L);
        // Before there is a watermark Spark has 0.
        if (watermark == 0) {
            return plan;
        }
        SparkPlan rows = plan instanceof ShuffleExchangeExec ? Scala.child(plan) : plan;
        return Scala.replaced(
                plan,
                rows,
                new FilterExec(LateRows.inTime(time, watermark, exec.stateInfo().get()), rows));
    }
}
