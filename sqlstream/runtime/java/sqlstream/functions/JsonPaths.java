package sqlstream.functions;

import com.jayway.jsonpath.Configuration;
import com.jayway.jsonpath.JsonPath;
import com.jayway.jsonpath.Option;
import java.math.BigDecimal;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * JSON_VALUE, JSON_QUERY and JSON_EXISTS. What is done on empty and on error comes as a word: NULL, ERROR, DEFAULT,
 * EMPTY ARRAY, TRUE, ..
 */
public final class JsonPaths {
    private static final Pattern MODE = Pattern.compile(
            "^\\s*(strict|lax)\\s+(.+)$", Pattern.CASE_INSENSITIVE | Pattern.DOTALL | Pattern.MULTILINE);
    private static final Configuration STRICT = Configuration.builder()
            .jsonProvider(Json.PROVIDER)
            .mappingProvider(Json.MAPPING)
            .build();
    private static final Configuration LAX = STRICT.addOptions(Option.SUPPRESS_EXCEPTIONS);
    private static final Compiled<Path> PATHS = new Compiled<>(JsonPaths::path);

    private static final UTF8String ERROR = UTF8String.fromString("ERROR");
    private static final UTF8String DEFAULT = UTF8String.fromString("DEFAULT");
    private static final UTF8String EMPTY_ARRAY = UTF8String.fromString("EMPTY ARRAY");
    private static final UTF8String EMPTY_OBJECT = UTF8String.fromString("EMPTY OBJECT");
    private static final UTF8String TRUE = UTF8String.fromString("TRUE");
    private static final UTF8String UNKNOWN = UTF8String.fromString("UNKNOWN");
    private static final UTF8String UNCONDITIONAL = UTF8String.fromString("UNCONDITIONAL");
    private static final UTF8String CONDITIONAL = UTF8String.fromString("CONDITIONAL");

    private JsonPaths() {}

    /** A path, or why it is none; {@code changes} says that it has a function that changes what it looks at. */
    private record Path(boolean lax, JsonPath compiled, String problem, boolean changes) {}

    /** What a path found, or why nothing could be looked for. */
    private record Found(boolean lax, Object value, String problem) {
        boolean isScalar() {
            return !(value instanceof Map) && !(value instanceof Collection);
        }
    }

    private static Path path(String text) {
        Matcher matcher = MODE.matcher(text);
        boolean lax = matcher.matches() && matcher.group(1).equalsIgnoreCase("lax");
        String path = matcher.matches() ? matcher.group(2) : text;
        try {
            return new Path(lax, JsonPath.compile(path), null, path.contains("append"));
        } catch (RuntimeException e) {
            return new Path(lax, null, String.valueOf(e.getMessage()), false);
        }
    }

    private static Found find(UTF8String text, UTF8String pathText) {
        Path path = PATHS.of(pathText);
        Json.Document document = path.changes ? Json.read(text) : Json.parse(text);
        if (document.problem() != null) {
            return new Found(path.lax, null, path.lax ? null : document.problem());
        }
        if (document.value() == null) {
            return new Found(path.lax, null, "json object can not be null");
        }
        if (path.problem != null) {
            return new Found(path.lax, null, path.problem);
        }
        try {
            Object value = path.compiled.read(document.value(), path.lax ? LAX : STRICT);
            boolean missing = value == null && !path.lax;
            return new Found(
                    path.lax,
                    value,
                    missing ? "Strict jsonpath mode requires a non empty returned value, but is null" : null);
        } catch (RuntimeException e) {
            return new Found(path.lax, null, String.valueOf(e.getMessage()));
        }
    }

    @SqlFunction
    public static UTF8String jsonValue(
            UTF8String text,
            UTF8String path,
            UTF8String onEmpty,
            UTF8String empty,
            UTF8String onError,
            UTF8String error) {
        Object value = value(text, path, onEmpty, empty, onError, error);
        return value == null || value instanceof UTF8String
                ? (UTF8String) value
                : UTF8String.fromString(value.toString());
    }

    @SqlFunction
    public static Boolean jsonValueBoolean(
            UTF8String text, UTF8String path, UTF8String onEmpty, boolean empty, UTF8String onError, boolean error) {
        return of(Boolean.class, value(text, path, onEmpty, empty, onError, error));
    }

