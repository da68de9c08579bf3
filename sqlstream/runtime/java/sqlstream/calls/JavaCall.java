package sqlstream.calls;

import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import org.apache.spark.SparkFiles;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;
import sqlstream.aggregates.Fold;
import sqlstream.catalyst.Scala;
import sqlstream.gateway.Described;

/**
 * A call of a function of the user's in Java, in an expression. The function stays open between tasks, as between
 * micro-batches, and has one task at a time.
 */
public final class JavaCall implements Fold {
    /** The class in {@code jars} that opens a function by what {@code call} says of it, in JSON. */
    private static final String OPENS = "sqlstream.flink.FlinkFunction";

    private static final Map<List<String>, ClassLoader> LOADERS = new HashMap<>();
    // Calls with other constants are other calls: those that were made last stay open.
    private static final int KEPT = 200;
    private static final Map<String, Queue<JavaFunction>> IDLE =
            Collections.synchronizedMap(new LinkedHashMap<>(16, 0.75f, true) {
                @Override
                protected boolean removeEldestEntry(Map.Entry<String, Queue<JavaFunction>> eldest) {
                    if (size() > KEPT) {
                        eldest.getValue().forEach(JavaFunction::close);
                        return true;
                    }
                    return false;
                }
            });

    private final String text;
    private transient JavaFunction function;

    /**
     * What Python says of a call.
     *
     * @param jars those of Flink, and of our classes that need them
     * @param name what a plan shows
     * @param result the type of the result, as DDL
     * @param deterministic whether equal arguments give equal results
     * @param call what the class in the jars reads
     */
    public record Options(List<String> jars, String name, String result, boolean deterministic, String call) {}

    private JavaCall(String text) {
        this.text = text;
    }

    @Override
    public String toString() {
        return Described.as(Options.class, text).name();
    }

    /** {@code sqlstream_java(text, arguments ..)}: the text says what is called. */
    public static final class Builder extends AbstractFunction1<Seq<Expression>, Expression> {
        @Override
        public Expression apply(Seq<Expression> arguments) {
            List<Expression> given = Scala.list(arguments);
            String text = ((Literal) given.get(0)).value().toString();
            Options options = Described.as(Options.class, text);
            List<Expression> named = new ArrayList<>();
            for (Expression argument : given.subList(1, given.size())) {
                named.add(Literal$.MODULE$.apply("c" + named.size() / 2));
                named.add(argument);
            }
            return Scala.nullableCall(
                    new JavaCall(text),
                    "call",
                    DataType.fromDDL(options.result()),
                    List.of(new CreateNamedStruct(Scala.seq(named))),
                    options.deterministic());
        }
    }

    /** The same for what takes rows into accumulators of the function. */
    public static Fold fold(String text) {
        return new JavaCall(text);
    }

    /** The result for a row. */
    public Object call(InternalRow arguments) {
        return used(function -> function.call(arguments));
    }

    @Override
    public byte[] folded(byte[] accumulator, List<? extends InternalRow> rows, StructType type) {
        return used(function -> function.folded(accumulator, rows));
    }

    private <T> T used(Function<JavaFunction, T> use) {
        if (function != null) {
            return use.apply(function);
        }
        Queue<JavaFunction> idle = IDLE.computeIfAbsent(text, t -> new ConcurrentLinkedQueue<>());
        JavaFunction found = idle.poll();
        JavaFunction used = found == null ? opened(Described.as(Options.class, text)) : found;
        TaskContext task = TaskContext.get();
        if (task == null) {
            T result = use.apply(used);
            idle.add(used);
            return result;
        }
        function = used;
        task.addTaskCompletionListener(context -> {
            function = null;
            // After an error nobody knows what is in it.
            if (!context.isFailed()) {
                idle.add(used);
            }
        });
        return use.apply(used);
    }

    private static JavaFunction opened(Options options) {
        try {
            return (JavaFunction) loader(options.jars())
                    .loadClass(OPENS)
                    .getMethod("open", String.class)
                    .invoke(null, options.call());
        } catch (InvocationTargetException e) {
            throw Scala.unchecked(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static synchronized ClassLoader loader(List<String> jars) {
        return LOADERS.computeIfAbsent(jars, names -> new URLClassLoader(urls(names), JavaCall.class.getClassLoader()));
    }

    /** Where files are that are named by their paths: here, or with those that Spark has sent to this machine. */
    public static URL[] urls(List<String> paths) {
        ArrayDeque<URL> found = new ArrayDeque<>();
        for (String path : paths) {
            File file = new File(path);
            try {
                found.add((file.exists() ? file : new File(SparkFiles.get(file.getName())))
                        .toURI()
                        .toURL());
            } catch (MalformedURLException e) {
                throw new IllegalArgumentException(e);
            }
        }
        return found.toArray(new URL[0]);
    }
}
