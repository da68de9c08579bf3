package sqlstream.catalyst;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.DataTypes;

/**
 * Numbers for the rows of each task, in the order in which they come: what they are put in order by when a shuffle has
 * mixed them.
 */
public final class ArrivalNumber implements Serializable {
    private transient long next;

    /** A row's number, BIGINT. */
    public static Column column() {
        return ExpressionUtils.column(expression());
    }

    public static Expression expression() {
        return Scala.call(new ArrivalNumber(), "next", DataTypes.LongType, List.of(), List.of(), false);
    }

    public long next() {
        return next++;
    }
}
