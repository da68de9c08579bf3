package sqlstream.operators;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SortExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec;
import scala.jdk.javaapi.CollectionConverters;
import sqlstream.catalyst.ArrivalNumber;
import sqlstream.catalyst.Scala;

/**
 * An operator to which the order matters in which the rows of a key came: a retraction is of a row that came before.
 * Rows of one task below keep theirs in a shuffle; Spark's sort by key keeps it only until there are too many rows for
 * the memory.
 */
public interface ArrivalOrder {
    /** Whether rows can be retracted, so that their order matters. */
    boolean byArrival();

    /**
     * {@code plan}, or what takes its place where it is such an operator: its rows have their number behind their
     * columns.
     */
    static SparkPlan of(SparkPlan plan) {
        if (!(plan instanceof TransformWithStateExec exec)
                || !((Object) exec.statefulProcessor() instanceof ArrivalOrder operator)
                || !operator.byArrival()
                || !(Scala.list(exec.children()).get(0) instanceof SortExec sort)) {
            // In real time a row is taken as it comes, without a sort.
            return plan;
        }
        List<SparkPlan> inputs = CollectionConverters.asJava(exec.children());
        List<NamedExpression> columns = new ArrayList<>();
        for (Attribute column : CollectionConverters.asJava(sort.child().output())) {
            columns.add(column);
        }
        Alias number = Scala.alias(ArrivalNumber.expression(), "arrival");
        columns.add(number);
        List<SortOrder> order = new ArrayList<>(CollectionConverters.asJava(sort.sortOrder()));
        order.add(new SortOrder(
                number.toAttribute(),
                Ascending$.MODULE$,
                Ascending$.MODULE$.defaultNullOrdering(),
                Scala.seq(List.of())));
        SparkPlan numbered = new ProjectExec(Scala.seq(columns), sort.child());
        SparkPlan sorted = new SortExec(Scala.seq(order), false, numbered, sort.testSpillFrequency());
        return exec.withNewChildren(Scala.seq(List.of(sorted, inputs.get(1))));
    }
}
