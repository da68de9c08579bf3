package sqlstream.formats;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.IndexedRecord;

/**
 * Reads and writes records of Avro that begin with the number of their schema in a registry: see SchemaPrefix. What was
 * written by one schema is read by another one, that of the columns, as Avro resolves them.
 */
public final class RegisteredAvro extends AvroRecords {
    private final SchemaPrefix prefix;
    private transient Map<Integer, GenericDatumReader<IndexedRecord>> readers;

    /**
     * @param type the row's type as DDL
     * @param schema its schema in Avro
     * @param settings of the registry: see SchemaRegistry
     * @param subject to whose versions the schema is added when a record is written; null where none is
     */
    public RegisteredAvro(String type, String schema, String settings, String subject) {
        super(type, schema, false);
        prefix = new SchemaPrefix(settings, subject, schema().toString(), "AVRO");
    }

    @Override
    IndexedRecord decoded(byte[] record) throws IOException {
        int id = SchemaPrefix.id(record);
        if (readers == null) {
            readers = new HashMap<>();
        }
        GenericDatumReader<IndexedRecord> reader = readers.get(id);
        if (reader == null) {
            Schema written = written(id);
            checkUnits(written, schema(), "");
            reader = new GenericDatumReader<>(written, schema());
            readers.put(id, reader);
        }
        return reader.read(null, binary(record, SchemaPrefix.BYTES));
    }

    @Override
    void begin(ByteArrayOutputStream bytes) {
        bytes.writeBytes(prefix.written());
    }

    private Schema written(int id) throws IOException {
        try {
            SchemaRegistry registry = prefix.registry();
            return parsed(registry, registry.schema(id, SchemaRegistry.TEXT));
        } catch (SchemaRegistry.Refused refused) {
            if (refused.status == 404) {
                throw new IOException("Could not find schema with id " + id + " in registry", refused);
            }
            throw new UncheckedIOException(refused);
        } catch (IOException away) {
            throw new UncheckedIOException(away);
        }
    }

    /** The schema, of which others that it refers to are parts. */
    private static Schema parsed(SchemaRegistry registry, JsonNode answer) throws IOException {
        Schema.Parser parser = new Schema.Parser();
        parser.setValidateDefaults(false);
        addReferences(registry, answer, parser, new HashSet<>());
        return parser.parse(answer.get("schema").asText());
    }

    private static void addReferences(SchemaRegistry registry, JsonNode answer, Schema.Parser parser, Set<String> added)
            throws IOException {
        for (JsonNode reference : answer.path("references")) {
            if (added.add(reference.get("name").asText())) {
                JsonNode referred = registry.version(
                        reference.get("subject").asText(),
                        reference.get("version").asInt(),
                        SchemaRegistry.TEXT);
                addReferences(registry, referred, parser, added);
                parser.parse(referred.get("schema").asText());
            }
        }
    }

    /** Avro itself reads a time, or a decimal, of one unit as if it were of another. */
    private static void checkUnits(Schema written, Schema read, String path) {
        Schema from = AvroValues.actual(written);
        Schema to = AvroValues.actual(read);
        if (from.getType() != to.getType()) {
            return;
        }
        switch (from.getType()) {
            case RECORD -> {
                // That of the columns ends, also where the other one refers to itself.
                for (Schema.Field field : to.getFields()) {
                    Schema.Field source = from.getField(field.name());
                    if (source != null) {
                        checkUnits(source.schema(), field.schema(), path + "." + field.name());
                    }
                }
            }
            case ARRAY -> checkUnits(from.getElementType(), to.getElementType(), path + "[]");
            case MAP -> checkUnits(from.getValueType(), to.getValueType(), path + "[]");
            default -> {
                String unit = unit(from);
                String asked = unit(to);
                if (unit != null && asked != null && !unit.equals(asked)) {
                    throw new AvroRuntimeException(
                            "Field '" + path.substring(1) + "' is written as " + unit + ", and read as " + asked);
                }
            }
        }
    }

    private static String unit(Schema schema) {
        if (schema.getLogicalType() instanceof LogicalTypes.Decimal decimal) {
            return "decimal of scale " + decimal.getScale();
        }
        return schema.getLogicalType() == null
                ? null
                : schema.getLogicalType().getName().replace("local-timestamp", "timestamp");
    }
}
