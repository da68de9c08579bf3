package sqlstream.formats;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.sparkproject.spark_core.protobuf.ByteString;
import org.sparkproject.spark_core.protobuf.Descriptors.Descriptor;
import org.sparkproject.spark_core.protobuf.Descriptors.EnumDescriptor;
import org.sparkproject.spark_core.protobuf.Descriptors.EnumValueDescriptor;
import org.sparkproject.spark_core.protobuf.Descriptors.FieldDescriptor;
import org.sparkproject.spark_core.protobuf.Descriptors.FieldDescriptor.JavaType;
import org.sparkproject.spark_core.protobuf.DynamicMessage;
import org.sparkproject.spark_core.protobuf.MapEntry;
import org.sparkproject.spark_core.protobuf.Message;

/** Values between Spark and Protobuf, both ways. */
final class ProtobufValues {
    private ProtobufValues() {}

    /** A value of one kind as one of the other; never called with null. */
    interface Change {
        Object of(Object value);
    }

    private static IllegalStateException missing(Descriptor message, String name) {
        return new IllegalStateException("The message " + message.getFullName() + " has no field " + name);
    }

    private static FieldDescriptor key(FieldDescriptor map) {
        return map.getMessageType().findFieldByNumber(1);
    }

    private static FieldDescriptor value(FieldDescriptor map) {
        return map.getMessageType().findFieldByNumber(2);
    }

    /** Makes rows of messages. */
    static final class Reading {
        private final boolean defaults;
        private final boolean defaultsOfPlain;
        private final boolean checked;

        private Reading(boolean defaults, boolean defaultsOfPlain, boolean checked) {
            this.defaults = defaults;
            this.defaultsOfPlain = defaultsOfPlain;
            this.checked = checked;
        }

        /**
         * Of messages whose fields are known to fit.
         *
         * @param defaults whether what is not there has its default value, else NULL
         * @param defaultsOfPlain the same of what is neither a message nor many values
         */
        static Reading of(boolean defaults, boolean defaultsOfPlain) {
            return new Reading(defaults, defaultsOfPlain, false);
        }

        /** Of any messages: what is not there is NULL, what does not fit raises IllegalArgumentException. */
        static Reading byName() {
            return new Reading(false, false, true);
        }

        Change row(StructType type, Descriptor message) {
            StructField[] columns = type.fields();
            FieldDescriptor[] fields = new FieldDescriptor[columns.length];
            Change[] changes = new Change[columns.length];
            for (int i = 0; i < columns.length; i++) {
                fields[i] = message.findFieldByName(columns[i].name());
                if (fields[i] != null) {
                    changes[i] = ofField(columns[i].dataType(), fields[i]);
                } else if (!checked) {
                    throw missing(message, columns[i].name());
                }
            }
            return value -> {
                Message of = (Message) value;
                Object[] cells = new Object[fields.length];
                for (int i = 0; i < cells.length; i++) {
                    cells[i] = isThere(of, fields[i]) ? changes[i].of(of.getField(fields[i])) : null;
                }
                return new GenericInternalRow(cells);
            };
        }

        private boolean isThere(Message message, FieldDescriptor field) {
            if (field == null) {
                return false;
            }
            if (field.isRepeated()) {
                return defaults || message.getRepeatedFieldCount(field) > 0;
            }
            boolean always = field.getJavaType() == JavaType.MESSAGE ? defaults : defaultsOfPlain;
            return always || !field.hasPresence() || message.hasField(field);
        }

        private Change ofField(DataType type, FieldDescriptor field) {
            if (field.isMapField()) {
                MapType map = as(MapType.class, type, field);
                Change key = one(map.keyType(), key(field));
                Change value = one(map.valueType(), value(field));
                return entries -> map((List<?>) entries, field, key, value);
            }
            if (field.isRepeated()) {
                Change change = one(as(ArrayType.class, type, field).elementType(), field);
                return values -> array((List<?>) values, change);
            }
            return one(type, field);
        }

        private static <T extends DataType> T as(Class<T> wanted, DataType type, FieldDescriptor field) {
            if (!wanted.isInstance(type)) {
                throw other(type, field);
            }
            return wanted.cast(type);
        }

