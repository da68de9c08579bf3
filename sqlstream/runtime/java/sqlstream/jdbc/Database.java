package sqlstream.jdbc;

import java.io.Serializable;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions;
import org.apache.spark.sql.jdbc.JdbcDialect;
import org.apache.spark.sql.jdbc.JdbcDialects;
import scala.jdk.javaapi.CollectionConverters;

/** A database that tasks connect to, and what they do about a failure. */
final class Database implements Serializable {
    // Classes of SQLSTATE: what is wrong with the data, the rights or the statement is as wrong when it is tried again.
    private static final Set<String> LASTING = Set.of("21", "22", "23", "28", "2B", "3D", "3F", "42", "44");
    private static final long PAUSE_MS = 1000;

    private final JDBCOptions options;
    private final int retries;

    /** {@code retries}: how often something that failed is tried again. */
    Database(JDBCOptions options, int retries) {
        this.options = options;
        this.retries = retries;
    }

    /** {@code options} as Spark's JDBC source takes them. */
    static Database of(Map<String, String> options, int retries) {
        return new Database(
                new JDBCOptions(scala.collection.immutable.Map.from(CollectionConverters.asScala(options))), retries);
    }

    JDBCOptions options() {
        return options;
    }

    JdbcDialect dialect() {
        return JdbcDialects.get(options.url());
    }

    Connection connect() throws SQLException {
        return dialect().createConnectionFactory(options).apply(-1);
    }

    /** Wait before try {@code number} (from 1) is repeated, or throw what it met. */
    void again(int number, SQLException met) throws SQLException {
        if (number > retries || lasts(met)) {
            throw met;
        }
        try {
            Thread.sleep(PAUSE_MS * number);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw met;
        }
    }

    private static boolean lasts(SQLException met) {
        String state = met.getSQLState();
        return state != null && state.length() >= 2 && LASTING.contains(state.substring(0, 2));
    }
}
