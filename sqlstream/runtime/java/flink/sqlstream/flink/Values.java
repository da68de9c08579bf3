package sqlstream.flink;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericMapData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.MultisetType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.StructuredType;
import org.apache.flink.table.types.logical.utils.LogicalTypeUtils;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DayTimeIntervalType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.YearMonthIntervalType;
import org.apache.spark.unsafe.types.UTF8String;

/** Values as Spark has them within and as Flink has them within, by Flink's types. NULL is NULL. */
final class Values {
    private static final long NANOS_OF_MILLI = 1_000_000L;

    private Values() {}

    /**
     * {@code type} with ROW in the place of classes of the user's. Raises ValidationException for what SQL has no type
     * for.
     */
    static LogicalType plain(LogicalType type) {
        boolean nullable = type.isNullable();
        return switch (type.getTypeRoot()) {
            case ROW, STRUCTURED_TYPE -> rowOf(type).copy(nullable);
            case ARRAY -> new ArrayType(nullable, plain(((ArrayType) type).getElementType()));
            case MULTISET -> new MultisetType(nullable, plain(((MultisetType) type).getElementType()));
            case MAP ->
                new MapType(nullable, plain(((MapType) type).getKeyType()), plain(((MapType) type).getValueType()));
            case RAW, SYMBOL, DISTINCT_TYPE, UNRESOLVED, DESCRIPTOR ->
                throw new ValidationException("SQL has no type for its values of " + type.asSummaryString() + ".");
            default -> type;
        };
    }

    /** The columns of a table function's rows: those of a row, else one. */
    static RowType row(LogicalType type) {
        return type.isAnyOf(LogicalTypeRoot.ROW, LogicalTypeRoot.STRUCTURED_TYPE)
                ? rowOf(type)
                : RowType.of(new LogicalType[] {plain(type)}, new String[] {"EXPR$0"});
    }

    private static RowType rowOf(LogicalType type) {
        List<RowType.RowField> fields = new ArrayList<>();
        if (type instanceof StructuredType structured) {
            structured.getAttributes().forEach(a -> fields.add(new RowType.RowField(a.getName(), plain(a.getType()))));
        } else {
            ((RowType) type)
                    .getFields()
                    .forEach(f -> fields.add(new RowType.RowField(f.getName(), plain(f.getType()))));
        }
        return new RowType(type.isNullable(), fields);
    }

    /** How Spark has values of a plain type. */
    static DataType type(LogicalType type) {
        return switch (type.getTypeRoot()) {
            case CHAR, VARCHAR -> DataTypes.StringType;
            case BOOLEAN -> DataTypes.BooleanType;
            case BINARY, VARBINARY -> DataTypes.BinaryType;
            case DECIMAL ->
                DataTypes.createDecimalType(((DecimalType) type).getPrecision(), ((DecimalType) type).getScale());
            case TINYINT -> DataTypes.ByteType;
            case SMALLINT -> DataTypes.ShortType;
            case INTEGER -> DataTypes.IntegerType;
            case BIGINT -> DataTypes.LongType;
            case FLOAT -> DataTypes.FloatType;
            case DOUBLE -> DataTypes.DoubleType;
            case DATE -> DataTypes.DateType;
            case TIME_WITHOUT_TIME_ZONE -> new TimeType(6);
            case TIMESTAMP_WITHOUT_TIME_ZONE, TIMESTAMP_WITH_LOCAL_TIME_ZONE -> DataTypes.TimestampType;
            case INTERVAL_YEAR_MONTH -> YearMonthIntervalType.apply();
            case INTERVAL_DAY_TIME -> DayTimeIntervalType.apply();
            case NULL -> DataTypes.NullType;
            case ARRAY -> DataTypes.createArrayType(type(((ArrayType) type).getElementType()));
            case MULTISET ->
                DataTypes.createMapType(type(((MultisetType) type).getElementType()), DataTypes.IntegerType);
            case MAP ->
                DataTypes.createMapType(type(((MapType) type).getKeyType()), type(((MapType) type).getValueType()));
            case ROW -> {
                StructType row = new StructType();
                for (RowType.RowField field : ((RowType) type).getFields()) {
                    row = row.add(field.getName(), type(field.getType()));
                }
                yield row;
            }
            default ->
                throw new ValidationException(
                        "Values of " + type.asSummaryString() + " are not passed to functions in Java.");
        };
    }

    /** From Spark's values of a plain type to Flink's. */
    static UnaryOperator<Object> toFlink(LogicalType type) {
        return orNull(
                switch (type.getTypeRoot()) {
                    case CHAR, VARCHAR -> v -> StringData.fromBytes(((UTF8String) v).getBytes());
                    case DECIMAL -> decimal((DecimalType) type);
                    case TIME_WITHOUT_TIME_ZONE -> v -> (int) ((Long) v / NANOS_OF_MILLI);
                    case TIMESTAMP_WITHOUT_TIME_ZONE, TIMESTAMP_WITH_LOCAL_TIME_ZONE ->
                        v -> TimestampData.fromEpochMillis(
                                Math.floorDiv((Long) v, 1000L), (int) Math.floorMod((Long) v, 1000L) * 1000);
                    case INTERVAL_DAY_TIME -> v -> Math.floorDiv((Long) v, 1000L);
                    case ARRAY -> array(((ArrayType) type).getElementType());
                    case MULTISET -> map(((MultisetType) type).getElementType(), new IntType());
                    case MAP -> map(((MapType) type).getKeyType(), ((MapType) type).getValueType());
                    case ROW -> fields(type.getChildren());
                    default -> v -> v;
                });
    }

