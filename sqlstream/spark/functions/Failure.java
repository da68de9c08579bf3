package sqlstream;

import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.errors.QueryExecutionErrors;
import org.apache.spark.unsafe.types.UTF8String;

/** How a function makes its query fail. */
final class Failure {
    private Failure() {}

    /** What Spark's raise_error throws. */
    static RuntimeException of(String message) {
        return QueryExecutionErrors.raiseError(
                UTF8String.fromString("USER_RAISED_EXCEPTION"), new ArrayBasedMapData(array("errorMessage"), array(message)));
    }

    private static GenericArrayData array(String text) {
        return new GenericArrayData(new Object[] {UTF8String.fromString(text)});
    }
}
