package sqlstream.catalyst;

import java.util.List;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import scala.runtime.AbstractFunction1;

/**
 * Times as values beside the code that Spark generates. A literal is a part of that code, and those of the clock and of
 * the watermark are others in each micro-batch: it would be compiled each time.
 */
public final class Moments {
    private Moments() {}

    /** {@code plan}, which computes without literals that are times where it is one of a streaming query. */
    public static SparkPlan in(SparkPlan plan) {
        if (SparkContext.getOrCreate().getLocalProperty(StreamExecution.QUERY_ID_KEY()) == null) {
            return plan;
        }
        return Scala.transformed(plan, node -> computes(node) ? without(node) : node);
    }

    private static boolean computes(SparkPlan node) {
        return node instanceof FilterExec || node instanceof ProjectExec;
    }

    private static SparkPlan without(SparkPlan node) {
        return node.mapExpressions(new AbstractFunction1<>() {
            @Override
            public Expression apply(Expression expression) {
                return Scala.replaced(expression, Moments::value);
            }
        });
    }

    /** What has the value of {@code part}, a literal that is a time; null for another expression. */
    private static Expression value(Expression part) {
        boolean time = part.dataType() instanceof TimestampType
                || part.dataType() instanceof TimestampNTZType
                || part.dataType() instanceof TimeType;
        return time && part instanceof Literal literal && literal.value() instanceof Long micros
                ? Scala.call(micros, "longValue", part.dataType(), List.of(), List.of(), true)
                : null;
    }
}
