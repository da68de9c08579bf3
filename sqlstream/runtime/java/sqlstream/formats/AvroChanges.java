package sqlstream.formats;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;

/**
 * Reads records of Avro that say what has changed in a table: the row before a change, the row after it, the change's
 * name. Each gives rows of a changelog: their columns and their kind.
 */
public final class AvroChanges extends RecordReader {
    private static final int BEFORE = 0;
    private static final int AFTER = 1;
    private static final int NAME = 2;
    private static final String REPLICA_IDENTITY = ", if you are using Debezium Postgres Connector, please check the"
            + " Postgres table has been set REPLICA IDENTITY to FULL level";
    private final AvroRecords records;
    private final String description;
    private transient Map<String, Byte[]> kinds;

    /**
     * @param records gives one row of each record: the row before, the row after, the name
     * @param description the kinds of these rows by the change's name, in JSON: see JsonChanges
     */
    public AvroChanges(AvroRecords records, String description) {
        this.records = records;
        this.description = description;
    }

    @Override
    public ArrayData read(byte[] record) {
        ArrayData read = records.read(record);
        if (read == null) {
            return null;
        }
        InternalRow change = read.getStruct(0, NAME + 1);
        Byte[] kind = kind(change);
        List<Object> found = new ArrayList<>(2);
        for (int side = BEFORE; kind != null && side <= AFTER; side++) {
            if (kind[side] != null) {
                if (change.isNullAt(side)) {
                    return null;
                }
                found.add(row(change, side, kind[side]));
            }
        }
        return kind == null ? null : new GenericArrayData(found.toArray());
    }

    @Override
    String reason(byte[] record) {
        ArrayData read = records.read(record);
        if (read == null) {
            return records.reason(record);
        }
        InternalRow change = read.getStruct(0, NAME + 1);
        Byte[] kind = kind(change);
        if (kind == null) {
            return "Unknown \"op\" value \"" + (change.isNullAt(NAME) ? null : change.getString(NAME)) + "\"";
        }
        boolean before = kind[BEFORE] != null && change.isNullAt(BEFORE);
        String side = "The \"" + (before ? "before" : "after") + "\" field of the message is null";
        return before ? side + REPLICA_IDENTITY : side;
    }

    private Byte[] kind(InternalRow change) {
        if (kinds == null) {
            try {
                kinds = JsonChanges.kinds(new ObjectMapper().readTree(description));
            } catch (IOException impossible) {
                throw new IllegalArgumentException(description, impossible);
            }
        }
        return change.isNullAt(NAME) ? null : kinds.get(change.getString(NAME));
    }

    private static InternalRow row(InternalRow change, int side, Byte kind) {
        Object[] cells = ((GenericInternalRow) change.get(side, null)).values();
        Object[] all = Arrays.copyOf(cells, cells.length + 1);
        all[cells.length] = kind;
        return new GenericInternalRow(all);
    }
}
