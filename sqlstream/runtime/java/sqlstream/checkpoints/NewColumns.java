package sqlstream.checkpoints;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import sqlstream.catalyst.Scala;

/**
 * Values of other columns than those that were kept: each is one of those, by its place, or begins as a new value does.
 */
record NewColumns(List<Integer> places, InternalRow initial) implements Serializable {
    /** What makes rows of {@code to} of rows of {@code from}; each row that it gives is the last one again. */
    java.util.function.UnaryOperator<UnsafeRow> projection(StructType from, StructType to) {
        List<Expression> columns = new ArrayList<>();
        for (int i = 0; i < to.size(); i++) {
            StructField column = to.fields()[i];
            Integer place = places.get(i);
            columns.add(new BoundReference(
                    place == null ? from.size() + i : place,
                    column.dataType(),
                    place == null || from.fields()[place].nullable()));
        }
        UnsafeProjection projection = UnsafeProjection.create(Scala.seq(columns));
        JoinedRow joined = new JoinedRow();
        return row -> projection.apply(joined.apply(row, initial));
    }

    /** Whether the columns that go on have the types that they had. */
    boolean fit(StructType from, StructType to) {
        if (places.size() != to.size()) {
            return false;
        }
        for (int i = 0; i < to.size(); i++) {
            Integer place = places.get(i);
            if (place != null && !from.fields()[place].dataType().equals(to.fields()[i].dataType())) {
                return false;
            }
        }
        return true;
    }
}
