package sqlstream.formats;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonParser.NumberType;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;

/** Readers of JSON's values by Flink's rules: its coercions, its forms of times, what it takes for broken. */
class JsonValues {
    static final JsonFactory FACTORY = JsonFactory.builder()
            .enable(JsonReadFeature.ALLOW_UNESCAPED_CONTROL_CHARS)
            .build();

    /** A field that is not there, of a row that is called partial. */
    static final Object ABSENT = new Object();

    private final boolean iso;
    private final boolean ignore;
    private final boolean complete;
    private final boolean tree;

    /** As in JsonRecords. */
    JsonValues(boolean iso, boolean ignore, boolean complete, boolean tree) {
        this.iso = iso;
        this.ignore = ignore;
        this.complete = complete;
        this.tree = tree;
    }

    /** A value that is not of its column's type. */
    static final class Unreadable extends RuntimeException {
        static final Unreadable VALUE = new Unreadable();

        private Unreadable() {
            super(null, null, false, false);
        }
    }

    /** Reads the value that the parser stands at, up to its last token. */
    interface Reader {
        Object read(JsonParser parser) throws IOException;
    }

    interface Scalar {
        Object of(JsonParser parser, JsonToken token) throws IOException;
    }

    /**
     * A reader of {@code type}: {@code {"root": "ROW", "names": [..], "children": [..], "args": [..]}}, nested; a ROW
     * may be {@code "partial"}.
     */
    Reader reader(JsonNode type) {
        String root = type.get("root").asText();
        int precision = type.path("args").path(0).asInt();
        int scale = type.path("args").path(1).asInt();
        return switch (root) {
            case "ROW" -> row(type);
            case "ARRAY" -> array(reader(type.get("children").get(0)));
            case "MAP" -> map(reader(type.get("children").get(1)));
            case "MULTISET" -> map(scalar(JsonValues::integer));
            case "CHAR", "VARCHAR" -> this::text;
            case "BOOLEAN" -> this::truth;
            case "TINYINT" -> scalar((p, t) -> Byte.parseByte(p.getText().trim()));
            case "SMALLINT" -> scalar((p, t) -> Short.parseShort(p.getText().trim()));
            case "INT" -> scalar(JsonValues::integer);
            case "BIGINT" ->
                scalar((p, t) -> t.isNumeric()
                        ? p.getLongValue()
                        : Long.parseLong(p.getText().trim()));
            case "FLOAT" -> scalar(this::single);
            case "DOUBLE" -> scalar((p, t) -> Double.parseDouble(p.getText().trim()));
            case "DECIMAL" -> scalar((p, t) -> decimal(p, t, precision, scale));
            case "BINARY", "VARBINARY" ->
                scalar((p, t) -> {
                    if (t != JsonToken.VALUE_STRING) {
                        throw Unreadable.VALUE;
                    }
                    return p.getBinaryValue();
                });
            case "DATE" -> scalar((p, t) -> (int) Times.of(p, t).date());
            case "TIME" -> scalar((p, t) -> Times.of(p, t).time(precision));
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
        return token.isNumeric()
                ? parser.getIntValue()
                : Integer.parseInt(parser.getText().trim());
    }

    private Object single(JsonParser parser, JsonToken token) throws IOException {
        boolean binary = tree && token == JsonToken.VALUE_NUMBER_FLOAT && parser.getNumberType() == NumberType.DOUBLE;
        return binary
                ? (float) parser.getDoubleValue()
                : Float.parseFloat(parser.getText().trim());
    }

    private static Object decimal(JsonParser parser, JsonToken token, int precision, int scale) throws IOException {
        BigDecimal exact = token.isNumeric()
                ? parser.getDecimalValue()
                : new BigDecimal(parser.getText().trim());
        BigDecimal rounded = exact.setScale(scale, RoundingMode.HALF_UP);
        // What has too many digits is NULL, no error.
        return rounded.precision() > precision ? null : Decimal.apply(rounded, precision, scale);
    }

    final Reader scalar(Scalar scalar) {
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
            return tree ? (Object) false : bad();
        }
        return Boolean.parseBoolean(parser.getText().trim());
    }

    private Object text(JsonParser parser) throws IOException {
        JsonToken token = parser.currentToken();
        if (token == JsonToken.VALUE_NULL) {
            return null;
        }
        if (token.isStructStart()) {
            return UTF8String.fromString(parser.readValueAsTree().toString());
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
        Object absent = type.path("partial").asBoolean() ? ABSENT : null;
        JsonNode children = type.get("children");
        Reader[] readers = new Reader[children.size()];
        String[] names = new String[readers.length + 1];
        Map<String, Integer> places = new HashMap<>();
        for (int i = 0; i < readers.length; i++) {
            readers[i] = reader(children.get(i));
            // The parser's names are interned, too.
            names[i] = type.get("names").get(i).asText().intern();
            places.put(names[i], i);
        }
        return within(JsonToken.START_OBJECT, parser -> {
            Object[] cells = new Object[readers.length];
            Arrays.fill(cells, absent);
            boolean[] seen = complete ? new boolean[readers.length] : null;
            // Of a field that is repeated the last counts. As in Flink, that ends with as many fields as there are
            // columns, repeated ones among them, where a record is not read as a whole first.
            int fields = tree ? Integer.MAX_VALUE : readers.length;
            int next = 0;
            while (field(parser)) {
                String name = parser.currentName();
                // Most records have their fields in the order of the columns.
                int place = fields == 0 ? -1 : name == names[next] ? next : places.getOrDefault(name, -1);
                parser.nextToken();
                if (place < 0) {
                    parser.skipChildren();
                    continue;
                }
                fields--;
                next = place + 1;
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
        });
    }

    /** Whether the object that the parser is in has another field; the parser then stands at its name. */
    private static boolean field(JsonParser parser) throws IOException {
        JsonToken token = parser.nextToken();
        if (token == null) {
            throw Unreadable.VALUE;
        }
        return token != JsonToken.END_OBJECT;
    }

    /** Reads what begins with {@code start} by {@code elements}; NULL is NULL. */
    private Reader within(JsonToken start, Reader elements) {
        return parser -> {
            if (parser.currentToken() == JsonToken.VALUE_NULL) {
                return null;
            }
            if (parser.currentToken() != start) {
                parser.skipChildren();
                return bad();
            }
            return elements.read(parser);
        };
    }

    private Reader array(Reader element) {
        return within(JsonToken.START_ARRAY, parser -> {
            List<Object> found = new ArrayList<>();
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                if (parser.currentToken() == null) {
                    throw Unreadable.VALUE;
                }
                found.add(element.read(parser));
            }
            return new GenericArrayData(found.toArray());
        });
    }

    private Reader map(Reader value) {
        return within(JsonToken.START_OBJECT, parser -> {
            Map<String, Object> found = new LinkedHashMap<>();
            while (field(parser)) {
                String name = parser.currentName();
                parser.nextToken();
                found.put(name, value.read(parser));
            }
            Object[] keys = found.keySet().stream().map(UTF8String::fromString).toArray();
            return new ArrayBasedMapData(
                    new GenericArrayData(keys),
                    new GenericArrayData(found.values().toArray()));
        });
    }
}
