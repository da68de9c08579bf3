package sqlstream.catalyst;

import java.math.BigDecimal;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.MakeDecimal;
import org.apache.spark.sql.catalyst.expressions.Multiply;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import scala.Option;

/**
 * Expressions as Spark's SQL, to be kept. Whether a text means what its expression does is seen when it is read again.
 */
public final class SqlText {
    private SqlText() {}

    /** {@code expression} over columns that are called {@code names}; null where it reads another. */
    public static String of(Expression expression, Map<ExprId, String> names) {
        boolean[] known = {true};
        Expression named = Scala.replaced(expression, e -> {
            if (e instanceof AttributeReference column) {
                known[0] &= names.containsKey(column.exprId());
                return Scala.attribute(names.getOrDefault(column.exprId(), "unknown"), column.dataType());
            }
            return null;
        });
        return known[0] ? written(named).sql() : null;
    }

    /** What has no name in SQL in other words. */
    private static Expression written(Expression expression) {
        return Scala.replaced(expression, e -> {
            if (!(e instanceof MakeDecimal decimal)) {
                return null;
            }
            Expression whole = cast(written(decimal.child()), DataTypes.createDecimalType(20, 0));
            Expression unit = Literal$.MODULE$.apply(Decimal.apply(BigDecimal.ONE.movePointLeft(decimal.scale())));
            return cast(new Multiply(whole, unit), DataTypes.createDecimalType(decimal.precision(), decimal.scale()));
        });
    }

    private static Expression cast(Expression value, org.apache.spark.sql.types.DataType type) {
        return new Cast(value, type, Option.empty());
    }
}
