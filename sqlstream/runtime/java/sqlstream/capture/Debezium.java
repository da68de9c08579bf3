package sqlstream.capture;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.Closeable;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Driver;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.ServiceLoader;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * An engine of Debezium that runs, in a thread of its own. It needs other releases of libraries than Spark has: its
 * classes are in a loader of their own, and are called by their names.
 */
final class Debezium implements AutoCloseable {
    private static final String API = "io.debezium.engine.DebeziumEngine";
    // As offsets are kept by it: of which engine they are.
    private static final String NAME = "sqlstream";
    // How the topics of records begin that say how far it is while nothing changes.
    private static final String HEARTBEATS = "__debezium-heartbeat";
    // It writes on the standard error.
    private static final Logger LOG_OF_MYSQL = Logger.getLogger("com.github.shyiko");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<List<String>, ClassLoader> LOADERS = new HashMap<>();

    private final Closeable engine;
    private final Thread thread;

    /** A change in JSON, null where there is none, and how far the engine is with it. */
    record Change(String value, Position position) {}

    /** How far an engine is. Both maps are Debezium's. */
    record Position(Map<String, Object> partition, Map<String, Object> offset) {
        /** Whether it is within the snapshot: the rows that were there at the beginning. */
        boolean inSnapshot() {
            return offset.containsKey("snapshot");
        }

        /**
         * What changes share that have one position: of PostgreSQL several rows that are copied at once. Null where
         * each has its own.
         */
        Long group() {
            return !inSnapshot() && offset.get("lsn") instanceof Number place ? place.longValue() : null;
        }

        /** Whether an engine can go on there: a snapshot begins anew unless its last row was told. */
        boolean lasts() {
            return !inSnapshot() || Boolean.TRUE.equals(offset.get("snapshot_completed"));
        }
    }

    /** Takes changes. */
    interface Changes {
        /**
         * How many of them, from the first on, an engine need not tell again; 0 for the last one before them, -1 for
         * none that is new.
         */
        int take(List<Change> changes) throws IOException;
    }

    /**
     * @param jars those of Debezium
     * @param settings its properties
     * @param offsets a file in which it keeps its offsets while it runs
     * @param start from where it goes on; null for its beginning
     * @param end is told of its end, with why it failed, or null
     */
    Debezium(
            List<String> jars,
            Map<String, String> settings,
            Path offsets,
            Position start,
            Changes changes,
            Consumer<Throwable> end)
            throws IOException {
        Properties properties = new Properties();
        properties.putAll(settings);
        properties.setProperty("name", NAME);
        properties.setProperty("offset.storage", "org.apache.kafka.connect.storage.FileOffsetBackingStore");
        properties.setProperty("offset.storage.file.filename", offsets.toString());
        // What has been taken is noted with each batch.
        properties.setProperty("offset.flush.interval.ms", "0");
        if (start != null) {
            write(offsets, start);
        }
        ClassLoader loader = loader(jars);
        engine = (Closeable) built(loader, properties, changes, end);
        thread = new Thread((Runnable) engine, "sqlstream-capture");
        thread.setDaemon(true);
        thread.setContextClassLoader(loader);
        thread.start();
    }

