package sqlstream.jdbc;

import java.io.Serializable;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * How rows get into a table of a database. Where there are keys the last column of a row says whether it is to be
 * removed.
 */
final class TableRows implements Serializable {
    final StructType type;
    final int[] keys;
    private final int columns;
    private final String add;
    private final String remove;
    private final int together;

    /**
     * @param add the statement that writes a row, a parameter a column
     * @param remove the statement that removes a row, a parameter for each of {@code keys}
     * @param together how many rows go to the database at a time
     */
    TableRows(StructType type, String add, String remove, List<String> keys, int together) {
        this.type = type;
        this.add = add;
        this.remove = remove;
        this.keys = keys.stream().mapToInt(type::fieldIndex).toArray();
        this.together = together;
        columns = this.keys.length == 0 ? type.length() : type.length() - 1;
    }

    /** Writes {@code rows} in one transaction, of which there is one a key. */
    void write(Connection connection, Iterator<InternalRow> rows) throws SQLException {
        try {
            writeAll(connection, rows);
            connection.commit();
        } catch (Throwable e) {
            rollBack(connection);
            throw e;
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
    static SQLException reported(SQLException e) {
        SQLException cause = e.getNextException() == null ? e : e.getNextException();
        return new SQLException(cause.getMessage(), cause.getSQLState());
    }
}
