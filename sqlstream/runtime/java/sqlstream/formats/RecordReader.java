package sqlstream.formats;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import sqlstream.catalyst.Scala;

/** Reads the records of a format, each from its bytes. */
public abstract class RecordReader implements Serializable {
    /** The rows of a record (BINARY) as an array of structs of type {@code schema}: see read. */
    public Column column(Column record, String schema) {
        DataType rows = DataTypes.createArrayType(DataType.fromDDL(schema));
        return Scala.column(this, "read", rows, List.of(record), List.of(DataTypes.BinaryType), true);
    }

    /** The rows of one record. For one that can't be read none where that is ignored, else null. */
    public abstract ArrayData read(byte[] record);
}