    @Override
    public void close() {
        try {
            engine.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (IllegalStateException stopped) {
            // It has ended by itself.
        }
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static synchronized ClassLoader loader(List<String> jars) {
        return LOADERS.computeIfAbsent(jars, Debezium::made);
    }

    private static ClassLoader made(List<String> jars) {
        LOG_OF_MYSQL.setLevel(Level.WARNING);
        ClassLoader ours = Debezium.class.getClassLoader();
        ClassLoader logging = new ClassLoader(ClassLoader.getPlatformClassLoader()) {
            @Override
            protected Class<?> findClass(String name) throws ClassNotFoundException {
                if (name.startsWith("org.slf4j.")) {
                    return ours.loadClass(name);
                }
                throw new ClassNotFoundException(name);
            }
        };
        List<URL> urls = new ArrayList<>();
        for (String jar : jars) {
            try {
                urls.add(Path.of(jar).toUri().toURL());
            } catch (MalformedURLException e) {
                throw new IllegalArgumentException(jar, e);
            }
        }
        ClassLoader made = new URLClassLoader(urls.toArray(URL[]::new), logging);
        // Each registers itself. The JVM looks for drivers once, when somebody first needs one, and not here by then.
        ServiceLoader.load(Driver.class, made).forEach(driver -> {});
        return made;
    }

    private static Object built(ClassLoader loader, Properties properties, Changes changes, Consumer<Throwable> end) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(loader);
        try {
            Class<?> api = loader.loadClass(API);
            Class<?> consumer = loader.loadClass(API + "$ChangeConsumer");
            Class<?> callback = loader.loadClass(API + "$CompletionCallback");
            Object builder = api.getMethod("create", Class.class)
                    .invoke(null, loader.loadClass("io.debezium.engine.format.Json"));
            Class<?> type = loader.loadClass(API + "$Builder");
            Calls calls = new Calls(loader);
            type.getMethod("using", Properties.class).invoke(builder, properties);
            type.getMethod("using", ClassLoader.class).invoke(builder, loader);
            type.getMethod("using", callback).invoke(builder, implemented(loader, callback, (method, arguments) -> {
                end.accept(failure(arguments));
                return null;
            }));
            type.getMethod("notifying", consumer).invoke(builder, implemented(loader, consumer, (method, arguments) -> {
                if (!method.getName().equals("handleBatch")) {
                    return false;
                }
                calls.take((List<?>) arguments[0], arguments[1], changes);
                return null;
            }));
            return type.getMethod("build").invoke(builder);
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof RuntimeException problem ? problem : new IllegalStateException(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /** Of a callback's arguments: whether it went well, a message, what was raised. */
    private static Throwable failure(Object[] arguments) {
        if ((Boolean) arguments[0]) {
            return null;
        }
        Throwable raised = (Throwable) arguments[2];
        return raised != null ? raised : new IllegalStateException((String) arguments[1]);
    }

    private interface Call {
        Object of(Method method, Object[] arguments) throws Exception;
    }

    private static Object implemented(ClassLoader loader, Class<?> type, Call call) {
        return Proxy.newProxyInstance(
                loader, new Class<?>[] {type}, (proxy, method, arguments) -> switch (method.getName()) {
                    case "hashCode" -> System.identityHashCode(proxy);
                    case "equals" -> proxy == arguments[0];
                    case "toString" -> type.getName();
                    default -> call.of(method, arguments);
                });
    }

    /** What is called for each change, and for each batch of them. */
    private static final class Calls {
        private final Method record;
        private final Method value;
        private final Method topic;
        private final Method partition;
        private final Method offset;
        private final Method processed;
        private final Method finished;
        // The last change that was told before.
        private Object before;

        Calls(ClassLoader loader) throws ReflectiveOperationException {
            Class<?> event = loader.loadClass("io.debezium.embedded.EmbeddedEngineChangeEvent");
            Class<?> source = loader.loadClass("org.apache.kafka.connect.source.SourceRecord");
            Class<?> committer = loader.loadClass(API + "$RecordCommitter");
            this.record = event.getMethod("sourceRecord");
            this.value = event.getMethod("value");
            this.topic = source.getMethod("topic");
            this.partition = source.getMethod("sourcePartition");
            this.offset = source.getMethod("sourceOffset");
            this.processed = committer.getMethod("markProcessed", Object.class);
            this.finished = committer.getMethod("markBatchFinished");
        }

        void take(List<?> events, Object committer, Changes changes) throws Exception {
            List<Change> told = new ArrayList<>(events.size());
            for (Object event : events) {
                told.add(change(event));
            }
            int settled = changes.take(told);
            Object last = settled > 0 ? events.get(settled - 1) : settled == 0 ? before : null;
            if (last != null) {
                // It stands for those before it.
                processed.invoke(committer, last);
            }
            before = events.get(events.size() - 1);
            finished.invoke(committer);
        }

        @SuppressWarnings("unchecked")
        private Change change(Object event) throws ReflectiveOperationException {
            Object told = record.invoke(event);
            Position position = new Position(
                    (Map<String, Object>) partition.invoke(told), (Map<String, Object>) offset.invoke(told));
            boolean heartbeat = ((String) topic.invoke(told)).startsWith(HEARTBEATS);
            return new Change(heartbeat ? null : (String) value.invoke(event), position);
        }
    }

    /** Keeps a position as the engine's own store would. */
    private static void write(Path offsets, Position position) throws IOException {
        HashMap<byte[], byte[]> kept = new HashMap<>();
        kept.put(JSON.writeValueAsBytes(List.of(NAME, position.partition)), JSON.writeValueAsBytes(position.offset));
        try (var out = new ObjectOutputStream(Files.newOutputStream(offsets))) {
            out.writeObject(kept);
        }
    }
}
