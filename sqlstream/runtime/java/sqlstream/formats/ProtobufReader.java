package sqlstream.formats;

import java.io.IOException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.sparkproject.spark_core.protobuf.InvalidProtocolBufferException;

/** Reads records that are one message of Protobuf each. */
public abstract class ProtobufReader extends RecordReader {
    private final boolean ignoreErrors;

    /** @param ignoreErrors whether a record that can't be read is left out */
    ProtobufReader(boolean ignoreErrors) {
        this.ignoreErrors = ignoreErrors;
    }

    @Override
    public final ArrayData read(byte[] record) {
        try {
            return new GenericArrayData(new Object[] {row(record)});
        } catch (IOException | IllegalArgumentException unreadable) {
            return ignoreErrors ? new GenericArrayData(new Object[0]) : null;
        }
    }

    /** What the error says, without the end of its sentence. */
    @Override
    final String reason(byte[] record) {
        try {
            row(record);
            return null;
        } catch (IOException | IllegalArgumentException unreadable) {
            Throwable cause = unreadable.getCause();
            boolean told = cause == null || cause instanceof InvalidProtocolBufferException;
            return (unreadable.getMessage() + (told ? "" : ": " + cause.getMessage())).replaceFirst("\\.$", "");
        }
    }

    /** The row of a record. Raises one of the two for one that can't be read. */
    abstract InternalRow row(byte[] record) throws IOException;
}
