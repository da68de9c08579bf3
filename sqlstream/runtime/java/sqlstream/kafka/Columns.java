package sqlstream.kafka;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.StructType;

/** Where the parts of a record are in a row: -1 for a part that is not there. */
record Columns(int value, int key, int headers, int timestamp, int partition) implements Serializable {
    private static final long MICROS = 1000;

    static Columns of(StructType schema) {
        List<String> names = Arrays.asList(schema.fieldNames());
        return new Columns(
                names.indexOf("value"),
                names.indexOf("key"),
                names.indexOf("headers"),
                names.indexOf("timestamp"),
                names.indexOf("partition"));
    }

    /** The record of a row: key and value are bytes, headers pairs, its time microseconds since 1970. */
    ProducerRecord<byte[], byte[]> record(String topic, InternalRow row) {
        boolean timed = timestamp >= 0 && !row.isNullAt(timestamp);
        Long time = timed ? (Long) Math.floorDiv(row.getLong(timestamp), MICROS) : null;
        Integer into = partition < 0 ? null : (Integer) row.getInt(partition);
        return new ProducerRecord<>(topic, into, time, bytes(row, key), bytes(row, value), headers(row));
    }

    private static byte[] bytes(InternalRow row, int column) {
        return column < 0 || row.isNullAt(column) ? null : row.getBinary(column);
    }

    private Iterable<Header> headers(InternalRow row) {
        List<Header> found = new ArrayList<>();
        if (headers >= 0 && !row.isNullAt(headers)) {
            ArrayData pairs = row.getArray(headers);
            for (int i = 0; i < pairs.numElements(); i++) {
                InternalRow pair = pairs.getStruct(i, 2);
                found.add(new RecordHeader(pair.getUTF8String(0).toString(), bytes(pair, 1)));
            }
        }
        return found;
    }
}
