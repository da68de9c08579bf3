package sqlstream;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.Serializable;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Reads records of JSON by Flink's rules: its coercions, its forms of times, its failures. A record is read once, from its
 * bytes; Spark's from_json differs in numbers, times, texts of numbers, and in what it takes for broken.
 */
public final class JsonRecords implements Serializable {
    private static final JsonFactory FACTORY =
            JsonFactory.builder().enable(JsonReadFeature.ALLOW_UNESCAPED_CONTROL_CHARS).build();

    private final String type;
    private final boolean iso;
    private final boolean ignore;
    private final boolean complete;
    private transient Reader rows;

    /**
     * @param type the row's type: {@code {"root": "ROW", "names": [..], "children": [..], "args": [..]}}, nested
     * @param iso whether times are written by ISO 8601, else as SQL does
     * @param ignore whether what can't be read becomes NULL, or no row, instead of failing the job
     * @param complete whether a field that is missing is an error
     */
    public JsonRecords(String type, boolean iso, boolean ignore, boolean complete) {
        this.type = type;
        this.iso = iso;
        this.ignore = ignore;
        this.complete = complete;
    }

    /** The rows of a record (BINARY) as an array of structs of type {@code schema}: see read. */
    public Column column(Column record, String schema) {
        DataType rows = DataTypes.createArrayType(DataType.fromDDL(schema));
        List<Expression> arguments = List.of(ExpressionUtils.expression(record));
        return ExpressionUtils.column(Scala.call(this, "read", rows, arguments, List.of(DataTypes.BinaryType), true));
    }

