package sqlstream.jdbc;

import java.io.Serializable;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.TaskContext;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction2;

/** Writes rows into a table of a database: each task's in one transaction. */
public final class DatabaseWriter extends AbstractFunction2<TaskContext, Iterator<InternalRow>, SQLException>
        implements Serializable {
    private final StructType type;
    private final int columns;
    private final Database database;
    private final String add;
    private final String remove;
    private final int[] keys;
    private final int together;

    /**
     * Write {@code frame}, whose last column says of a row whether it is to be removed where there are {@code keys}.
     *
     * @param options Spark's for the connection
     * @param add the statement that writes a row, a parameter a column
     * @param remove the statement that removes a row, a parameter for each of {@code keys}
     * @param together how many rows go to the database at a time
     * @param retries how often a transaction that failed is tried again
     */
    public static void write(
            Dataset<Row> frame,
            Map<String, String> options,
            String add,
            String remove,
            List<String> keys,
            int together,
            int retries)
            throws SQLException {
        var rows = (org.apache.spark.sql.classic.Dataset<Row>) frame;
        Database database = Database.of(Map.copyOf(options), retries);
        int[] places = keys.stream().mapToInt(frame.schema()::fieldIndex).toArray();
        DatabaseWriter writer = new DatabaseWriter(frame.schema(), database, add, remove, places, together);
        RDD<InternalRow> rdd = rows.queryExecution().toRdd();
        List<Object> left = new ArrayList<>(
                IntStream.range(0, rdd.getNumPartitions()).boxed().toList());
        for (int number = 1; !left.isEmpty(); number++) {
            SQLException[] met = (SQLException[]) rows.sparkSession()
                    .sparkContext()
                    .runJob(rdd, writer, PythonUtils.toSeq(left), ClassTag$.MODULE$.apply(SQLException.class));
            List<Object> failed = new ArrayList<>();
            SQLException last = null;
            for (int i = 0; i < met.length; i++) {
                if (met[i] != null) {
                    failed.add(left.get(i));
                    last = met[i];
                }
            }
            if (last != null) {
                database.again(number, last);
            }
            // Other tasks' transactions stand: they are not written again.
            left = failed;
        }
    }

    private DatabaseWriter(StructType type, Database database, String add, String remove, int[] keys, int together) {
        this.type = type;
        columns = keys.length == 0 ? type.length() : type.length() - 1;
        this.database = database;
        this.add = add;
        this.remove = remove;
        this.keys = keys;
        this.together = together;
    }

    /** Write the rows of one task; what the database said against it comes back. */
    @Override
    public SQLException apply(TaskContext context, Iterator<InternalRow> rows) {
        if (!rows.hasNext()) {
            return null;
        }
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            try {
                writeAll(connection, rows);
                connection.commit();
            } catch (Throwable e) {
                rollBack(connection);
                throw e;
            }
            return null;
        } catch (SQLException e) {
            return reported(e);
        }
    }

    private void writeAll(Connection connection, Iterator<InternalRow> rows) throws SQLException {
        try (PreparedStatement adding = connection.prepareStatement(add);
                PreparedStatement removing = keys.length == 0 ? null : connection.prepareStatement(remove)) {
            int added = 0;
            int removed = 0;
            while (rows.hasNext()) {
                InternalRow row = rows.next();
                if (removing != null && row.getBoolean(columns)) {
                    for (int i = 0; i < keys.length; i++) {
                        Parameters.set(
                                removing,
                                i + 1,
                                row,
                                keys[i],
                                type.apply(keys[i]).dataType());
                    }
                    removing.addBatch();
                    removed++;
                } else {
                    for (int i = 0; i < columns; i++) {
                        Parameters.set(adding, i + 1, row, i, type.apply(i).dataType());
                    }
                    adding.addBatch();
                    added++;
                }
                if (added + removed == together || !rows.hasNext()) {
                    // A row that is deleted may stand in the way of one that is inserted, by another key that is
                    // unique.
                    if (removed > 0) {
                        removing.executeBatch();
                    }
                    if (added > 0) {
                        adding.executeBatch();
                    }
                    added = removed = 0;
                }
            }
        }
    }

    private static void rollBack(Connection connection) {
        try {
            connection.rollback();
        } catch (SQLException e) {
            // What failed before says more.
        }
    }

    /** {@code e} as an exception that needs no driver to be read: of a batch the one that says what was wrong. */
    private static SQLException reported(SQLException e) {
        SQLException cause = e.getNextException() == null ? e : e.getNextException();
        return new SQLException(cause.getMessage(), cause.getSQLState());
    }
}