        private static IllegalArgumentException other(DataType type, FieldDescriptor field) {
            String many = field.isMapField() ? "map" : field.isRepeated() ? "repeated " : "";
            String kind = field.isMapField() ? "" : field.getType().name().toLowerCase(Locale.ROOT);
            String read = type.sql().replace("STRUCT<", "ROW<");
            return new IllegalArgumentException(
                    "Field '" + field.getName() + "' is written as " + many + kind + ", and read as " + read);
        }

        private Change one(DataType type, FieldDescriptor field) {
            if (checked && field.getJavaType() != JavaType.MESSAGE && field.getJavaType() != JavaType.ENUM) {
                return number(type, field);
            }
            return switch (field.getJavaType()) {
                case MESSAGE -> row(as(StructType.class, type, field), field.getMessageType());
                case STRING -> value -> UTF8String.fromString((String) value);
                case BYTE_STRING -> value -> ((ByteString) value).toByteArray();
                case ENUM -> ofEnum(type, field);
                default -> value -> value;
            };
        }

        /** What a plain field becomes, as a column that can have each of its values. */
        private static Change number(DataType type, FieldDescriptor field) {
            boolean wide = type instanceof LongType;
            boolean fits = switch (field.getType()) {
                case STRING -> type instanceof StringType;
                case BYTES -> type instanceof BinaryType;
                case BOOL -> type instanceof BooleanType;
                case FLOAT -> type instanceof FloatType || type instanceof DoubleType;
                case DOUBLE -> type instanceof DoubleType;
                case INT32, SINT32, SFIXED32 ->
                    wide || type instanceof IntegerType || type instanceof ShortType || type instanceof ByteType;
                default -> wide;
            };
            if (!fits) {
                throw other(type, field);
            }
            return switch (field.getType()) {
                case STRING -> value -> UTF8String.fromString((String) value);
                case BYTES -> value -> ((ByteString) value).toByteArray();
                case FLOAT -> type instanceof FloatType ? value -> value : value -> (double) (Float) value;
                case UINT32, FIXED32 -> value -> Integer.toUnsignedLong((Integer) value);
                case UINT64, FIXED64 -> value -> within((Long) value, 0, Long.MAX_VALUE, type, field);
                case INT32, SINT32, SFIXED32 -> {
                    if (wide) {
                        yield value -> (long) (Integer) value;
                    }
                    if (type instanceof ShortType) {
                        yield value -> (short) within((Integer) value, Short.MIN_VALUE, Short.MAX_VALUE, type, field);
                    }
                    if (type instanceof ByteType) {
                        yield value -> (byte) within((Integer) value, Byte.MIN_VALUE, Byte.MAX_VALUE, type, field);
                    }
                    yield value -> value;
                }
                default -> value -> value;
            };
        }

        private static long within(long value, long least, long most, DataType type, FieldDescriptor field) {
            if (value < least || value > most) {
                String shown = least == 0 ? Long.toUnsignedString(value) : Long.toString(value);
                throw new IllegalArgumentException(
                        "Field '" + field.getName() + "' is " + shown + ", which a " + type.sql() + " can't have");
            }
            return value;
        }

        private static Change ofEnum(DataType type, FieldDescriptor field) {
            if (type instanceof ByteType) {
                return value -> (byte) number(value);
            }
            if (type instanceof ShortType) {
                return value -> (short) number(value);
            }
            if (type instanceof IntegerType) {
                return ProtobufValues.Reading::number;
            }
            if (type instanceof LongType) {
                return value -> (long) number(value);
            }
            as(StringType.class, type, field);
            return value ->
                    UTF8String.fromString(isKnown(value) ? ((EnumValueDescriptor) value).getName() : "UNRECOGNIZED");
        }

        private static int number(Object value) {
            if (!isKnown(value)) {
                throw new IllegalArgumentException("Can't get the number of an unknown enum value.");
            }
            return ((EnumValueDescriptor) value).getNumber();
        }

        private static boolean isKnown(Object value) {
            EnumValueDescriptor constant = (EnumValueDescriptor) value;
            return constant.getType().findValueByNumber(constant.getNumber()) != null;
        }

        private static GenericArrayData array(List<?> values, Change change) {
            return new GenericArrayData(values.stream().map(change::of).toArray());
        }

        private static MapData map(List<?> entries, FieldDescriptor field, Change key, Change value) {
            Map<Object, Object> found = new LinkedHashMap<>();
            for (Object entry : entries) {
                Message pair = (Message) entry;
                found.put(pair.getField(key(field)), pair.getField(value(field)));
            }
            return new ArrayBasedMapData(
                    array(List.copyOf(found.keySet()), key), array(new ArrayList<>(found.values()), value));
        }
    }

