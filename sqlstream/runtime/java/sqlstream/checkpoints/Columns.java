package sqlstream.checkpoints;

import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec;
import scala.collection.immutable.Seq;
import sqlstream.catalyst.Scala;

/** What Spark's own operators keep, in words that are the same for the same columns of another plan. */
final class Columns {
    private Columns() {}

    static String types(Seq<Attribute> columns) {
        return Scala.list(columns).stream()
                .map(column -> column.dataType().catalogString())
                .collect(Collectors.joining(", ", "(", ")"));
    }

    /** The aggregates whose buffers {@code plan}, which gives the rows to keep, has. */
    static String buffers(SparkPlan plan) {
        SparkPlan each = plan;
        while (!(each instanceof BaseAggregateExec)
                && Scala.list(each.children()).size() == 1) {
            each = Scala.list(each.children()).get(0);
        }
        List<AggregateExpression> aggregates =
                each instanceof BaseAggregateExec aggregate ? Scala.list(aggregate.aggregateExpressions()) : List.of();
        return aggregates.stream()
                .map(aggregate -> aggregate.aggregateFunction().prettyName() + " of "
                        + Scala.list(aggregate.aggregateFunction().children()).stream()
                                .map(argument -> argument.dataType().catalogString())
                                .collect(Collectors.joining(", ")))
                .collect(Collectors.joining("; ", "[", "]"));
    }

    /** By what the rows of an operator are brought together. */
    static String partitioning(SparkPlan plan) {
        return Scala.list(plan.requiredChildDistribution()).stream()
                .map(each ->
                        each instanceof org.apache.spark.sql.catalyst.plans.physical.StatefulOpClusteredDistribution by
                                ? Scala.list(by.expressions()).stream()
                                        .map(key -> key.dataType().catalogString())
                                        .collect(Collectors.joining(", ", "(", ")"))
                                : "()")
                .collect(Collectors.joining(" and "));
    }
}
