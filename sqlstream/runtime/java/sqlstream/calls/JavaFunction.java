package sqlstream.calls;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;

/** A function of the user's in Java, opened for one task at a time. */
public interface JavaFunction {
    /**
     * What it gives for the values of its arguments, both as Spark has them; of a table function an array of its rows.
     */
    Object call(InternalRow arguments);

    /**
     * Of an aggregate function, the accumulator that {@code accumulator}, null for that of no rows, is with
     * {@code rows}: 1 or -1 (one that is retracted), then the arguments.
     */
    byte[] folded(byte[] accumulator, List<? extends InternalRow> rows);

    /** It is not called any more. */
    void close();
}
