package sqlstream.aggregates;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.MutableProjection;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.SpecificInternalRow;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.types.DataType;
import sqlstream.catalyst.Scala;

/** Expressions with aggregate functions in them, over rows that come one by one, in parts. */
public final class RowsAggregate implements Serializable {
    private final Aggregates aggregates;
    private final List<Expression> results = new ArrayList<>();

    /** {@code columns}: the expressions, over rows that have {@code input}. */
    public RowsAggregate(List<NamedExpression> columns, List<Attribute> input) {
        aggregates = new Aggregates(input);
        for (NamedExpression column : columns) {
            Expression value = column instanceof Alias alias ? alias.child() : (Expression) column;
            results.add(
                    Scala.replaced(value, e -> e instanceof AggregateExpression call ? aggregates.add(call) : null));
        }
    }

    /** The computation on one task. */
    public final class Work {
        private final Aggregates.Work work = aggregates.new Work();
        private final SpecificInternalRow result = new SpecificInternalRow(
                Scala.seq(results.stream().map(Expression::dataType).toList()));
        private final MutableProjection projection = MutableProjection.create(
                        Scala.seq(results), Scala.seq(aggregates.shown()))
                .target(result);

        /** Begin with the rows that {@link #end} was asked after, or with none where {@code kept} is null. */
        public void begin(InternalRow kept) {
            work.begin(kept);
        }

        public void add(InternalRow next) {
            work.add(next);
        }

        /** The results over the rows so far; good until they are asked for again. */
        public InternalRow results() {
            return projection.apply(work.results());
        }

        /** What has come of the rows so far; the computation ends. */
        public InternalRow end() {
            return work.end().copy();
        }

        public DataType type(int column) {
            return results.get(column).dataType();
        }
    }
}
