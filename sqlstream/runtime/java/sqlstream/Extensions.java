package sqlstream;

import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.ColumnarRule;
import org.apache.spark.sql.execution.SparkPlan;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;
import sqlstream.catalyst.Moments;
import sqlstream.catalyst.PythonInput;
import sqlstream.catalyst.Scala;
import sqlstream.catalyst.TaskSort;
import sqlstream.functions.Functions;
import sqlstream.monitor.QueryRows;
import sqlstream.operators.ArrivalOrder;
import sqlstream.operators.EventTimeOrder;
import sqlstream.operators.HashOrder;
import sqlstream.state.StateSchema;
import sqlstream.watermark.LateRows;
import sqlstream.watermark.LateSessions;
import sqlstream.watermark.SplitWatermarkExec;

/** Makes our operators and functions known to a Spark session: named in {@code spark.sql.extensions}. */
public final class Extensions extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> {
    @Override
    public BoxedUnit apply(SparkSessionExtensions extensions) {
        Functions.register(extensions);
        // The hook for columnar rules is the one that sees every physical plan before code generation, streaming ones
        // included.
        extensions.injectColumnar(new AbstractFunction1<>() {
            @Override
            public ColumnarRule apply(SparkSession session) {
                return new ColumnarRule() {
                    @Override
                    public Rule<SparkPlan> preColumnarTransitions() {
                        return new Replacements();
                    }
                };
            }
        });
        return BoxedUnit.UNIT;
    }

    /** Puts our operators in the place of Spark's. */
    private static final class Replacements extends Rule<SparkPlan> {
        @Override
        public SparkPlan apply(SparkPlan plan) {
            SparkPlan ours = Scala.transformed(
                    SplitWatermarkExec.in(plan),
                    node -> StateSchema.checked(PythonInput.of(HashOrder.of(
                            ArrivalOrder.of(EventTimeOrder.of(TaskSort.of(LateRows.of(LateSessions.of(node)))))))));
            return Moments.in(QueryRows.in(ours));
        }
    }
}
