package sqlstream.formats;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import sqlstream.catalyst.Scala;

/** Writes rows as JSON by Flink's rules: Spark's to_json has other numbers and times. */
public final class JsonWriter implements Serializable {
    private static final JsonFactory FACTORY = new JsonFactory();
    private static final DateTimeFormatter TIME = new DateTimeFormatterBuilder()
            .appendPattern("HH:mm:ss")
            .appendFraction(ChronoField.NANO_OF_SECOND, 0, 9, true)
            .toFormatter();

    private final String type;
    private final String description;
    private final boolean iso;
    private final boolean plain;
    private final boolean sparse;
    private transient Writer row;

    /**
     * @param type the row's type as DDL, and its {@code description}, in JSON: see JsonValues.reader
     * @param iso whether times are written by ISO 8601, else as SQL does
     * @param plain whether decimals have all their digits and no exponent
     * @param sparse whether fields that are NULL are left out
     */
    public JsonWriter(String type, String description, boolean iso, boolean plain, boolean sparse) {
        this.type = type;
        this.description = description;
        this.iso = iso;
        this.plain = plain;
        this.sparse = sparse;
    }

    /** The text of a struct. */
    public Column written(Column struct) {
        DataType from = DataType.fromDDL(type);
        return Scala.column(this, "write", DataTypes.StringType, List.of(struct), List.of(from), true);
    }

    /** The text of a row. */
    public UTF8String write(InternalRow value) throws IOException {
        if (row == null) {
            row = row((StructType) DataType.fromDDL(type), new ObjectMapper().readTree(description));
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator to = FACTORY.createGenerator(bytes)) {
            row.write(to, value);
        }
        return UTF8String.fromBytes(bytes.toByteArray());
    }

    private interface Writer {
        void write(JsonGenerator to, Object value) throws IOException;
    }

    private Writer writer(DataType type, JsonNode described) {
        return switch (described.get("root").asText()) {
            case "ROW" -> row((StructType) type, described);
            case "ARRAY" -> {
                DataType element = ((ArrayType) type).elementType();
                yield array(element, writer(element, described.get("children").get(0)));
            }
            case "MAP" ->
                map(
                        (MapType) type,
                        writer(
                                ((MapType) type).valueType(),
                                described.get("children").get(1)));
            case "MULTISET" -> map((MapType) type, (to, value) -> to.writeNumber((Integer) value));
            case "BOOLEAN" -> (to, value) -> to.writeBoolean((Boolean) value);
            case "TINYINT", "SMALLINT", "INT", "BIGINT" -> (to, value) -> to.writeNumber(((Number) value).longValue());
            case "FLOAT" -> (to, value) -> to.writeNumber((Float) value);
            case "DOUBLE" -> (to, value) -> to.writeNumber((Double) value);
            case "DECIMAL" -> (to, value) -> to.writeNumber(number(((Decimal) value).toJavaBigDecimal()));
            case "BINARY", "VARBINARY" -> (to, value) -> to.writeBinary((byte[]) value);
            case "DATE" ->
                (to, value) ->
                        to.writeString(DateTimeFormatter.ISO_LOCAL_DATE.format(LocalDate.ofEpochDay((Integer) value)));
            case "TIME" -> (to, value) -> to.writeString(TIME.format(LocalTime.ofNanoOfDay((Long) value)));
            case "TIMESTAMP" -> (to, value) -> to.writeString(timestamp((Long) value));
            case "TIMESTAMP_LTZ" -> (to, value) -> to.writeString(timestamp((Long) value) + "Z");
            default -> (to, value) -> to.writeString(value.toString());
        };
    }

    private String number(BigDecimal exact) {
        if (plain) {
            return exact.toPlainString();
        }
        return exact.signum() == 0 ? "0" : exact.stripTrailingZeros().toString();
    }

    private String timestamp(long micros) {
        var time = Instant.EPOCH.plus(micros, ChronoUnit.MICROS).atOffset(ZoneOffset.UTC);
        return DateTimeFormatter.ISO_LOCAL_DATE.format(time) + (iso ? "T" : " ") + TIME.format(time);
    }

    private Writer row(StructType type, JsonNode described) {
        int size = type.length();
        String[] names = type.fieldNames();
        DataType[] types = new DataType[size];
        Writer[] writers = new Writer[size];
        for (int i = 0; i < size; i++) {
            types[i] = type.apply(i).dataType();
            writers[i] = writer(types[i], described.get("children").get(i));
        }
        return (to, value) -> {
            InternalRow cells = (InternalRow) value;
            to.writeStartObject();
            for (int i = 0; i < size; i++) {
                if (!sparse || !cells.isNullAt(i)) {
                    to.writeFieldName(names[i]);
                    cell(to, cells, i, types[i], writers[i]);
                }
            }
            to.writeEndObject();
        };
    }

    private static Writer array(DataType type, Writer element) {
        return (to, value) -> {
            ArrayData cells = (ArrayData) value;
            to.writeStartArray();
            for (int i = 0; i < cells.numElements(); i++) {
                cell(to, cells, i, type, element);
            }
            to.writeEndArray();
        };
    }

    private static Writer map(MapType type, Writer writer) {
        return (to, value) -> {
            MapData entries = (MapData) value;
            to.writeStartObject();
            for (int i = 0; i < entries.numElements(); i++) {
                to.writeFieldName(entries.keyArray().getUTF8String(i).toString());
                cell(to, entries.valueArray(), i, type.valueType(), writer);
            }
            to.writeEndObject();
        };
    }

    private static void cell(JsonGenerator to, SpecializedGetters cells, int i, DataType type, Writer writer)
            throws IOException {
        if (cells.isNullAt(i)) {
            to.writeNull();
        } else {
            writer.write(to, cells.get(i, type));
        }
    }
}
