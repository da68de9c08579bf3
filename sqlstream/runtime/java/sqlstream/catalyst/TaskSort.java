package sqlstream.catalyst;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.SortExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.types.AnyDataType$;
import org.apache.spark.sql.types.DataTypes;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Puts the rows that a task has of a micro-batch in order. Spark refuses every sort of a stream, so this one is a
 * filter that keeps all rows until the plan is made.
 */
public final class TaskSort implements Serializable {
    /** {@code frame}, the rows of each task by {@code place}, of any type that has an order. */
    public static Dataset<Row> by(Dataset<Row> frame, Column place) {
        List<Expression> arguments = List.of(ExpressionUtils.expression(place));
        // It is not pure, so that Spark moves it below nothing.
        Expression keep = Scala.call(
                new TaskSort(), "keep", DataTypes.BooleanType, arguments, List.of(AnyDataType$.MODULE$), false);
        return frame.filter(ExpressionUtils.column(keep));
    }

    public boolean keep(Object place) {
        return true;
    }

    /** {@code plan}, or the sort where it is such a filter. */
    public static SparkPlan of(SparkPlan plan) {
        if (!(plan instanceof FilterExec filter
                && filter.condition() instanceof Invoke call
                && call.targetObject() instanceof Literal literal
                && literal.value() instanceof TaskSort)) {
            return plan;
        }
        Expression place = CollectionConverters.asJava(call.arguments()).get(0);
        SortOrder order = new SortOrder(
                place, Ascending$.MODULE$, Ascending$.MODULE$.defaultNullOrdering(), PythonUtils.toSeq(List.of()));
        return new SortExec(PythonUtils.toSeq(List.of(order)), false, filter.child(), 0);
    }
}
