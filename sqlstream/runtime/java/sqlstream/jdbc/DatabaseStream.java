package sqlstream.jdbc;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.StructType;
import sqlstream.catalyst.Scala;
import sqlstream.realtime.RowSink;
import sqlstream.realtime.RowTarget;

/** A table of a database, into which the rows of one task go in transactions. */
public final class DatabaseStream implements RowTarget {
    private final TableRows table;
    private final Database database;
    private final UnsafeProjection key;
    private Connection connection;

    /**
     * Parameters as of {@link DatabaseWriter#write}; the option {@code id} of {@link RowSink} by which the next query
     * writes so.
     *
     * @param type that of the query's rows
     */
    public static String begin(
            StructType type,
            Map<String, String> options,
            String add,
            String remove,
            List<String> keys,
            int together,
            int retries) {
        TableRows table = new TableRows(type, add, remove, keys, together);
        Database database = Database.of(Map.copyOf(options), retries);
        return RowSink.begin(() -> new DatabaseStream(table, database));
    }

    private DatabaseStream(TableRows table, Database database) throws IOException {
        this.table = table;
        this.database = database;
        List<Expression> columns = new ArrayList<>();
        for (int place : table.keys) {
            columns.add(new BoundReference(place, table.type.apply(place).dataType(), true));
        }
        key = columns.isEmpty() ? null : UnsafeProjection.create(Scala.<Expression>seq(columns));
        try {
            connection = connected();
        } catch (SQLException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private Connection connected() throws SQLException {
        Connection made = database.connect();
        made.setAutoCommit(false);
        return made;
    }

    @Override
    public Object key(InternalRow row) {
        return key == null ? RowTarget.super.key(row) : key.apply(row).copy();
    }

    @Override
    public void write(List<InternalRow> rows) throws IOException {
        try {
            written(rows);
        } catch (SQLException e) {
            throw new IOException(e.getMessage(), e);
        }
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

    @Override
    public void leave() {
        try (Connection left = connection) {
            connection = null;
        } catch (SQLException e) {
            // It is gone.
        }
    }
}
