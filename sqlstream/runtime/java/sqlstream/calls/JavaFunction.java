package sqlstream.calls;

import org.apache.spark.sql.catalyst.InternalRow;

/** A function of the user's in Java, opened for one task at a time. */
public interface JavaFunction {
    /**
     * What it gives for the values of its arguments, both as Spark has them; of a table function an array of its rows.
     */
    Object call(InternalRow arguments);

    /** It is not called any more. */
    void close();
}
