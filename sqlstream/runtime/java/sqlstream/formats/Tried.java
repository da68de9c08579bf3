package sqlstream.formats;

import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.TryEval;
import org.apache.spark.sql.classic.ExpressionUtils;

/** Values that are NULL where computing them raises an error. */
public final class Tried {
    private Tried() {}

    /** {@code value}, or NULL. */
    public static Column of(Column value) {
        return ExpressionUtils.column(new TryEval(ExpressionUtils.expression(value)));
    }
}
