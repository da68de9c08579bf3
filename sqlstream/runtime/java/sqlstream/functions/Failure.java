package sqlstream.functions;

import java.util.Map;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.errors.QueryExecutionErrors;
import org.apache.spark.unsafe.types.UTF8String;

/** A row for which a query must fail, in words for its user. */
public final class Failure {
    private static final UTF8String CLASS = UTF8String.fromString("USER_RAISED_EXCEPTION");
    private static final UTF8String MESSAGE = UTF8String.fromString("errorMessage");

    private Failure() {}

    /** The exception to throw: as by {@code raise_error}. */
    public static RuntimeException of(String message) {
        return QueryExecutionErrors.raiseError(
                CLASS, ArrayBasedMapData.apply(Map.of(MESSAGE, UTF8String.fromString(message)), x -> x, x -> x));
    }
}
