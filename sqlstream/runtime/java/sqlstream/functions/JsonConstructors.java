package sqlstream.functions;

import com.fasterxml.jackson.databind.util.RawValue;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.sql.types.VariantType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * JSON_STRING, JSON_ARRAY and JSON_OBJECT, and what makes one text of those that an aggregate collected.
 *
 * <p>The values come as a struct, and with it the DDL of its types in which TIMESTAMP_NTZ is a TIMESTAMP without a
 * zone. A field whose name begins with "json" holds JSON that goes into the result as it is.
 */
public final class JsonConstructors {
    private static final Compiled<StructType> TYPES = new Compiled<>(StructType::fromDDL);
    private static final String RAW = "json";

    private JsonConstructors() {}

    @SqlFunction
    public static UTF8String jsonString(InternalRow value, UTF8String types) {
        return value.isNullAt(0) ? null : Json.write(field(value, 0, TYPES.of(types)));
    }

    @SqlFunction
    public static UTF8String jsonArray(InternalRow values, UTF8String types, boolean absent) {
        StructType schema = TYPES.of(types);
        List<Object> found = new ArrayList<>();
        for (int i = 0; i < schema.length(); i++) {
            if (!absent || !values.isNullAt(i)) {
                found.add(field(values, i, schema));
            }
        }
        return Json.write(found);
    }

    /** Of names and values in turn. */
    @SqlFunction
    public static UTF8String jsonObject(InternalRow pairs, UTF8String types, boolean absent) {
        StructType schema = TYPES.of(types);
        Map<String, Object> found = new TreeMap<>();
        for (int i = 0; i < schema.length(); i += 2) {
            if (pairs.isNullAt(i)) {
                throw Failure.of("A name of JSON_OBJECT is NULL.");
            }
            if (!absent || !pairs.isNullAt(i + 1)) {
                found.put(pairs.getUTF8String(i).toString(), field(pairs, i + 1, schema));
            }
        }
        return Json.write(found);
    }

    /** JSON_OBJECTAGG: of structs of a name and a JSON text. */
    @SqlFunction
    public static UTF8String jsonObjectOf(ArrayData pairs, boolean absent) {
        Map<String, Object> found = new TreeMap<>();
        for (int i = 0; i < pairs.numElements(); i++) {
            InternalRow pair = pairs.getStruct(i, 2);
            if (pair.isNullAt(0)) {
                throw Failure.of("A name of JSON_OBJECTAGG is NULL.");
            }
            String name = pair.getUTF8String(0).toString();
            if (found.containsKey(name)) {
                throw Failure.of("Key '" + name
                        + "' is already present. Duplicate keys are not allowed in JSON_OBJECTAGG. Please"
                        + " ensure that keys are unique.");
            }
            if (!absent || !pair.isNullAt(1)) {
                found.put(
                        name,
                        pair.isNullAt(1)
                                ? null
                                : new RawValue(pair.getUTF8String(1).toString()));
            }
        }
        return Json.write(found);
    }

    private static Object field(InternalRow row, int i, StructType schema) {
        StructField field = schema.fields()[i];
        boolean raw = field.name().startsWith(RAW) && !row.isNullAt(i);
        return raw ? new RawValue(row.getUTF8String(i).toString()) : value(row, i, field.dataType());
    }

    private static Object value(SpecializedGetters in, int i, DataType type) {
        if (in.isNullAt(i)) {
            return null;
        } else if (type instanceof StringType) {
            return in.getUTF8String(i).toString();
        } else if (type instanceof BooleanType) {
            return in.getBoolean(i);
        } else if (type instanceof IntegerType) {
            return in.getInt(i);
        } else if (type instanceof LongType) {
            return in.getLong(i);
        } else if (type instanceof ShortType) {
            return in.getShort(i);
        } else if (type instanceof ByteType) {
            return in.getByte(i);
        } else if (type instanceof DoubleType) {
            return number(in.getDouble(i));
        } else if (type instanceof FloatType) {
            return number(in.getFloat(i));
        } else if (type instanceof DecimalType decimal) {
            return in.getDecimal(i, decimal.precision(), decimal.scale()).toJavaBigDecimal();
        } else if (type instanceof BinaryType) {
            return in.getBinary(i);
        } else if (type instanceof TimestampNTZType) {
            return time(in.getLong(i));
        } else if (type instanceof TimestampType) {
            return time(in.getLong(i)) + "Z";
        } else if (type instanceof VariantType) {
            return new RawValue(Variants.variantText(in.getVariant(i)).toString());
        } else if (type instanceof ArrayType array) {
            return array(in.getArray(i), array.elementType());
        } else if (type instanceof MapType map) {
            return map(in.getMap(i), map);
        } else if (type instanceof StructType struct) {
            return row(in.getStruct(i, struct.length()), struct);
        }
        throw new IllegalArgumentException(type.sql());
    }

    /** A double is written as a decimal number, NaN and Infinity as texts. */
    private static Object number(double value) {
        return Double.isNaN(value) || Double.isInfinite(value) ? (Object) value : BigDecimal.valueOf(value);
    }

    private static String time(long micros) {
        Instant instant = Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
        return LocalDateTime.ofInstant(instant, ZoneOffset.UTC).format(DateTimeFormatter.ISO_LOCAL_DATE_TIME);
    }

    private static List<Object> array(ArrayData array, DataType element) {
        List<Object> found = new ArrayList<>(array.numElements());
        for (int i = 0; i < array.numElements(); i++) {
            found.add(value(array, i, element));
        }
        return found;
    }

    private static Map<String, Object> map(MapData map, MapType type) {
        Map<String, Object> found = new TreeMap<>();
        for (int i = 0; i < map.numElements(); i++) {
            if (map.keyArray().isNullAt(i)) {
                throw Failure.of("Key at index " + i + " was null. This is not supported during conversion to JSON.");
            }
            found.put(map.keyArray().getUTF8String(i).toString(), value(map.valueArray(), i, type.valueType()));
        }
        return found;
    }

    private static Map<String, Object> row(InternalRow row, StructType type) {
        Map<String, Object> found = new TreeMap<>();
        for (int i = 0; i < type.length(); i++) {
            found.put(type.fields()[i].name(), value(row, i, type.fields()[i].dataType()));
        }
        return found;
    }
}