    /**
     * The rows of one record: one for an object, any number for an array of them. For one that can't be read none where
     * that is ignored, else null.
     */
    public ArrayData read(byte[] record) {
        if (rows == null) {
            rows = reader(tree(type));
        }
        List<Object> found = new ArrayList<>(1);
        try (JsonParser parser = FACTORY.createParser(record)) {
            if (parser.nextToken() == JsonToken.START_ARRAY) {
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    add(parser, found);
                }
            } else if (parser.currentToken() == JsonToken.START_OBJECT) {
                add(parser, found);
            } else {
                throw Unreadable.VALUE;
            }
            return new GenericArrayData(found.toArray());
        } catch (IOException | Unreadable problem) {
            return ignore ? new GenericArrayData(new Object[0]) : null;
        }
    }

    private void add(JsonParser parser, List<Object> found) throws IOException {
        if (parser.currentToken() == JsonToken.START_OBJECT) {
            found.add(rows.read(parser));
        } else if (parser.currentToken() == null || (!ignore && parser.currentToken() != JsonToken.VALUE_NULL)) {
            throw Unreadable.VALUE;
        } else {
            parser.skipChildren();
        }
    }

    private static JsonNode tree(String type) {
        try {
            return new ObjectMapper().readTree(type);
        } catch (IOException impossible) {
            throw new IllegalArgumentException(type, impossible);
        }
    }

    /** A value that is not of its column's type. */
    private static final class Unreadable extends RuntimeException {
        static final Unreadable VALUE = new Unreadable();

        private Unreadable() {
            super(null, null, false, false);
        }
    }

    /** Reads the value that the parser stands at, up to its last token. */
    private interface Reader {
        Object read(JsonParser parser) throws IOException;
    }

    private interface Scalar {
        Object of(JsonParser parser, JsonToken token) throws IOException;
    }

    private Reader reader(JsonNode type) {
        String root = type.get("root").asText();
        int precision = type.path("args").path(0).asInt();
        int scale = type.path("args").path(1).asInt();
        return switch (root) {
            case "ROW" -> row(type);
            case "ARRAY" -> array(reader(type.get("children").get(0)));
            case "MAP" -> map(reader(type.get("children").get(1)));
            case "MULTISET" -> map(scalar(JsonRecords::integer));
            case "CHAR", "VARCHAR" -> this::text;
            case "BOOLEAN" -> this::truth;
            case "TINYINT" -> scalar((p, t) -> Byte.parseByte(p.getText().trim()));
            case "SMALLINT" -> scalar((p, t) -> Short.parseShort(p.getText().trim()));
            case "INT" -> scalar(JsonRecords::integer);
            case "BIGINT" -> scalar((p, t) -> t.isNumeric() ? p.getLongValue() : Long.parseLong(p.getText().trim()));
            case "FLOAT" -> scalar((p, t) -> Float.parseFloat(p.getText().trim()));
            case "DOUBLE" -> scalar((p, t) -> Double.parseDouble(p.getText().trim()));
            case "DECIMAL" -> scalar((p, t) -> decimal(p, t, precision, scale));
            case "BINARY", "VARBINARY" -> scalar((p, t) -> {
                if (t != JsonToken.VALUE_STRING) {
                    throw Unreadable.VALUE;
                }
                return p.getBinaryValue();
            });
            case "DATE" -> scalar((p, t) -> (int) Times.of(p, t).date());
            case "TIME" -> scalar((p, t) -> Times.of(p, t).time(iso, precision));
            case "TIMESTAMP" -> scalar((p, t) -> Times.of(p, t).timestamp(iso, false, precision));
            case "TIMESTAMP_LTZ" -> scalar((p, t) -> Times.of(p, t).timestamp(iso, true, precision));
            default -> throw new IllegalArgumentException(root);
        };
    }

    private Object bad() {
        if (ignore) {
            return null;
        }
        throw Unreadable.VALUE;
    }

    private static Object integer(JsonParser parser, JsonToken token) throws IOException {
        return token.isNumeric() ? parser.getIntValue() : Integer.parseInt(parser.getText().trim());
    }

    private static Object decimal(JsonParser parser, JsonToken token, int precision, int scale) throws IOException {
        BigDecimal exact = token.isNumeric() ? parser.getDecimalValue() : new BigDecimal(parser.getText().trim());
        BigDecimal rounded = exact.setScale(scale, RoundingMode.HALF_UP);
        // What has too many digits is NULL, no error.
        return rounded.precision() > precision ? null : Decimal.apply(rounded, precision, scale);
    }

    private Reader scalar(Scalar scalar) {
        return parser -> {
            JsonToken token = parser.currentToken();
            if (token == JsonToken.VALUE_NULL) {
                return null;
            }
            if (token.isStructStart()) {
                parser.skipChildren();
                return bad();
            }
            // What is wrong with the token itself breaks the record; after this only its meaning can be wrong.
            parser.finishToken();
            try {
                return scalar.of(parser, token);
            } catch (RuntimeException | IOException wrong) {
                return bad();
            }
        };
    }

    private Object truth(JsonParser parser) throws IOException {
        JsonToken token = parser.currentToken();
        if (token == JsonToken.VALUE_NULL) {
            return null;
        }
        if (token.isStructStart()) {
            parser.skipChildren();
            return false;
        }
        return Boolean.parseBoolean(parser.getText().trim());
    }

    private Object text(JsonParser parser) throws IOException {
        JsonToken token = parser.currentToken();
        if (token == JsonToken.VALUE_NULL) {
            return null;
        }
        if (token.isStructStart()) {
            StringWriter copied = new StringWriter();
            try (JsonGenerator generator = FACTORY.createGenerator(copied)) {
                generator.copyCurrentStructure(parser);
            }
            return UTF8String.fromString(copied.toString());
        }
        return utf8(parser.getTextCharacters(), parser.getTextOffset(), parser.getTextLength());
    }

    private static UTF8String utf8(char[] characters, int offset, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            char c = characters[offset + i];
            if (c >= 0x80) {
                return UTF8String.fromString(new String(characters, offset, length));
            }
            bytes[i] = (byte) c;
        }
        return UTF8String.fromBytes(bytes);
    }

    private Reader row(JsonNode type) {
        JsonNode children = type.get("children");
        Reader[] readers = new Reader[children.size()];
        Map<String, Integer> places = new HashMap<>();
        for (int i = 0; i < readers.length; i++) {
            readers[i] = reader(children.get(i));
            places.put(type.get("names").get(i).asText(), i);
        }
        return parser -> {
            if (parser.currentToken() == JsonToken.VALUE_NULL) {
                return null;
            }
            if (parser.currentToken() != JsonToken.START_OBJECT) {
                parser.skipChildren();
                return bad();
            }
            Object[] cells = new Object[readers.length];
            boolean[] seen = complete ? new boolean[readers.length] : null;
            while (field(parser)) {
                Integer place = places.get(parser.currentName());
                parser.nextToken();
                if (place == null) {
                    parser.skipChildren();
                    continue;
                }
                cells[place] = readers[place].read(parser);
                if (seen != null) {
                    seen[place] = true;
                }
            }
            for (int i = 0; seen != null && i < seen.length; i++) {
                if (!seen[i]) {
                    throw Unreadable.VALUE;
                }
            }
            return new GenericInternalRow(cells);
        };
    }

    /** Whether the object that the parser is in has another field; the parser then stands at its name. */
    private static boolean field(JsonParser parser) throws IOException {
        JsonToken token = parser.nextToken();
        if (token == null) {
            throw Unreadable.VALUE;
        }
        return token != JsonToken.END_OBJECT;
    }

    private Reader array(Reader element) {
        return parser -> {
            if (parser.currentToken() == JsonToken.VALUE_NULL) {
                return null;
            }
            if (parser.currentToken() != JsonToken.START_ARRAY) {
                parser.skipChildren();
                return bad();
            }
            List<Object> found = new ArrayList<>();
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                if (parser.currentToken() == null) {
                    throw Unreadable.VALUE;
                }
                found.add(element.read(parser));
            }
            return new GenericArrayData(found.toArray());
        };
    }

    private Reader map(Reader value) {
        return parser -> {
            if (parser.currentToken() == JsonToken.VALUE_NULL) {
                return null;
            }
            if (parser.currentToken() != JsonToken.START_OBJECT) {
                parser.skipChildren();
                return bad();
            }
            Map<String, Object> found = new LinkedHashMap<>();
            while (field(parser)) {
                String name = parser.currentName();
                parser.nextToken();
                found.put(name, value.read(parser));
            }
            Object[] keys = found.keySet().stream().map(UTF8String::fromString).toArray();
            return new ArrayBasedMapData(new GenericArrayData(keys), new GenericArrayData(found.values().toArray()));
        };
    }
}
