package sqlstream.operators;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.plans.logical.DeserializeToObject;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MapPartitions;
import org.apache.spark.sql.catalyst.plans.logical.SerializeFromObject;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.Option;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;
import sqlstream.catalyst.Scala;

/**
 * What {@link EventTimeOperator} is for streams, for rows that are all there: Spark sorts them by key and time, and an
 * operator gets them key by key.
 */
public final class BoundedProcess {
    private BoundedProcess() {}

    /**
     * What is made of the rows of one key, in the order of their times. A row is good until the next is asked for; all
     * are asked for.
     */
    public interface Processor extends Serializable {
        Iterator<InternalRow> process(Iterator<InternalRow> rows);
    }

    /**
     * What processors make of the rows of {@code frame} that have the same values in {@code keys}; of one processor a
     * task each.
     */
    public static Dataset<Row> of(
            org.apache.spark.sql.classic.Dataset<Row> frame,
            List<String> keys,
            int time,
            StructType output,
            Processor processor) {
        Column[] by = keys.stream().map(frame::col).toArray(Column[]::new);
        List<Column> order = new ArrayList<>(List.of(by));
        order.add(frame.col(frame.columns()[time]));
        var sorted = frame.repartition(by).sortWithinPartitions(order.toArray(Column[]::new));
        LogicalPlan plan = sorted.queryExecution().analyzed();
        List<Expression> cells = new ArrayList<>();
        for (Attribute column : scala.jdk.javaapi.CollectionConverters.asJava(plan.output())) {
            cells.add(Literal$.MODULE$.apply("c" + cells.size()));
            cells.add(column);
        }
        int[] places = keys.stream().mapToInt(List.of(frame.columns())::indexOf).toArray();
        LogicalPlan rows =
                new DeserializeToObject(new CreateNamedStruct(PythonUtils.toSeq(cells)), object("row"), plan);
        Function1<Iterator<Object>, Iterator<Object>> function = new Groups(frame.schema(), places, processor);
        LogicalPlan made = new MapPartitions(function, object("made"), rows);
        Expression row = new BoundReference(0, output, false);
        List<NamedExpression> columns = new ArrayList<>();
        for (int i = 0; i < output.length(); i++) {
            columns.add(Scala.alias(
                    new GetStructField(row, i, Option.empty()), output.apply(i).name()));
        }
        return Dataset$.MODULE$.ofRows(frame.sparkSession(), new SerializeFromObject(PythonUtils.toSeq(columns), made));
    }

    private static AttributeReference object(String name) {
        return Scala.present(name, new ObjectType(InternalRow.class));
    }

    /** Cuts the rows of a partition where the key changes. */
    private static final class Groups extends AbstractFunction1<Iterator<Object>, Iterator<Object>>
            implements Serializable {
        private final StructType type;
        private final int[] keys;
        private final Processor processor;

        private Groups(StructType type, int[] keys, Processor processor) {
            this.type = type;
            this.keys = keys;
            this.processor = processor;
        }

        @Override
        public Iterator<Object> apply(Iterator<Object> rows) {
            List<Expression> columns = new ArrayList<>();
            for (int place : keys) {
                columns.add(new BoundReference(place, type.apply(place).dataType(), true));
            }
            UnsafeProjection whole = UnsafeProjection.create(type);
            UnsafeProjection keyOf = UnsafeProjection.create(PythonUtils.toSeq(columns));
            return new AbstractIterator<>() {
                private UnsafeRow next;
                private UnsafeRow key;
                private Iterator<InternalRow> result;

                private void advance() {
                    next = rows.hasNext() ? whole.apply((InternalRow) rows.next()) : null;
                }

                private boolean inKey() {
                    return next != null && keyOf.apply(next).equals(key);
                }

                private Iterator<InternalRow> group() {
                    key = keyOf.apply(next).copy();
                    return new AbstractIterator<>() {
                        private boolean passed;

                        @Override
                        public boolean hasNext() {
                            if (passed) {
                                passed = false;
                                advance();
                            }
                            return inKey();
                        }

                        @Override
                        public InternalRow next() {
                            passed = true;
                            return next;
                        }
                    };
                }

                @Override
                public boolean hasNext() {
                    if (key == null) {
                        advance();
                    }
                    while (result == null || !result.hasNext()) {
                        if (next == null) {
                            return false;
                        }
                        result = processor.process(group());
                    }
                    return true;
                }

                @Override
                public Object next() {
                    return result.next();
                }
            };
        }
    }
}
