package sqlstream.capture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.SparkSession;
import sqlstream.capture.CaptureLog.Head;
import sqlstream.capture.CaptureLog.Segment;
import sqlstream.capture.Debezium.Change;
import sqlstream.capture.Debezium.Position;

/**
 * The capture of a table's changes for all queries of a job that read it: an engine that writes into a log, from which
 * they read. It runs while one of them does.
 */
public final class Capture {
    private static final Map<String, Capture> BY_FOLDER = new ConcurrentHashMap<>();
    // Of a snapshot that go into one file.
    private static final int ROWS = 50_000;
    private static final int CHARACTERS = 16_000_000;

    private final Configuration hadoop;
    private final String folder;
    private List<String> jars;
    private Map<String, String> settings;
    private int readers;
    // How far each query is that has begun, by its checkpoint.
    private final Map<String, Long> done = new HashMap<>();
    private final List<String> active = new ArrayList<>();
    // Of the snapshot what is not in the log yet, and how long that is.
    private final List<String> snapshot = new ArrayList<>();
    private long characters;
    // As of Head; and how many of those changes are still to be told again.
    private Position told;
    private Position start;
    private int again;
    private int known;
    private CaptureLog log;
    private Debezium engine;
    private Path work;
    private volatile Throwable failure;

    private Capture(SparkSession session, String folder) {
        this.hadoop = ((org.apache.spark.sql.classic.SparkSession) session)
                .sessionState()
                .newHadoopConf();
        this.folder = folder;
    }

    /**
     * Has {@link CaptureSource} find the capture whose log is in {@code folder}, by this name.
     *
     * @param settings Debezium's properties
     * @param readers how many queries read it: what all have read is deleted
     */
    public static void declare(
            SparkSession session, String folder, List<String> jars, Map<String, String> settings, int readers) {
        Capture capture = BY_FOLDER.computeIfAbsent(folder, name -> new Capture(session, name));
        synchronized (capture) {
            capture.jars = List.copyOf(jars);
            capture.settings = Map.copyOf(settings);
            capture.readers = readers;
        }
    }

    static Capture of(String folder) {
        return BY_FOLDER.get(folder);
    }

    Configuration hadoop() {
        return hadoop;
    }

    /** Begins for a query. */
    synchronized void begin(String reader) {
        if (engine == null) {
            start();
        }
        active.add(reader);
    }

    private void start() {
        try {
            failure = null;
            done.clear();
            snapshot.clear();
            characters = 0;
            log = new CaptureLog(hadoop, new org.apache.hadoop.fs.Path(folder));
            Head head = log.head();
            told = head.told();
            start = head.start();
            again = head.again();
            known = again;
            work = Files.createTempDirectory("sqlstream-capture-");
            Path history = work.resolve("history");
            Files.writeString(history, head.history());
            Map<String, String> all = new HashMap<>(settings);
            all.put("schema.history.internal", "io.debezium.storage.file.history.FileSchemaHistory");
            all.put("schema.history.internal.file.filename", history.toString());
            engine = new Debezium(
                    jars,
                    all,
                    work.resolve("offsets"),
                    start,
                    this::take,
                    e -> failure = e == null ? new IllegalStateException("The capture has ended.") : e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends for a query; the engine ends with the last one. */
    synchronized void end(String reader) {
        active.remove(reader);
        if (!active.isEmpty() || engine == null) {
            return;
        }
        engine.close();
        engine = null;
        try (Stream<Path> files = Files.walk(work)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private int take(List<Change> changes) throws IOException {
        List<String> values = new ArrayList<>();
        int settled = -1;
        for (int i = 0; i < changes.size(); i++) {
            Change change = changes.get(i);
            Position position = change.position();
            if (change.value() == null && (known > 0 || isWith(position))) {
                continue;
            }
            if (known > 0) {
                if (!isWith(position)) {
                    throw new IllegalStateException("The database's log does not go on where it was read up to.");
                }
                known--;
                continue;
            }
            boolean ofSnapshot = position.inSnapshot();
            if (!ofSnapshot) {
                writeSnapshot();
            }
            if (change.value() == null || position.group() == null) {
                start = position;
                again = 0;
                settled = i + 1;
            } else {
                if (!isWith(position)) {
                    start = told;
                    again = 0;
                    settled = i;
                }
                again++;
            }
            told = position;
            if (change.value() != null) {
                (ofSnapshot ? snapshot : values).add(change.value());
                characters += ofSnapshot ? change.value().length() : 0;
            }
            if (snapshot.size() >= ROWS || characters >= CHARACTERS || (ofSnapshot && told.lasts())) {
                writeSnapshot();
            }
        }
        if (!values.isEmpty()
                || !(told == null || told.inSnapshot() || told.equals(log.head().told()))) {
            write(false, values);
        }
        return settled;
    }

    /** Whether a change at a position is one of several of one position, of which the last one told is one, too. */
    private boolean isWith(Position position) {
        return told != null && position.group() != null && position.group().equals(told.group());
    }

    private void writeSnapshot() throws IOException {
        if (!snapshot.isEmpty()) {
            write(true, snapshot);
            snapshot.clear();
            characters = 0;
        }
    }

    /** Writes what was told up to {@code told}. */
    private void write(boolean ofSnapshot, List<String> values) throws IOException {
        String history = Files.readString(work.resolve("history"));
        // A line that is being written is of what comes later.
        log.append(
                ofSnapshot, values, new Head(told, start, again, history.substring(0, history.lastIndexOf('\n') + 1)));
    }

    /** The number of the last segment that may be read, -1 without one. Raises what the engine has met. */
    long last() {
        Throwable met = failure;
        if (met != null) {
            throw new IllegalStateException(told(met), met);
        }
        return log.last();
    }

    private static String told(Throwable met) {
        Throwable cause = met;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return "The database's changes can't be captured: "
                + (cause.getMessage() == null
                        ? cause.toString()
                        : cause.getMessage().strip());
    }

    List<Segment> behind(long after, long last, long rows) {
        return log.behind(after, last, rows);
    }

    /** A query has committed what is up to a segment. */
    synchronized void commit(String reader, long number) {
        done.put(reader, number);
        if (done.size() < readers) {
            return;
        }
        try {
            log.forget(done.values().stream().min(Long::compare).orElseThrow());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
