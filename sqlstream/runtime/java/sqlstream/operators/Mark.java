package sqlstream.operators;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import sqlstream.catalyst.Scala;
import sqlstream.state.ValueCounts;

/**
 * A column that says which rows of a key bring new values of some columns, or take the last of such away: 1 in a row
 * that brings them, -1 in one that removes them, else 0.
 *
 * @param column the name of the mark
 * @param filter a column that is TRUE in rows that count; null where all do
 * @param arguments the columns with the values
 */
record Mark(String column, String filter, List<String> arguments) {
    /** The column itself, of {@code rows}, in which it only has its place. */
    Attribute of(LogicalPlan rows) {
        return Scala.named(rows, column);
    }

    /** The columns with the values, of {@code rows}. */
    List<Attribute> values(LogicalPlan rows) {
        return arguments.stream().map(name -> Scala.named(rows, name)).toList();
    }

    /** How often each value is in {@code rows}. */
    ValueCounts counts(LogicalPlan rows) {
        List<Expression> values = List.copyOf(values(rows));
        return new ValueCounts(values, filter == null ? null : Scala.named(rows, filter));
    }
}
