package sqlstream.catalyst;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.AnyDataType$;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DayTimeIntervalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.YearMonthIntervalType;

/**
 * Types as a state has them: times of day and intervals, which Spark's schemas of states don't know, are the numbers
 * that rows hold for them.
 */
public final class Stored implements Serializable {
    /** {@code type} in a state; its values are the same. */
    public static DataType type(DataType type) {
        if (type instanceof TimeType || type instanceof DayTimeIntervalType) {
            return DataTypes.LongType;
        }
        if (type instanceof YearMonthIntervalType) {
            return DataTypes.IntegerType;
        }
        if (type instanceof ArrayType array) {
            return new ArrayType(type(array.elementType()), array.containsNull());
        }
        if (type instanceof MapType map) {
            return new MapType(type(map.keyType()), type(map.valueType()), map.valueContainsNull());
        }
        if (type instanceof StructType struct) {
            StructType fields = new StructType();
            for (StructField field : struct.fields()) {
                fields = fields.add(
                        new StructField(field.name(), type(field.dataType()), field.nullable(), field.metadata()));
            }
            return fields;
        }
        return type;
    }

    /** {@code value} with its type in a state. */
    public static Expression of(Expression value) {
        DataType stored = type(value.dataType());
        if (stored.equals(value.dataType())) {
            return value;
        }
        return Scala.call(new Stored(), "same", stored, List.of(value), List.of(AnyDataType$.MODULE$), true);
    }

    public Object same(Object value) {
        return value;
    }
}
