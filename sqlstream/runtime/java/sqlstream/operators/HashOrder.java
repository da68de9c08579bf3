package sqlstream.operators;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.execution.SortExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec;
import scala.jdk.javaapi.CollectionConverters;
import sqlstream.catalyst.Scala;
import sqlstream.state.KeyedOperator;

/**
 * An operator to which the order of a key's rows does not matter has them by the hash of the key alone, where Spark
 * sorts them by the key: one number of eight bytes, which Spark sorts without comparing rows. Keys that share a hash
 * may alternate then, so that the operator sees such a key more than once in a micro-batch, as it would in several.
 */
public final class HashOrder {
    private HashOrder() {}

    /** {@code plan}, or what takes its place where it is such an operator. */
    public static SparkPlan of(SparkPlan plan) {
        if (!(plan instanceof TransformWithStateExec exec)
                || !((Object) exec.statefulProcessor() instanceof KeyedOperator operator)
                || operator instanceof EventTimeOperator
                || (operator instanceof ArrivalOrder ordered && ordered.byArrival())
                || !(Scala.list(exec.children()).get(0) instanceof SortExec sort)) {
            return plan;
        }
        List<SortOrder> order = CollectionConverters.asJava(sort.sortOrder());
        boolean byHash = order.get(0).child() instanceof Attribute first
                && first.name().equals(KeyedProcess.HASH)
                && order.size() == Scala.list(exec.groupingAttributes()).size();
        if (!byHash || order.size() == 1) {
            return plan;
        }
        SparkPlan sorted =
                new SortExec(Scala.seq(List.of(order.get(0))), false, sort.child(), sort.testSpillFrequency());
        return exec.withNewChildren(
                Scala.seq(List.of(sorted, Scala.list(exec.children()).get(1))));
    }
}
