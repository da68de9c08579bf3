package sqlstream.formats;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import sqlstream.catalyst.Scala;

/** Reads the records of a format, each from its bytes. */
public abstract class RecordReader implements Serializable {
    /** The rows of a record (BINARY) as an array of structs of type {@code schema}: see read. */
    public Column column(Column record, String schema) {
        DataType rows = DataTypes.createArrayType(DataType.fromDDL(schema));
        return Scala.column(this, "read", rows, List.of(record), List.of(DataTypes.BinaryType), true);
    }

    /** A sentence (STRING) that says why a record (BINARY) can't be read, behind a blank; empty where none is known. */
    public Column why(Column record) {
        return Scala.column(this, "why", DataTypes.StringType, List.of(record), List.of(DataTypes.BinaryType), true);
    }

    /** The sentence of one record. */
    public final UTF8String why(byte[] record) {
        String reason = reason(record);
        return UTF8String.fromString(reason == null ? "" : " " + reason + ".");
    }

    /** Why a record can't be read; null where no more is known than that. */
    String reason(byte[] record) {
        return null;
    }

    /** The rows of one record. For one that can't be read none where that is ignored, else null. */
    public abstract ArrayData read(byte[] record);
}
