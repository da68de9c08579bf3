package sqlstream.jdbc;

import java.io.Serializable;
import java.sql.Connection;
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
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction2;

/** Writes rows into a table of a database: each task's in one transaction. */
public final class DatabaseWriter extends AbstractFunction2<TaskContext, Iterator<InternalRow>, SQLException>
        implements Serializable {
    private final Database database;
    private final TableRows table;

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
        DatabaseWriter writer =
                new DatabaseWriter(database, new TableRows(frame.schema(), add, remove, keys, together));
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

    private DatabaseWriter(Database database, TableRows table) {
        this.database = database;
        this.table = table;
    }

    /** Write the rows of one task; what the database said against it comes back. */
    @Override
    public SQLException apply(TaskContext context, Iterator<InternalRow> rows) {
        if (!rows.hasNext()) {
            return null;
        }
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            table.write(connection, CollectionConverters.asJava(rows));
            return null;
        } catch (SQLException e) {
            return TableRows.reported(e);
        }
    }
}
