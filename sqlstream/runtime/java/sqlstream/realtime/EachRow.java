package sqlstream.realtime;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/**
 * Writes the rows of one task as they come: a thread takes all that have come while those before were being written, of
 * each key the last. So a row alone is written at once, and many together.
 */
final class EachRow implements DataWriter<InternalRow> {
    // As many rows may wait: then the task does.
    private static final int MOST = 10_000;

    private final RowTarget target;
    private final Pause pause;
    private final Thread thread;
    private Map<Object, InternalRow> waiting = new LinkedHashMap<>();
    private boolean writing;
    private boolean ending;
    private Exception failure;

    EachRow(RowTarget target, Pause pause) {
        this.target = target;
        this.pause = pause;
        thread = new Thread(this::run, "each-row");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public synchronized void write(InternalRow row) throws IOException {
        await(() -> waiting.size() < MOST);
        InternalRow kept = row.copy();
        Object key = target.key(kept);
        // What has come last is written last.
        waiting.remove(key);
        waiting.put(key, kept);
        notifyAll();
    }

    /** When all is written. */
    @Override
    public synchronized WriterCommitMessage commit() throws IOException {
        await(() -> waiting.isEmpty() && !writing);
        return null;
    }

    @Override
    public void abort() {
        close();
    }

    @Override
    public void close() {
        synchronized (this) {
            ending = true;
            notifyAll();
        }
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @FunctionalInterface
    private interface Condition {
        boolean holds();
    }

    private void await(Condition condition) throws IOException {
        try {
            while (failure == null && !condition.holds()) {
                wait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("The task was ended.", e);
        }
        if (failure != null) {
            throw new IOException(failure.getMessage(), failure);
        }
    }

    private void run() {
        try {
            for (List<InternalRow> rows = next(); rows != null; rows = next()) {
                target.write(rows);
                synchronized (this) {
                    writing = false;
                    notifyAll();
                }
            }
        } catch (IOException | RuntimeException e) {
            synchronized (this) {
                failure = e;
                notifyAll();
            }
            pause.begin();
        } finally {
            target.leave();
        }
    }

    /** All that wait, as soon as there are any; null at the end. */
    private synchronized List<InternalRow> next() {
        try {
            while (waiting.isEmpty() && !ending) {
                wait();
            }
        } catch (InterruptedException e) {
            return null;
        }
        if (ending) {
            return null;
        }
        List<InternalRow> rows = List.copyOf(waiting.values());
        waiting = new LinkedHashMap<>();
        writing = true;
        notifyAll();
        return rows;
    }
}
