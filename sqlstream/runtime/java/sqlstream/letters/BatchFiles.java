package sqlstream.letters;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.TaskContext;
import org.apache.spark.deploy.SparkHadoopUtil$;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.util.TaskFailureListener;

/**
 * A folder that all executors reach, with a folder for each micro-batch, in which each task has a file of lines. The
 * file is whole before Spark knows that its task has ended. A letter has the number of its task's partition and, of its
 * kind and source, its own in it: what computes the same once more numbers it alike.
 */
public final class BatchFiles implements Letters {
    private static final String BATCH = "streaming.sql.batchId";
    private static final Map<String, Open> OPEN = new HashMap<>();

    private final String folder;
    private final String table;

    /**
     * @param folder its URI
     * @param table into which its letters are written
     */
    public BatchFiles(String folder, String table) {
        this.folder = folder;
        this.table = table;
    }

    @Override
    public void keep(ObjectNode letter) throws IOException {
        TaskContext task = TaskContext.get();
        String key = folder + " " + task.taskAttemptId();
        Open file;
        // A function in Python gets rows on a thread of its own.
        synchronized (OPEN) {
            file = OPEN.get(key);
            if (file == null) {
                file = new Open(key, place(task), task);
                OPEN.put(key, file);
            }
        }
        letter.put("into", table);
        letter.put("partition", task.partitionId());
        file.add(letter);
    }

    /** Of the task's file. */
    private Path place(TaskContext task) {
        String batch = task.getLocalProperty(BATCH);
        return new Path(
                new Path(folder, batch == null ? "0" : batch), task.stageId() + "-" + task.partitionId() + ".jsonl");
    }

    /** The file of a task, which is renamed when the task ends, and deleted when it fails. */
    private static final class Open implements TaskCompletionListener, TaskFailureListener {
        private final String key;
        private final Path path;
        private final Path begun;
        private final FileSystem system;
        private final Writer out;
        /** How many there are of each kind and source: those of one come in order, of all where Python runs beside. */
        private final Map<String, Long> numbers = new HashMap<>();

        private boolean failed;

        Open(String key, Path path, TaskContext task) throws IOException {
            this.key = key;
            this.path = path;
            begun = new Path(path.getParent(), "_" + path.getName() + "-" + task.taskAttemptId());
            system = path.getFileSystem(SparkHadoopUtil$.MODULE$.get().conf());
            out = new BufferedWriter(new OutputStreamWriter(system.create(begun, true), StandardCharsets.UTF_8));
            task.addTaskFailureListener(this);
            task.addTaskCompletionListener(this);
        }

        synchronized void add(ObjectNode letter) throws IOException {
            long number = numbers.merge(letter.get("kind") + " " + letter.get("source"), 1L, Long::sum);
            letter.put("number", number);
            out.write(letter + "\n");
        }

        @Override
        public void onTaskFailure(TaskContext task, Throwable error) {
            failed = true;
        }

        @Override
        public void onTaskCompletion(TaskContext task) {
            synchronized (OPEN) {
                OPEN.remove(key);
            }
            try {
                out.close();
                if (failed || task.isInterrupted()) {
                    system.delete(begun, false);
                    return;
                }
                // A task that runs once more has the same rows.
                system.delete(path, false);
                if (!system.rename(begun, path)) {
                    throw new IOException("The dead letters in " + begun + " can't be renamed to " + path + ".");
                }
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }
    }
}