    @SqlFunction
    public static Integer jsonValueInteger(
            UTF8String text, UTF8String path, UTF8String onEmpty, int empty, UTF8String onError, int error) {
        return of(Integer.class, value(text, path, onEmpty, empty, onError, error));
    }

    @SqlFunction
    public static Double jsonValueDouble(
            UTF8String text, UTF8String path, UTF8String onEmpty, double empty, UTF8String onError, double error) {
        Object value = value(text, path, onEmpty, empty, onError, error);
        return value instanceof Double
                ? (Double) value
                : value == null ? null : (Double) of(BigDecimal.class, value).doubleValue();
    }

    /** {@code value} where it is of the class, else the query fails. */
    private static <T> T of(Class<T> wanted, Object value) {
        if (value != null && !wanted.isInstance(value)) {
            throw Failure.of("JSON_VALUE found " + Json.write(value) + ": "
                    + value.getClass().getSimpleName() + " cannot be cast to " + wanted.getSimpleName());
        }
        return wanted.cast(value);
    }

    private static Object value(
            UTF8String text, UTF8String path, UTF8String onEmpty, Object empty, UTF8String onError, Object error) {
        Found found = find(text, path);
        String problem = found.problem;
        if (problem == null) {
            if (found.value != null && found.isScalar()) {
                return found.value;
            }
            if (found.value == null || found.lax) {
                if (onEmpty.equals(ERROR)) {
                    throw Failure.of("Empty result of JSON_VALUE function is not allowed");
                }
                return onEmpty.equals(DEFAULT) ? empty : null;
            }
            problem = "Strict jsonpath mode requires scalar value, and the actual value is: '" + found.value + "'";
        }
        if (onError.equals(ERROR)) {
            throw Failure.of(problem);
        }
        return onError.equals(DEFAULT) ? error : null;
    }

    @SqlFunction
    public static UTF8String jsonQuery(
            UTF8String text, UTF8String path, UTF8String wrapper, UTF8String onEmpty, UTF8String onError) {
        Object value = query(text, path, wrapper, onEmpty, onError, false);
        return value == null ? null : Json.write(value);
    }

    @SqlFunction(type = "ARRAY<STRING>")
    public static ArrayData jsonQueryArray(
            UTF8String text, UTF8String path, UTF8String wrapper, UTF8String onEmpty, UTF8String onError) {
        Object value = query(text, path, wrapper, onEmpty, onError, true);
        return value == null
                ? null
                : new GenericArrayData(
                        ((List<?>) value).stream().map(JsonPaths::element).toArray());
    }

    private static UTF8String element(Object value) {
        if (value == null || value instanceof Map || value instanceof Collection) {
            return value == null ? null : Json.write(value);
        }
        return UTF8String.fromString(value.toString());
    }

    private static Object query(
            UTF8String text,
            UTF8String path,
            UTF8String wrapper,
            UTF8String onEmpty,
            UTF8String onError,
            boolean array) {
        Found found = find(text, path);
        String problem = found.problem;
        if (problem == null) {
            boolean wraps = wrapper.equals(UNCONDITIONAL)
                    || (wrapper.equals(CONDITIONAL) && !(found.value instanceof Collection));
            Found wrapped = wraps && found.value != null ? new Found(found.lax, List.of(found.value), null) : found;
            if (wrapped.value == null || (wrapped.lax && wrapped.isScalar())) {
                return otherwise(onEmpty, "Empty result of JSON_QUERY function is not allowed");
            }
            if (!wrapped.isScalar() && (!array || wrapped.value instanceof List)) {
                return wrapped.value;
            }
            problem = wrapped.isScalar()
                    ? "Strict jsonpath mode requires array or object value, and the actual value is: '" + wrapped.value
                            + "'"
                    : "The value is not an array: " + Json.write(wrapped.value);
        }
        return otherwise(onError, problem);
    }

    private static Object otherwise(UTF8String action, String problem) {
        if (action.equals(ERROR)) {
            throw Failure.of(problem);
        }
        return action.equals(EMPTY_ARRAY) ? List.of() : action.equals(EMPTY_OBJECT) ? Map.of() : null;
    }

    @SqlFunction
    public static Boolean jsonExists(UTF8String text, UTF8String path, UTF8String onError) {
        Found found = find(text, path);
        if (found.problem == null) {
            return found.value != null;
        }
        if (onError.equals(ERROR)) {
            throw Failure.of(found.problem);
        }
        return onError.equals(UNKNOWN) ? null : onError.equals(TRUE);
    }
}