    /** Makes messages of rows. */
    static final class Writing {
        private final String nullText;

        /** @param nullText what is written for a NULL in an array or a map of strings */
        Writing(String nullText) {
            this.nullText = nullText;
        }

        Change row(StructType type, Descriptor message) {
            StructField[] columns = type.fields();
            FieldDescriptor[] fields = new FieldDescriptor[columns.length];
            Change[] changes = new Change[columns.length];
            for (int i = 0; i < columns.length; i++) {
                fields[i] = message.findFieldByName(columns[i].name());
                if (fields[i] == null) {
                    throw missing(message, columns[i].name());
                }
                changes[i] = ofField(columns[i].dataType(), fields[i]);
            }
            return value -> {
                InternalRow row = (InternalRow) value;
                DynamicMessage.Builder builder = DynamicMessage.newBuilder(message);
                for (int i = 0; i < columns.length; i++) {
                    if (!row.isNullAt(i)) {
                        builder.setField(fields[i], changes[i].of(row.get(i, columns[i].dataType())));
                    }
                }
                return builder.build();
            };
        }

        private Change ofField(DataType type, FieldDescriptor field) {
            if (type instanceof MapType map) {
                return entries(map, field);
            }
            if (type instanceof ArrayType array) {
                Change change = one(array.elementType(), field);
                Object none = none(field);
                return values -> list((ArrayData) values, array.elementType(), change, none);
            }
            return one(type, field);
        }

        private Change entries(MapType type, FieldDescriptor field) {
            FieldDescriptor key = key(field);
            FieldDescriptor value = value(field);
            Change ofKey = one(type.keyType(), key);
            Change ofValue = one(type.valueType(), value);
            MapEntry<Object, Object> empty = MapEntry.newDefaultInstance(
                    field.getMessageType(), key.getLiteType(), key.getDefaultValue(), value.getLiteType(), none(value));
            return entries -> {
                MapData map = (MapData) entries;
                List<Object> keys = list(map.keyArray(), type.keyType(), ofKey, none(key));
                List<Object> values = list(map.valueArray(), type.valueType(), ofValue, none(value));
                // In the order of Flink's.
                Map<Object, Object> found = new HashMap<>();
                for (int i = 0; i < keys.size(); i++) {
                    found.put(keys.get(i), values.get(i));
                }
                List<Message> written = new ArrayList<>();
                found.forEach((k, v) -> written.add(empty.newBuilderForType()
                        .setField(key, k)
                        .setField(value, v)
                        .build()));
                return written;
            };
        }

        private static List<Object> list(ArrayData values, DataType type, Change change, Object none) {
            List<Object> found = new ArrayList<>(values.numElements());
            for (int i = 0; i < values.numElements(); i++) {
                found.add(values.isNullAt(i) ? none : change.of(values.get(i, type)));
            }
            return found;
        }

        /** What stands for NULL where Protobuf has none: among many values. */
        private Object none(FieldDescriptor field) {
            return switch (field.getJavaType()) {
                case MESSAGE -> DynamicMessage.getDefaultInstance(field.getMessageType());
                case ENUM -> field.getEnumType().getValues().get(0);
                case STRING -> nullText;
                case BYTE_STRING -> ByteString.EMPTY;
                case INT -> 0;
                case LONG -> 0L;
                case FLOAT -> 0f;
                case DOUBLE -> 0d;
                case BOOLEAN -> false;
            };
        }

        private Change one(DataType type, FieldDescriptor field) {
            return switch (field.getJavaType()) {
                case MESSAGE -> row((StructType) type, field.getMessageType());
                case STRING -> Object::toString;
                case BYTE_STRING -> value -> ByteString.copyFrom((byte[]) value);
                case ENUM -> value -> constant(field.getEnumType(), value);
                case INT -> value -> ((Number) value).intValue();
                default -> value -> value;
            };
        }

        /** The constant that a text or a number names, else the first one. */
        private static EnumValueDescriptor constant(EnumDescriptor type, Object value) {
            EnumValueDescriptor found = value instanceof Number number
                    ? type.findValueByNumber((int) number.longValue())
                    : type.findValueByName(value.toString());
            return found == null ? type.getValues().get(0) : found;
        }
    }
}
