package sqlstream;

import java.util.List;
import java.util.UUID;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.UnaryNode;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.unsafe.types.CalendarInterval;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Logical node: notes how far each split of a source has come.
 *
 * <p>{@code time} (TIMESTAMP) has the watermark that a row stands for, {@code split} (INT, from 0) the split that it comes
 * from. A row whose split is NULL is a control row: it raises the watermark of every split, and goes no further. Spark
 * pushes no filter below a node that it does not know, so every row of the source counts, as in Flink.
 */
public final class WatchSplits extends LogicalPlan implements UnaryNode {
    private final Attribute time;
    private final Attribute split;
    private final SplitProgress progress;
    private final LogicalPlan child;

    /** Public for Spark, which copies nodes by their constructors. */
    public WatchSplits(Attribute time, Attribute split, SplitProgress progress, LogicalPlan child) {
        this.time = time;
        this.split = split;
        this.progress = progress;
        this.child = child;
    }

    /** {@code frame} under a watermark that is the minimum over its {@code splits} splits: Flink's rule. */
    public static Dataset<Row> watermark(Dataset<Row> frame, String time, String split, int splits) {
        LogicalPlan plan = frame.queryExecution().analyzed();
        Attribute at = attribute(plan, time);
        LogicalPlan watched = new WatchSplits(at, attribute(plan, split), new SplitProgress(splits), plan);
        LogicalPlan node = new EventTimeWatermark(UUID.randomUUID(), at, new CalendarInterval(0, 0, 0L), watched);
        return Dataset$.MODULE$.ofRows(frame.sparkSession(), node);
    }

    private static Attribute attribute(LogicalPlan plan, String name) {
        for (Attribute attribute : CollectionConverters.asJava(plan.output())) {
            if (attribute.name().equals(name)) {
                return attribute;
            }
        }
        throw new IllegalArgumentException("no column " + name);
    }

    SparkPlan physical(SparkPlan input) {
        return new WatchSplitsExec(time, split, progress, input);
    }

    @Override
    public LogicalPlan child() {
        return child;
    }

    @Override
    public Seq<Attribute> output() {
        return child.output();
    }

    @Override
    public Seq<LogicalPlan> children() {
        return PythonUtils.toSeq(List.of(child));
    }

    @Override
    public LogicalPlan withNewChildrenInternal(IndexedSeq<LogicalPlan> inputs) {
        return withNewChildInternal(CollectionConverters.asJava(inputs).get(0));
    }

    @Override
    public LogicalPlan withNewChildInternal(LogicalPlan input) {
        return new WatchSplits(time, split, progress, input);
    }

    @Override
    public int productArity() {
        return 4;
    }

    @Override
    public Object productElement(int n) {
        return switch (n) {
            case 0 -> time;
            case 1 -> split;
            case 2 -> progress;
            case 3 -> child;
            default -> throw new IndexOutOfBoundsException(n);
        };
    }

    @Override
    public boolean canEqual(Object that) {
        return that instanceof WatchSplits;
    }

    @Override
    public boolean equals(Object that) {
        return that instanceof WatchSplits other
                && time.equals(other.time)
                && split.equals(other.split)
                && progress == other.progress
                && child.equals(other.child);
    }
}
