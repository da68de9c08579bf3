package sqlstream.formats;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericFixed;
import org.apache.avro.generic.IndexedRecord;
import org.apache.avro.util.Utf8;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Values between Spark and Avro, both ways, by the schemas that Flink derives from a row's type. */
final class AvroValues {
    private static final long NANOS = 1_000_000L;
    private static final long MICROS = 1_000L;

    private AvroValues() {}

    /** A value of one kind as one of the other; never called with null. */
    private interface Change {
        Object of(Object value);
    }

    /** Makes Avro's records of rows, or rows of records. */
    static final class Rows {
        private final Change change;

        private Rows(Change change) {
            this.change = change;
        }

        /** The record of a row. */
        IndexedRecord record(InternalRow row) {
            return (IndexedRecord) change.of(row);
        }

        /** The row of a record. */
        InternalRow row(IndexedRecord record) {
            return (InternalRow) change.of(record);
        }
    }

    static Rows writer(StructType type, Schema schema) {
        return new Rows(written(type, actual(schema)));
    }

    static Rows reader(StructType type, Schema schema) {
        return new Rows(read(type, actual(schema)));
    }

    /** The part of a record's schema that has the fields of {@code type}. */
    static Schema project(Schema schema, StructType type) {
        List<Schema.Field> fields = new ArrayList<>();
        for (String name : type.fieldNames()) {
            fields.add(new Schema.Field(
                    schema.getField(name), schema.getField(name).schema()));
        }
        return Schema.createRecord(schema.getName(), null, schema.getNamespace(), false, fields);
    }

    /** The schema without the NULL that may stand in its place. */
    static Schema actual(Schema schema) {
        if (schema.getType() != Schema.Type.UNION) {
            return schema;
        }
        return schema.getTypes().stream()
                .filter(type -> type.getType() != Schema.Type.NULL)
                .findFirst()
                .orElseThrow();
    }

    /**
     * The length of a unit of time in Spark's units. Flink has milliseconds also where the schema says microseconds.
     */
    private static long unit(Schema schema) {
        if (schema.getLogicalType() instanceof LogicalTypes.TimeMillis) {
            return NANOS;
        }
        return schema.getType() == Schema.Type.LONG && schema.getLogicalType() != null ? MICROS : 1;
    }

    private static Change written(DataType type, Schema nullable) {
        Schema schema = actual(nullable);
        return switch (schema.getType()) {
            case RECORD -> written((StructType) type, schema);
            case ARRAY -> {
                DataType element = ((ArrayType) type).elementType();
                Change change = written(element, schema.getElementType());
                yield value -> list((ArrayData) value, element, change);
            }
            case MAP -> {
                MapType map = (MapType) type;
                Change change = written(map.valueType(), schema.getValueType());
                yield value -> {
                    MapData entries = (MapData) value;
                    List<Object> values = list(entries.valueArray(), map.valueType(), change);
                    // In the order of Flink's: that of a hash table of this size.
                    int size = values.size();
                    Map<String, Object> found =
                            new HashMap<>(size <= 2 ? size + 1 : (int) Math.ceil(size / 0.75), 0.75f);
                    for (int i = 0; i < size; i++) {
                        found.put(entries.keyArray().getUTF8String(i).toString(), values.get(i));
                    }
                    return found;
                };
            }
            case BYTES ->
                type instanceof DecimalType
                        ? value -> ByteBuffer.wrap(unscaled(value))
                        : value -> ByteBuffer.wrap((byte[]) value);
            case FIXED ->
                type instanceof DecimalType
                        ? value -> new GenericData.Fixed(schema, widened(unscaled(value), schema.getFixedSize()))
                        : value -> new GenericData.Fixed(schema, (byte[]) value);
            case ENUM -> value -> new GenericData.EnumSymbol(schema, value.toString());
            case STRING -> value -> new Utf8(((UTF8String) value).getBytes());
            case INT -> {
                long unit = unit(schema);
                yield value -> (int) (((Number) value).longValue() / unit);
            }
            case LONG -> {
                long unit = unit(schema);
                yield value -> Math.floorDiv((Long) value, unit);
            }
            default -> value -> value;
        };
    }

