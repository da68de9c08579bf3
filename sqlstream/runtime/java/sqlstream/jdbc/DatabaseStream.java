package sqlstream.jdbc;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import sqlstream.catalyst.Scala;

/**
 * Writes the rows of one task as they come: a thread takes all that have come while the transaction before was being
 * written, of each key the last. So a row alone is written at once, and many together.
 */
final class DatabaseStream implements DataWriter<InternalRow> {
    // As many rows may wait: then the task does.
    private static final int MOST = 10_000;

    private final TableRows table;
    private final Database database;
    private final UnsafeProjection key;
    private final Thread thread;
    private Map<Object, InternalRow> waiting = new LinkedHashMap<>();
    private boolean writing;
    private boolean ending;
    private Exception failure;
    private Connection connection;

    DatabaseStream(TableRows table, Database database) throws SQLException {
        this.table = table;
        this.database = database;
        List<Expression> columns = new ArrayList<>();
        for (int place : table.keys) {
            columns.add(new BoundReference(place, table.type.apply(place).dataType(), true));
        }
        key = columns.isEmpty() ? null : UnsafeProjection.create(Scala.<Expression>seq(columns));
        connection = connected();
        thread = new Thread(this::run, "database-stream");
        thread.setDaemon(true);
        thread.start();
    }

    private Connection connected() throws SQLException {
        Connection made = database.connect();
        made.setAutoCommit(false);
        return made;
    }

    @Override
    public synchronized void write(InternalRow row) throws IOException {
        await(() -> waiting.size() < MOST);
        InternalRow kept = row.copy();
        Object known = key == null ? new Object() : key.apply(kept).copy();
        // What has come last is written last.
        waiting.remove(known);
        waiting.put(known, kept);
        notifyAll();
    }

    /** When all is in the database. */
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
                written(rows);
                synchronized (this) {
                    writing = false;
                    notifyAll();
                }
            }
        } catch (SQLException | RuntimeException e) {
            synchronized (this) {
                failure = e;
                notifyAll();
            }
        } finally {
            leave();
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

    private void written(List<InternalRow> rows) throws SQLException {
        for (int number = 1; ; number++) {
            try {
                connection = connection == null ? connected() : connection;
                table.write(connection, rows.iterator());
                return;
            } catch (SQLException e) {
                leave();
                database.again(number, TableRows.reported(e));
            }
        }
    }

    private void leave() {
        try (Connection left = connection) {
            connection = null;
        } catch (SQLException e) {
            // It is gone.
        }
    }
}