    private static UnaryOperator<Object> decimal(DecimalType type) {
        return v -> DecimalData.fromBigDecimal(((Decimal) v).toJavaBigDecimal(), type.getPrecision(), type.getScale());
    }

    private static UnaryOperator<Object> fields(List<LogicalType> types) {
        List<DataType> of = types.stream().map(Values::type).toList();
        List<UnaryOperator<Object>> each = types.stream().map(Values::toFlink).toList();
        return v -> {
            InternalRow row = (InternalRow) v;
            GenericRowData made = new GenericRowData(of.size());
            for (int i = 0; i < of.size(); i++) {
                made.setField(i, row.isNullAt(i) ? null : each.get(i).apply(row.get(i, of.get(i))));
            }
            return made;
        };
    }

    private static UnaryOperator<Object> map(LogicalType key, LogicalType value) {
        DataType keyType = type(key);
        DataType valueType = type(value);
        UnaryOperator<Object> keys = toFlink(key);
        UnaryOperator<Object> values = toFlink(value);
        return v -> {
            org.apache.spark.sql.catalyst.util.MapData map = (org.apache.spark.sql.catalyst.util.MapData) v;
            Map<Object, Object> made = new LinkedHashMap<>();
            for (int i = 0; i < map.numElements(); i++) {
                Object of =
                        map.valueArray().isNullAt(i) ? null : map.valueArray().get(i, valueType);
                made.put(keys.apply(map.keyArray().get(i, keyType)), values.apply(of));
            }
            return new GenericMapData(made);
        };
    }

    private static UnaryOperator<Object> array(LogicalType element) {
        DataType of = type(element);
        Class<?> within = LogicalTypeUtils.toInternalConversionClass(element);
        UnaryOperator<Object> each = toFlink(element);
        return v -> {
            org.apache.spark.sql.catalyst.util.ArrayData array = (org.apache.spark.sql.catalyst.util.ArrayData) v;
            // Flink gives the array itself to functions whose elements are the same within and without.
            Object[] made = (Object[]) Array.newInstance(within, array.numElements());
            for (int i = 0; i < made.length; i++) {
                made[i] = array.isNullAt(i) ? null : each.apply(array.get(i, of));
            }
            return new GenericArrayData(made);
        };
    }

    /** From Flink's values of a plain type to Spark's. */
    static UnaryOperator<Object> toSpark(LogicalType type) {
        return orNull(
                switch (type.getTypeRoot()) {
                    case CHAR, VARCHAR -> v -> UTF8String.fromBytes(((StringData) v).toBytes());
                    case DECIMAL ->
                        v -> Decimal.apply(
                                ((DecimalData) v).toBigDecimal(),
                                ((DecimalType) type).getPrecision(),
                                ((DecimalType) type).getScale());
                    case TIME_WITHOUT_TIME_ZONE -> v -> (Integer) v * NANOS_OF_MILLI;
                    case TIMESTAMP_WITHOUT_TIME_ZONE, TIMESTAMP_WITH_LOCAL_TIME_ZONE ->
                        v -> {
                            TimestampData at = (TimestampData) v;
                            return Math.addExact(
                                    Math.multiplyExact(at.getMillisecond(), 1000L), at.getNanoOfMillisecond() / 1000);
                        };
                    case INTERVAL_DAY_TIME -> v -> Math.multiplyExact((Long) v, 1000L);
                    case ARRAY -> elements(((ArrayType) type).getElementType());
                    case MULTISET -> entries(((MultisetType) type).getElementType(), new IntType());
                    case MAP -> entries(((MapType) type).getKeyType(), ((MapType) type).getValueType());
                    case ROW -> columns(type.getChildren());
                    default -> v -> v;
                });
    }

    private static UnaryOperator<Object> columns(List<LogicalType> types) {
        List<RowData.FieldGetter> getters = new ArrayList<>();
        types.forEach(t -> getters.add(RowData.createFieldGetter(t.copy(true), getters.size())));
        List<UnaryOperator<Object>> each = types.stream().map(Values::toSpark).toList();
        return v -> {
            Object[] made = new Object[each.size()];
            for (int i = 0; i < made.length; i++) {
                made[i] = each.get(i).apply(getters.get(i).getFieldOrNull((RowData) v));
            }
            return new GenericInternalRow(made);
        };
    }

    private static UnaryOperator<Object> elements(LogicalType element) {
        ArrayData.ElementGetter getter = ArrayData.createElementGetter(element.copy(true));
        UnaryOperator<Object> each = toSpark(element);
        return v -> {
            ArrayData array = (ArrayData) v;
            Object[] made = new Object[array.size()];
            for (int i = 0; i < made.length; i++) {
                made[i] = each.apply(getter.getElementOrNull(array, i));
            }
            return new org.apache.spark.sql.catalyst.util.GenericArrayData(made);
        };
    }

    private static UnaryOperator<Object> entries(LogicalType key, LogicalType value) {
        UnaryOperator<Object> keys = elements(key);
        UnaryOperator<Object> values = elements(value);
        return v -> new ArrayBasedMapData(
                (org.apache.spark.sql.catalyst.util.ArrayData) keys.apply(((MapData) v).keyArray()),
                (org.apache.spark.sql.catalyst.util.ArrayData) values.apply(((MapData) v).valueArray()));
    }

    private static UnaryOperator<Object> orNull(UnaryOperator<Object> convert) {
        return v -> v == null ? null : convert.apply(v);
    }
}
