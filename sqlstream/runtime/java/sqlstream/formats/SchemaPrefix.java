package sqlstream.formats;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.DataTypes;
import sqlstream.catalyst.Scala;

/**
 * What stands before a record whose schema is in a registry, as Confluent's serializers write it: a byte 0, four bytes
 * of the schema's number.
 */
public final class SchemaPrefix implements Serializable {
    static final int BYTES = 5;
    private static final long serialVersionUID = 1;
    private final String settings;
    private final String subject;
    private final String schema;
    private final String kind;
    private transient byte[] written;

    /**
     * @param settings of the registry: see SchemaRegistry
     * @param subject to whose versions the schema is added before the first record is written; null where none is
     * @param schema of what is written
     * @param kind AVRO or JSON
     */
    public SchemaPrefix(String settings, String subject, String schema, String kind) {
        this.settings = settings;
        this.subject = subject;
        this.schema = schema;
        this.kind = kind;
    }

    SchemaRegistry registry() throws IOException {
        return SchemaRegistry.of(settings);
    }

    /** The number of the schema of a record. */
    static int id(byte[] record) throws IOException {
        if (record.length < BYTES || record[0] != 0) {
            throw new IOException("Unknown data format. Magic number does not match");
        }
        return ByteBuffer.wrap(record, 1, Integer.BYTES).getInt();
    }

    /** The prefix of what is written. */
    byte[] written() {
        if (written == null) {
            try {
                int id = registry().register(subject, schema, kind);
                written = ByteBuffer.allocate(BYTES).put((byte) 0).putInt(id).array();
            } catch (IOException refused) {
                throw new UncheckedIOException(refused);
            }
        }
        return written;
    }

    /** A record (BINARY) behind its prefix. */
    public Column before(Column record) {
        return Scala.column(this, "before", DataTypes.BinaryType, List.of(record), List.of(DataTypes.BinaryType), true);
    }

    /** One record behind its prefix. */
    public byte[] before(byte[] record) {
        return ByteBuffer.allocate(BYTES + record.length)
                .put(written())
                .put(record)
                .array();
    }
}
