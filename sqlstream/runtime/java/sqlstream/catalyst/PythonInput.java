package sqlstream.catalyst;

import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.python.EvalPythonExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Copies rows before they go to Python: what calls Python takes them for Spark's unsafe ones, which those of an
 * operator with state are not.
 */
public final class PythonInput {
    private PythonInput() {}

    /** {@code plan}, or what takes its place where it calls Python. */
    public static SparkPlan of(SparkPlan plan) {
        if (!(plan instanceof EvalPythonExec)) {
            return plan;
        }
        SparkPlan child = Scala.child(plan);
        if (child instanceof ProjectExec || !ofState(child)) {
            return plan;
        }
        var columns = Scala.<NamedExpression>seq(CollectionConverters.asJava(child.output()));
        return plan.withNewChildren(PythonUtils.toSeq(java.util.List.of(new ProjectExec(columns, child))));
    }

    private static boolean ofState(SparkPlan plan) {
        return plan instanceof TransformWithStateExec
                || CollectionConverters.asJava(plan.children()).stream().anyMatch(PythonInput::ofState);
    }
}
