package sqlstream;

import java.util.UUID;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeStats;
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeStatsAccum;
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeWatermarkExec;
import org.apache.spark.unsafe.types.CalendarInterval;

/**
 * The watermark operator above {@link WatchSplitsExec}. After a micro-batch Spark asks the watermark operators of the plan,
 * which it knows by their class, for the greatest time that they saw; this one answers with the watermark of the splits.
 */
public final class SplitWatermarkExec extends EventTimeWatermarkExec {
    /** Public for Spark, which copies nodes by their constructors. */
    public SplitWatermarkExec(UUID nodeId, Attribute eventTime, CalendarInterval delay, SparkPlan child) {
        super(nodeId, eventTime, delay, child);
    }

    @Override
    public EventTimeStatsAccum eventTimeStats() {
        EventTimeStatsAccum stats = super.eventTimeStats();
        // While the super class is made, there is no child yet.
        SparkPlan splits = stats.isRegistered() ? Plans.below(this, WatchSplitsExec.class) : null;
        Long watermark = splits instanceof WatchSplitsExec found ? found.watermark() : null;
        if (watermark != null) {
            stats.currentStats_$eq(new EventTimeStats(watermark, watermark, watermark, 1));
        }
        return stats;
    }

    @Override
    public RDD<InternalRow> doExecute() {
        return child().execute();
    }

    @Override
    public EventTimeWatermarkExec withNewChildInternal(SparkPlan input) {
        return new SplitWatermarkExec(nodeId(), eventTime(), delay(), input);
    }

    // Spark does not replace a node by one that equals it, whichever of the two it asks.
    @Override
    public boolean equals(Object that) {
        return that instanceof SplitWatermarkExec && super.equals(that);
    }

    @Override
    public boolean canEqual(Object that) {
        return that instanceof SplitWatermarkExec;
    }

    @Override
    public String productPrefix() {
        return "SplitWatermark";
    }
}