    private static Change written(StructType type, Schema schema) {
        StructField[] fields = type.fields();
        Change[] changes = new Change[fields.length];
        for (int i = 0; i < fields.length; i++) {
            changes[i] = written(fields[i].dataType(), schema.getFields().get(i).schema());
        }
        return value -> {
            InternalRow row = (InternalRow) value;
            GenericData.Record record = new GenericData.Record(schema);
            for (int i = 0; i < fields.length; i++) {
                record.put(i, row.isNullAt(i) ? null : changes[i].of(row.get(i, fields[i].dataType())));
            }
            return record;
        };
    }

    private static List<Object> list(ArrayData values, DataType type, Change change) {
        List<Object> found = new ArrayList<>(values.numElements());
        for (int i = 0; i < values.numElements(); i++) {
            found.add(values.isNullAt(i) ? null : change.of(values.get(i, type)));
        }
        return found;
    }

    private static Change read(DataType type, Schema nullable) {
        Schema schema = actual(nullable);
        return switch (schema.getType()) {
            case RECORD -> read((StructType) type, schema);
            case ARRAY -> {
                Change change = read(((ArrayType) type).elementType(), schema.getElementType());
                yield value -> array((Iterable<?>) value, change);
            }
            case MAP -> {
                Change change = read(((MapType) type).valueType(), schema.getValueType());
                yield value -> {
                    Map<?, ?> map = (Map<?, ?>) value;
                    return new ArrayBasedMapData(array(map.keySet(), AvroValues::text), array(map.values(), change));
                };
            }
            case BYTES -> {
                if (type instanceof DecimalType decimal) {
                    yield value -> decimal((ByteBuffer) value, decimal);
                }
                yield value -> bytes((ByteBuffer) value);
            }
            case FIXED -> {
                if (type instanceof DecimalType decimal) {
                    yield value -> decimal(ByteBuffer.wrap(((GenericFixed) value).bytes()), decimal);
                }
                yield value -> ((GenericFixed) value).bytes();
            }
            case STRING, ENUM -> AvroValues::text;
            case INT -> {
                long unit = unit(schema);
                if (unit != 1) {
                    yield value -> (Integer) value * unit;
                }
                if (type instanceof ByteType) {
                    yield value -> ((Integer) value).byteValue();
                }
                yield type instanceof ShortType ? value -> ((Integer) value).shortValue() : value -> value;
            }
            case LONG -> {
                long unit = unit(schema);
                yield value -> (Long) value * unit;
            }
            default -> value -> value;
        };
    }

    private static Change read(StructType type, Schema schema) {
        StructField[] fields = type.fields();
        Change[] changes = new Change[fields.length];
        for (int i = 0; i < fields.length; i++) {
            changes[i] = read(fields[i].dataType(), schema.getFields().get(i).schema());
        }
        return value -> {
            IndexedRecord record = (IndexedRecord) value;
            Object[] cells = new Object[fields.length];
            for (int i = 0; i < fields.length; i++) {
                cells[i] = record.get(i) == null ? null : changes[i].of(record.get(i));
            }
            return new GenericInternalRow(cells);
        };
    }

    private static GenericArrayData array(Iterable<?> values, Change change) {
        List<Object> found = new ArrayList<>();
        values.forEach(value -> found.add(value == null ? null : change.of(value)));
        return new GenericArrayData(found.toArray());
    }

    private static Object text(Object value) {
        return UTF8String.fromString(value.toString());
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }

    private static byte[] unscaled(Object decimal) {
        return ((Decimal) decimal).toJavaBigDecimal().unscaledValue().toByteArray();
    }

    /** The same number in {@code size} bytes. */
    private static byte[] widened(byte[] number, int size) {
        byte[] wide = new byte[size];
        Arrays.fill(wide, (byte) (number[0] < 0 ? -1 : 0));
        System.arraycopy(number, 0, wide, size - number.length, number.length);
        return wide;
    }

    /** What has too many digits is NULL. */
    private static Decimal decimal(ByteBuffer unscaled, DecimalType type) {
        BigDecimal exact = new BigDecimal(new BigInteger(bytes(unscaled)), type.scale());
        return exact.precision() > type.precision() ? null : Decimal.apply(exact, type.precision(), type.scale());
    }
}
