package sqlstream.watermark;

import java.util.List;
import java.util.UUID;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeStats;
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeStatsAccum;
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeWatermarkExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreWriter;
import org.apache.spark.unsafe.types.CalendarInterval;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import sqlstream.catalyst.Scala;

/**
 * Answers for the watermark of {@link SourceWatermark}. After a micro-batch Spark asks the watermark operators of its
 * plan, which it knows by their class wherever they stand, for the greatest time that they saw. Spark's own stands
 * among the rows, which it looks at one by one, outside of generated code. This one looks at none, and answers where
 * nothing has come, too: what others of the query have come to is its watermark where its own splits are idle.
 */
public final class SplitWatermarkExec extends EventTimeWatermarkExec {
    /** On the driver only. */
    private final transient SourceWatermark times;

    /** Public for Spark, which copies nodes by their constructors. */
    public SplitWatermarkExec(
            UUID nodeId, Attribute eventTime, CalendarInterval delay, SparkPlan child, SourceWatermark times) {
        super(nodeId, eventTime, delay, child);
        this.times = times;
    }

    /** {@code plan} with these operators in the place of Spark's that are of SourceWatermark. */
    public static SparkPlan in(SparkPlan plan) {
        // Above the shuffle, if one follows, it parts no generated code. It must stay below what waits for the
        // watermark.
        return Scala.transformed(
                Scala.transformed(plan, SplitWatermarkExec::aboveShuffle), SplitWatermarkExec::inPlace);
    }

    private static SparkPlan inPlace(SparkPlan node) {
        return sparks(node) ? answering((EventTimeWatermarkExec) node, ((EventTimeWatermarkExec) node).child()) : node;
    }

    private static SparkPlan aboveShuffle(SparkPlan node) {
        if (!(node instanceof ShuffleExchangeExec)) {
            return node;
        }
        SparkPlan below = node;
        while (!sparks(below)) {
            List<SparkPlan> inputs = CollectionConverters.asJava(below.children());
            if (inputs.size() != 1 || below instanceof StateStoreWriter) {
                return node;
            }
            below = inputs.get(0);
        }
        return answering((EventTimeWatermarkExec) below, Scala.replaced(node, below, Scala.child(below)));
    }

    private static boolean sparks(SparkPlan node) {
        return node.getClass() == EventTimeWatermarkExec.class
                && SourceWatermark.of(((EventTimeWatermarkExec) node).nodeId()) != null;
    }

    private static SparkPlan answering(EventTimeWatermarkExec spark, SparkPlan rows) {
        return new SplitWatermarkExec(
                spark.nodeId(), spark.eventTime(), spark.delay(), rows, SourceWatermark.of(spark.nodeId()));
    }

    @Override
    public EventTimeStatsAccum eventTimeStats() {
        EventTimeStatsAccum stats = super.eventTimeStats();
        Long watermark = times == null ? null : times.settle();
        if (watermark != null) {
            stats.currentStats_$eq(new EventTimeStats(watermark, watermark, watermark, 1));
        }
        return stats;
    }

    @Override
    public RDD<InternalRow> doExecute() {
        return child().execute();
    }

    // Spark's own would take the watermark's mark off the columns that a window is known by.
    @Override
    public Seq<Attribute> output() {
        return child().output();
    }

    @Override
    public EventTimeWatermarkExec withNewChildInternal(SparkPlan input) {
        return new SplitWatermarkExec(nodeId(), eventTime(), delay(), input, times);
    }

    @Override
    public int productArity() {
        return 5;
    }

    @Override
    public Object productElement(int n) {
        return n == 4 ? times : super.productElement(n);
    }

    @Override
    public boolean equals(Object that) {
        return that instanceof SplitWatermarkExec && super.equals(that);
    }

    @Override
    public boolean canEqual(Object that) {
        return that instanceof SplitWatermarkExec;
    }

    @Override
    public int hashCode() {
        return super.hashCode();
    }

    @Override
    public String productPrefix() {
        return "SplitWatermark";
    }
}
