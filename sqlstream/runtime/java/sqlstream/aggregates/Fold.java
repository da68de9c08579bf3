package sqlstream.aggregates;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/** What takes rows into an accumulator of a function of the user's. */
public interface Fold extends Serializable {
    /**
     * The accumulator that {@code accumulator}, null for that of no rows, is with {@code rows} of {@code type}: 1 or -1
     * (one that is retracted), then the arguments.
     */
    byte[] folded(byte[] accumulator, List<? extends InternalRow> rows, StructType type);
}
