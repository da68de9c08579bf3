package sqlstream;

import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.ColumnarRule;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeWatermarkExec;
import scala.Function1;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractPartialFunction;
import scala.runtime.BoxedUnit;

/** Makes our operators known to a Spark session: named in {@code spark.sql.extensions}. */
public final class Extensions extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> {
    @Override
    public BoxedUnit apply(SparkSessionExtensions extensions) {
        extensions.injectPlannerStrategy(new AbstractFunction1<>() {
            @Override
            public SparkStrategy apply(SparkSession session) {
                return new Operators();
            }
        });
        // The hook for columnar rules is the one that sees every physical plan before code generation, streaming ones included.
        extensions.injectColumnar(new AbstractFunction1<>() {
            @Override
            public ColumnarRule apply(SparkSession session) {
                return before(new Watermarks());
            }
        });
        extensions.injectColumnar(new AbstractFunction1<>() {
            @Override
            public ColumnarRule apply(SparkSession session) {
                return before(new LateSessions());
            }
        });
        return BoxedUnit.UNIT;
    }

    private static ColumnarRule before(Rule<SparkPlan> rule) {
        return new ColumnarRule() {
            @Override
            public Rule<SparkPlan> preColumnarTransitions() {
                return rule;
            }
        };
    }

    private static final class Operators extends SparkStrategy {
        @Override
        public Seq<SparkPlan> apply(LogicalPlan plan) {
            List<SparkPlan> planned = plan instanceof WatchSplits watch
                    ? List.of(watch.physical(planLater(watch.child())))
                    : List.of();
            return PythonUtils.toSeq(planned);
        }
    }

    /** Spark's watermark operator above splits becomes the one that asks them. */
    private static final class Watermarks extends Rule<SparkPlan> {
        @Override
        public SparkPlan apply(SparkPlan plan) {
            return (SparkPlan) plan.transformUp(new AbstractPartialFunction<SparkPlan, SparkPlan>() {
                @Override
                public boolean isDefinedAt(SparkPlan node) {
                    return node.getClass() == EventTimeWatermarkExec.class && Plans.below(node, WatchSplitsExec.class) != null;
                }

                @Override
                public <A extends SparkPlan, B> B applyOrElse(A node, Function1<A, B> other) {
                    if (!isDefinedAt(node)) {
                        return other.apply(node);
                    }
                    EventTimeWatermarkExec found = (EventTimeWatermarkExec) (SparkPlan) node;
                    return (B) new SplitWatermarkExec(found.nodeId(), found.eventTime(), found.delay(), found.child());
                }
            });
        }
    }
}
