package sqlstream.operators;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateOrdering$;
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;
import sqlstream.catalyst.RowBytes;
import sqlstream.state.Layout;
import sqlstream.state.StateTable;

/**
 * ORDER BY over a stream: rows in the order of their times, and those of one time in a further order, as the watermark
 * passes them.
 */
public final class TemporalSort extends EventTimeOperator {
    private final List<Attribute> columns;
    private final List<SortOrder> further;
    private transient Comparator<InternalRow> order;
    private transient long last;

    /**
     * The result of {@code sorted}, whose last operation is an orderBy of columns, first of a TIMESTAMP that is never
     * NULL.
     */
    public static Dataset<Row> of(Dataset<Row> sorted) {
        org.apache.spark.sql.classic.Dataset<Row> frame = (org.apache.spark.sql.classic.Dataset<Row>) sorted;
        Sort node = (Sort) ReplaceExpressions.apply(frame.queryExecution().analyzed());
        TemporalSort processor = new TemporalSort(
                CollectionConverters.asJava(node.child().output()), CollectionConverters.asJava(node.order()));
        Dataset<Row> rows =
                Dataset$.MODULE$.ofRows(frame.sparkSession(), node.child()).withColumn("all", functions.lit(0));
        return KeyedProcess.of(
                (org.apache.spark.sql.classic.Dataset<Row>) rows, List.of("all"), sorted.schema(), processor);
    }

    private TemporalSort(List<Attribute> columns, List<SortOrder> order) {
        super(columns.size() + 1, columns.indexOf(order.get(0).child()));
        this.columns = new ArrayList<>(columns);
        further = new ArrayList<>(order.subList(1, order.size()));
    }

    @Override
    public List<Layout> layouts() {
        return List.of(Layout.TEMPORAL_SORT, Layout.EVENT_TIME_BUFFER);
    }

    @Override
    protected void describeWaiting(StateTable table, String waiting, StructType rows) {
        // The only key is no column of the user's.
        table.withoutKeys();
        super.describeWaiting(table, waiting, new StructType(Arrays.copyOf(rows.fields(), columns.size())));
    }

    @Override
    protected void describeOwn(StateTable table, StructType rows) {
        table.with("own", "none");
    }

    @Override
    protected void open() {
        order = further.isEmpty()
                ? null
                : GenerateOrdering$.MODULE$.generate(PythonUtils.toSeq(further), PythonUtils.toSeq(columns));
    }

    @Override
    protected void load(ByteBuffer own) {
        last = own.hasRemaining() ? own.getLong() : Long.MIN_VALUE;
    }

    @Override
    protected byte[] store() {
        return new RowBytes().put(last).all();
    }

    /** Flink takes a row for late when one that is not before it has come out. */
    @Override
    boolean dropsLate() {
        return false;
    }

    @Override
    protected Iterator<InternalRow> process(InternalRow key, Iterator<InternalRow> rows, long watermark) {
        long before = last;
        Iterator<InternalRow> inTime = rows.filter(new AbstractFunction1<>() {
            @Override
            public Boolean apply(InternalRow row) {
                last = Math.max(last, row.getLong(time));
                return row.getLong(time) > before;
            }
        });
        return order == null ? inTime : new SortedPeers(inTime, time, order);
    }
}
