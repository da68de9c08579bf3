package sqlstream;

import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.execution.SparkPlan;
import scala.jdk.javaapi.CollectionConverters;

/** Chains of physical nodes with one input each. */
final class Plans {
    private Plans() {}

    /** The nearest node of class {@code wanted} below {@code plan}; null where there is none before nodes branch. */
    static SparkPlan below(SparkPlan plan, Class<? extends SparkPlan> wanted) {
        List<SparkPlan> inputs = CollectionConverters.asJava(plan.children());
        while (inputs.size() == 1) {
            if (wanted.isInstance(inputs.get(0))) {
                return inputs.get(0);
            }
            inputs = CollectionConverters.asJava(inputs.get(0).children());
        }
        return null;
    }

    /** {@code plan} with {@code old}, which is below it, replaced. */
    static SparkPlan replaced(SparkPlan plan, SparkPlan old, SparkPlan fresh) {
        if (plan == old) {
            return fresh;
        }
        SparkPlan input = CollectionConverters.asJava(plan.children()).get(0);
        return (SparkPlan) plan.withNewChildren(PythonUtils.toSeq(List.of(replaced(input, old, fresh))));
    }
}
