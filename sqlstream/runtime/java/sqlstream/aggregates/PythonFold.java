package sqlstream.aggregates;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.spark.SparkFiles;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.arrow.ArrowWriter;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.ArrowUtils;
import sqlstream.catalyst.Scala;
import sqlstream.catalyst.SparkCalls;

/**
 * Rows taken into an accumulator of a function in Python, by a process beside the JVM that runs
 * {@code sqlstream.udf.worker.fold}. Spark's own workers answer an operator's output; here it is the operator itself
 * that asks, once for many rows.
 *
 * <p>On the process's stdin: the function's task, then for each question the accumulator and the rows as an Arrow
 * stream. On its stdout: for each a number, 0 where the new accumulator follows, else what went wrong. All are bytes
 * behind their length (4 bytes, -1 for NULL). The process ends with its stdin, so with the JVM, or when it is not asked
 * for a while.
 */
public final class PythonFold implements Fold {
    private static final String MAIN =
            "import sys; sys.path[1:1] = sys.argv[1:]; from sqlstream.udf.worker.fold import main; main()";
    private static final long IDLE_MS = 60_000;
    private static final Map<String, Deque<Worker>> IDLE = new HashMap<>();

    private final String key;
    private final byte[] task;
    private final String python;
    private final ArrayList<String> files;
    private final HashMap<String, String> environment;

    /**
     * @param key equal where all else is
     * @param files those that Spark has sent to its workers as modules
     * @param environment the variables that Spark gives its workers
     */
    public PythonFold(String key, byte[] task, String python, List<String> files, Map<String, String> environment) {
        this.key = key;
        this.task = task;
        this.python = python;
        this.files = new ArrayList<>(files);
        this.environment = new HashMap<>(environment);
    }

    @Override
    public byte[] folded(byte[] accumulator, List<? extends InternalRow> rows, StructType type) {
        Worker worker = idleOrNew();
        boolean answered = false;
        try {
            byte[] found = worker.ask(accumulator, stream(rows, type));
            answered = true;
            return found;
        } catch (IOException error) {
            // The words by which Spark tells of its own.
            throw new UncheckedIOException("Python worker exited unexpectedly (crashed)", error);
        } finally {
            if (answered) {
                release(worker);
            } else {
                worker.process.destroyForcibly();
            }
        }
    }

    @Override
    public boolean equals(Object that) {
        return that instanceof PythonFold other && key.equals(other.key);
    }

    @Override
    public int hashCode() {
        return key.hashCode();
    }

    private static byte[] stream(List<? extends InternalRow> rows, StructType type) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (BufferAllocator allocator = ArrowUtils.rootAllocator().newChildAllocator("fold", 0, Long.MAX_VALUE);
                VectorSchemaRoot root = VectorSchemaRoot.create(SparkCalls.arrow(type), allocator);
                ArrowStreamWriter stream = new ArrowStreamWriter(root, null, bytes)) {
            ArrowWriter writer = ArrowWriter.create(root);
            rows.forEach(writer::write);
            writer.finish();
            stream.start();
            stream.writeBatch();
            stream.end();
        }
        return bytes.toByteArray();
    }

    private Worker idleOrNew() {
        synchronized (IDLE) {
            Deque<Worker> idle = IDLE.get(key);
            while (idle != null && !idle.isEmpty()) {
                Worker worker = idle.pop();
                if (worker.process.isAlive()) {
                    return worker;
                }
            }
        }
        return new Worker();
    }

    private void release(Worker worker) {
        synchronized (IDLE) {
            IDLE.computeIfAbsent(key, k -> new ArrayDeque<>()).push(worker);
        }
        worker.used = System.nanoTime();
        if (!worker.watched) {
            worker.watched = true;
            worker.closeIdle(IDLE_MS);
        }
    }

    /** A process, and what it is asked through. One task at a time has it. */
    private final class Worker {
        private final Process process;
        private final DataOutputStream to;
        private final DataInputStream from;
        private volatile long used;
        private boolean watched;

        private Worker() {
            String folder = new File(SparkFiles.getRootDirectory()).getAbsolutePath();
            List<String> command = new ArrayList<>(List.of(python, "-c", MAIN, folder));
            files.forEach(file -> command.add(new File(folder, file).getPath()));
            ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
            Map<String, String> own = builder.environment();
            String asked = environment.getOrDefault("PYTHONPATH", "");
            String path = PythonUtils.mergePythonPaths(
                    Scala.seq(List.of(PythonUtils.sparkPythonPath(), asked, own.getOrDefault("PYTHONPATH", ""))));
            own.putAll(environment);
            own.put("PYTHONPATH", path);
            try {
                process = builder.start();
            } catch (IOException error) {
                throw new UncheckedIOException(
                        "The Python '" + python + "' does not start: " + error.getMessage(), error);
            }
            to = new DataOutputStream(process.getOutputStream());
            from = new DataInputStream(process.getInputStream());
        }

        private byte[] ask(byte[] accumulator, byte[] rows) throws IOException {
            if (used == 0) {
                put(task);
            }
            put(accumulator);
            put(rows);
            to.flush();
            await();
            boolean failed = from.readInt() != 0;
            byte[] answer = new byte[from.readInt()];
            from.readFully(answer);
            if (failed) {
                throw new IllegalStateException(new String(answer, java.nio.charset.StandardCharsets.UTF_8));
            }
            return answer;
        }

        private void put(byte[] bytes) throws IOException {
            to.writeInt(bytes == null ? -1 : bytes.length);
            if (bytes != null) {
                to.write(bytes);
            }
        }

        /** Waits for an answer. A read itself would not end when the task is interrupted. */
        private void await() throws IOException {
            try {
                while (from.available() == 0 && process.isAlive()) {
                    Thread.sleep(1);
                }
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("The task was interrupted.", interrupted);
            }
        }

        /** Closes the process once it was not asked for so long. */
        private void closeIdle(long delay) {
            CompletableFuture.delayedExecutor(delay, TimeUnit.MILLISECONDS).execute(() -> {
                long left = IDLE_MS - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - used);
                synchronized (IDLE) {
                    if (left > 0 || !IDLE.get(key).remove(this)) {
                        closeIdle(Math.max(left, 1000));
                        return;
                    }
                }
                try {
                    to.close();
                } catch (IOException error) {
                    process.destroy();
                }
            });
        }
    }
}
