package sqlstream.monitor;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.SparkThrowable;
import org.apache.spark.sql.delta.DeltaThrowableHelper;

/**
 * What an exception and its causes are: their classes, and the conditions and states that Spark, Delta and JDBC give
 * them.
 */
public final class Causes {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Causes() {}

    /**
     * A JSON list, outermost first, of {@code error} and its causes, each with the names of its classes, most specific
     * first, its condition and its SQLSTATE; null where it has none.
     */
    public static String of(Throwable error) throws JsonProcessingException {
        List<Map<String, Object>> found = new ArrayList<>();
        for (Throwable cause : chain(error)) {
            String condition = cause instanceof SparkThrowable spark ? spark.getCondition() : null;
            String state = cause instanceof SparkThrowable spark
                    ? spark.getSqlState()
                    : cause instanceof SQLException sql ? sql.getSQLState() : null;
            found.add(described(cause.getClass(), condition, state));
        }
        return JSON.writeValueAsString(found);
    }

    /** The same of one that only a text tells of. {@code className} is empty where the text names none. */
    public static String named(String className, String condition) throws JsonProcessingException {
        return JSON.writeValueAsString(described(
                className.isEmpty() ? null : loaded(className),
                condition.isEmpty() ? null : condition,
                condition.isEmpty()
                        ? null
                        : DeltaThrowableHelper.getSqlState(condition.split("\\.")[0])));
    }

    private static Set<Throwable> chain(Throwable error) {
        Set<Throwable> chain = new LinkedHashSet<>();
        for (Throwable next = error; next != null && chain.add(next); ) {
            // What a batch of statements has met is behind the exception that says that one has failed.
            boolean last = next.getCause() == null;
            next = last && next instanceof SQLException sql ? sql.getNextException() : next.getCause();
        }
        return chain;
    }

    private static Class<?> loaded(String name) {
        try {
            return Class.forName(name, false, Thread.currentThread().getContextClassLoader());
        } catch (ClassNotFoundException | LinkageError unknown) {
            return null;
        }
    }

    private static Map<String, Object> described(Class<?> type, String condition, String state) {
        List<String> classes = new ArrayList<>();
        for (Class<?> each = type; each != null && each != Throwable.class; each = each.getSuperclass()) {
            classes.add(each.getName());
        }
        Map<String, Object> described = new HashMap<>();
        described.put("classes", classes);
        described.put("condition", condition);
        described.put("state", state);
        return described;
    }
}
