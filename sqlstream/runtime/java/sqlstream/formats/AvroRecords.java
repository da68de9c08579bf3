package sqlstream.formats;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.IndexedRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.Decoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.Encoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import sqlstream.catalyst.Scala;

/**
 * Reads and writes records of Avro that come without their schema: Spark's own functions don't say which record they
 * can't read.
 */
public class AvroRecords extends RecordReader {
    private final String type;
    private final String schemaText;
    private final boolean json;
    private transient Schema schema;
    private transient AvroValues.Rows values;
    private transient GenericDatumReader<IndexedRecord> reader;
    private transient GenericDatumWriter<IndexedRecord> writer;
    private transient BinaryDecoder decoder;
    private transient BinaryEncoder encoder;

    /**
     * @param type the row's type as DDL
     * @param schema its schema in Avro
     * @param json whether records are Avro's JSON, else its binary form
     */
    public AvroRecords(String type, String schema, boolean json) {
        this.type = type;
        this.schemaText = schema;
        this.json = json;
    }

    @Override
    public ArrayData read(byte[] record) {
        try {
            return new GenericArrayData(new Object[] {row(record)});
        } catch (IOException | AvroRuntimeException | ClassCastException | IndexOutOfBoundsException unreadable) {
            return null;
        }
    }

    @Override
    String reason(byte[] record) {
        try {
            row(record);
            return null;
        } catch (IOException | AvroRuntimeException unreadable) {
            return unreadable.getMessage();
        } catch (ClassCastException | IndexOutOfBoundsException unreadable) {
            return null;
        }
    }

    private InternalRow row(byte[] record) throws IOException {
        if (values == null) {
            values = AvroValues.reader(StructType.fromDDL(type), schema());
        }
        IndexedRecord decoded = decoded(record);
        if (decoded == null) {
            throw new IOException("The record is null");
        }
        return values.row(decoded);
    }

    /** The record that is in these bytes. */
    IndexedRecord decoded(byte[] record) throws IOException {
        if (reader == null) {
            reader = new GenericDatumReader<>(schema());
        }
        return reader.read(null, decoder(record));
    }

    /** The schema of a row. */
    final Schema schema() {
        if (schema == null) {
            schema = new Schema.Parser().parse(schemaText);
        }
        return schema;
    }

    private Decoder decoder(byte[] record) throws IOException {
        if (json) {
            return DecoderFactory.get().jsonDecoder(schema(), new ByteArrayInputStream(record));
        }
        return binary(record, 0);
    }

    /** What reads the bytes from {@code begin} on. */
    final Decoder binary(byte[] record, int begin) {
        decoder = DecoderFactory.get().binaryDecoder(record, begin, record.length - begin, decoder);
        return decoder;
    }

    /** The record (BINARY) of a struct. */
    public Column written(Column row) {
        DataType struct = DataType.fromDDL(type);
        return Scala.column(this, "write", DataTypes.BinaryType, List.of(row), List.of(struct), true);
    }

    /** The record of a row. */
    public byte[] write(InternalRow row) throws IOException {
        if (writer == null) {
            values = AvroValues.writer(StructType.fromDDL(type), schema());
            writer = new GenericDatumWriter<>(schema());
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        begin(bytes);
        Encoder to = encoder(bytes);
        writer.write(values.record(row), to);
        to.flush();
        return bytes.toByteArray();
    }

    /** Write what stands before a record. */
    void begin(ByteArrayOutputStream bytes) {}

    private Encoder encoder(ByteArrayOutputStream bytes) throws IOException {
        if (json) {
            return EncoderFactory.get().jsonEncoder(schema, bytes);
        }
        encoder = EncoderFactory.get().binaryEncoder(bytes, encoder);
        return encoder;
    }
}
