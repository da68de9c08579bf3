package sqlstream.functions;

import java.util.Collection;
import java.util.Map;
import org.apache.spark.unsafe.types.UTF8String;

/** Functions of whole JSON texts: IS JSON, JSON, JSON_QUOTE, JSON_UNQUOTE. */
public final class JsonTexts {
    private static final UTF8String ARRAY = UTF8String.fromString("ARRAY");
    private static final UTF8String OBJECT = UTF8String.fromString("OBJECT");
    private static final UTF8String SCALAR = UTF8String.fromString("SCALAR");

    private JsonTexts() {}

    /** Whether a text is JSON of a kind: VALUE (any), OBJECT, ARRAY, SCALAR. */
    @SqlFunction
    public static Boolean isJson(UTF8String text, UTF8String kind) {
        Json.Document document = Json.parse(text);
        if (document.problem() != null) {
            return false;
        }
        boolean object = document.value() instanceof Map;
        boolean array = document.value() instanceof Collection;
        return kind.equals(OBJECT) ? object : kind.equals(ARRAY) ? array : !kind.equals(SCALAR) || !(object || array);
    }

    /** JSON: the text as it goes into another; NULL of an empty one. */
    @SqlFunction
    public static UTF8String json(UTF8String text) {
        UTF8String trimmed = UTF8String.fromString(text.toString().trim());
        if (trimmed.numBytes() == 0) {
            return null;
        }
        Json.Document document = Json.parse(trimmed);
        if (document.problem() != null) {
            throw Failure.of(
                    "Invalid JSON string in JSON(value) function: \"" + text + "\". Error: " + document.problem());
        }
        return Json.write(document.value());
    }

    @SqlFunction
    public static UTF8String jsonQuote(UTF8String text) {
        String in = text.toString();
        StringBuilder out = new StringBuilder(in.length() + 2).append('"');
        for (int i = 0; i < in.length(); i++) {
            char c = in.charAt(i);
            int escape = "\"\\/\b\f\n\r\t".indexOf(c);
            if (escape >= 0) {
                out.append('\\').append("\"\\/bfnrt".charAt(escape));
            } else if (c > 127) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return UTF8String.fromString(out.append('"').toString());
    }

    /** What stands between the quotes of a JSON string, without escapes; any other text as it is. */
    @SqlFunction
    public static UTF8String jsonUnquote(UTF8String text) {
        String in = text.toString();
        if (!in.startsWith("\"") || !in.endsWith("\"") || Json.parse(text).problem() != null) {
            return text;
        }
        StringBuilder out = new StringBuilder(in.length());
        for (int i = 1; i < in.length() - 1; i++) {
            char c = in.charAt(i);
            if (c != '\\') {
                out.append(c);
                continue;
            }
            char escaped = in.charAt(++i);
            int place = "\"\\/bfnrt".indexOf(escaped);
            if (place >= 0) {
                out.append("\"\\/\b\f\n\r\t".charAt(place));
            } else if (escaped == 'u') {
                out.append((char) Integer.parseInt(in.substring(i + 1, i + 5), 16));
                i += 4;
            } else {
                throw Failure.of("Illegal escape sequence: \\" + escaped);
            }
        }
        return UTF8String.fromString(out.toString());
    }
}
