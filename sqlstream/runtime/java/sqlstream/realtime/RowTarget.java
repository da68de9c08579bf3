package sqlstream.realtime;

import java.io.IOException;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;

/** Where the rows of one task go, as they come. */
public interface RowTarget {
    /** Makes a target for each task, wherever it runs. */
    @FunctionalInterface
    interface Opener extends Serializable {
        RowTarget open() throws IOException;
    }

    /** Of the rows with one key that wait only the last is written. */
    default Object key(InternalRow row) {
        return new Object();
    }

    void write(List<InternalRow> rows) throws IOException;

    /** No row comes any more. */
    default void leave() {}
}
