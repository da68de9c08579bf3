package sqlstream;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.UnaryExecNode;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;
import org.apache.spark.api.python.PythonUtils;

/** {@link WatchSplits} at work: one look at two cells of each row. */
public final class WatchSplitsExec extends SparkPlan implements UnaryExecNode {
    private final Attribute time;
    private final Attribute split;
    private final SparkPlan child;
    /** On the driver only. */
    private final transient SplitProgress progress;
    private final SplitTimes times = new SplitTimes();

    /** Public for Spark, which copies nodes by their constructors. */
    public WatchSplitsExec(Attribute time, Attribute split, SplitProgress progress, SparkPlan child) {
        this.time = time;
        this.split = split;
        this.progress = progress;
        this.child = child;
        sparkContext().register(times);
    }

    /** The minimum over the splits, in epoch milliseconds, with what this micro-batch has seen; null while one has had no row. */
    Long watermark() {
        return progress.advance(times.value());
    }

    @Override
    public RDD<InternalRow> doExecute() {
        Watch watch = new Watch(ordinal(time), ordinal(split), times);
        return child.execute().mapPartitions(watch, false, ClassTag$.MODULE$.apply(InternalRow.class));
    }

    private int ordinal(Attribute wanted) {
        List<Attribute> input = CollectionConverters.asJava(child.output());
        for (int i = 0; i < input.size(); i++) {
            if (input.get(i).exprId().equals(wanted.exprId())) {
                return i;
            }
        }
        throw new IllegalStateException("no column " + wanted.name());
    }

    @Override
    public Seq<Attribute> output() {
        return child.output();
    }

    @Override
    public SparkPlan child() {
        return child;
    }

    @Override
    public Seq<SparkPlan> children() {
        return PythonUtils.toSeq(List.of(child));
    }

    @Override
    public SparkPlan withNewChildrenInternal(IndexedSeq<SparkPlan> inputs) {
        return withNewChildInternal(CollectionConverters.asJava(inputs).get(0));
    }

    @Override
    public SparkPlan withNewChildInternal(SparkPlan input) {
        return new WatchSplitsExec(time, split, progress, input);
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
        return that instanceof WatchSplitsExec;
    }

    @Override
    public boolean equals(Object that) {
        return that instanceof WatchSplitsExec other
                && time.equals(other.time)
                && split.equals(other.split)
                && progress == other.progress
                && child.equals(other.child);
    }

    /** Notes the time of every row and takes out the control rows. */
    private static final class Watch extends AbstractFunction1<Iterator<InternalRow>, Iterator<InternalRow>>
            implements Serializable {
        private final int time;
        private final int split;
        private final SplitTimes times;

        Watch(int time, int split, SplitTimes times) {
            this.time = time;
            this.split = split;
            this.times = times;
        }

        @Override
        public Iterator<InternalRow> apply(Iterator<InternalRow> rows) {
            return new AbstractIterator<>() {
                private InternalRow next;

                @Override
                public boolean hasNext() {
                    while (next == null && rows.hasNext()) {
                        InternalRow row = rows.next();
                        boolean control = row.isNullAt(split);
                        if (!row.isNullAt(time)) {
                            times.add(control ? SplitTimes.ALL : row.getInt(split), Math.floorDiv(row.getLong(time), 1000L));
                        }
                        next = control ? null : row;
                    }
                    return next != null;
                }

                @Override
                public InternalRow next() {
                    if (!hasNext()) {
                        throw new java.util.NoSuchElementException();
                    }
                    InternalRow row = next;
                    next = null;
                    return row;
                }
            };
        }
    }
}
