package sqlstream.formats;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import org.sparkproject.spark_core.protobuf.AnyProto;
import org.sparkproject.spark_core.protobuf.ApiProto;
import org.sparkproject.spark_core.protobuf.CodedInputStream;
import org.sparkproject.spark_core.protobuf.DescriptorProtos;
import org.sparkproject.spark_core.protobuf.DescriptorProtos.FileDescriptorProto;
import org.sparkproject.spark_core.protobuf.Descriptors.Descriptor;
import org.sparkproject.spark_core.protobuf.Descriptors.DescriptorValidationException;
import org.sparkproject.spark_core.protobuf.Descriptors.FileDescriptor;
import org.sparkproject.spark_core.protobuf.DurationProto;
import org.sparkproject.spark_core.protobuf.DynamicMessage;
import org.sparkproject.spark_core.protobuf.EmptyProto;
import org.sparkproject.spark_core.protobuf.FieldMaskProto;
import org.sparkproject.spark_core.protobuf.InvalidProtocolBufferException;
import org.sparkproject.spark_core.protobuf.SourceContextProto;
import org.sparkproject.spark_core.protobuf.StructProto;
import org.sparkproject.spark_core.protobuf.TimestampProto;
import org.sparkproject.spark_core.protobuf.TypeProto;
import org.sparkproject.spark_core.protobuf.WrappersProto;

/**
 * Reads messages of Protobuf that begin with the number of their schema in a registry: see SchemaPrefix. Behind it
 * stands which message of the schema it is: how many numbers, and these, each the place of a message among those of the
 * file, then among those within it; a single 0 is the first message of the file. A message is read by the schema that
 * it was written with; columns find their fields by name.
 */
public final class RegisteredProtobuf extends ProtobufReader {
    /** The files that come with Protobuf, which registries do not keep. */
    private static final Map<String, FileDescriptor> WELL_KNOWN = Stream.of(
                    AnyProto.getDescriptor(),
                    ApiProto.getDescriptor(),
                    DescriptorProtos.getDescriptor(),
                    DurationProto.getDescriptor(),
                    EmptyProto.getDescriptor(),
                    FieldMaskProto.getDescriptor(),
                    SourceContextProto.getDescriptor(),
                    StructProto.getDescriptor(),
                    TimestampProto.getDescriptor(),
                    TypeProto.getDescriptor(),
                    WrappersProto.getDescriptor())
            .collect(Collectors.toMap(FileDescriptor::getName, file -> file));

    private static final int DEEPEST = 100;

    private final String type;
    private final String settings;
    private transient Map<ByteBuffer, Written> known;

    /** A message as a schema has it, and what makes rows of it. */
    private record Written(Descriptor message, ProtobufValues.Change values) {}

    /**
     * @param type the row's type as DDL
     * @param settings of the registry: see SchemaRegistry
     * @param ignoreErrors whether a record that can't be read is left out
     */
    public RegisteredProtobuf(String type, String settings, boolean ignoreErrors) {
        super(ignoreErrors);
        this.type = type;
        this.settings = settings;
    }

    @Override
    InternalRow row(byte[] record) throws IOException {
        int id = SchemaPrefix.id(record);
        CodedInputStream rest =
                CodedInputStream.newInstance(record, SchemaPrefix.BYTES, record.length - SchemaPrefix.BYTES);
        int[] path = path(rest);
        int begin = SchemaPrefix.BYTES + rest.getTotalBytesRead();
        Written written = written(id, path, ByteBuffer.wrap(record, 0, begin));
        DynamicMessage message = DynamicMessage.parseFrom(
                written.message, CodedInputStream.newInstance(record, begin, record.length - begin));
        return (InternalRow) written.values.of(message);
    }

    private static int[] path(CodedInputStream from) throws IOException {
        int count = from.readSInt32();
        if (count < 0 || count > DEEPEST) {
            throw new IOException("Unknown data format. The place of the message in its schema is missing");
        }
        int[] path = new int[Math.max(count, 1)];
        for (int i = 0; i < count; i++) {
            path[i] = from.readSInt32();
        }
        return path;
    }

    private Written written(int id, int[] path, ByteBuffer prefix) throws IOException {
        if (known == null) {
            known = new HashMap<>();
        }
        Written found = known.get(prefix);
        if (found == null) {
            Descriptor message = message(file(id), path, id);
            found = new Written(message, ProtobufValues.Reading.byName().row(StructType.fromDDL(type), message));
            known.put(ByteBuffer.wrap(prefix.array(), 0, prefix.limit()), found);
        }
        return found;
    }

    private static Descriptor message(FileDescriptor file, int[] path, int id) throws IOException {
        List<Descriptor> among = file.getMessageTypes();
        Descriptor found = null;
        for (int place : path) {
            if (place < 0 || place >= among.size()) {
                throw new IOException("Schema " + id + " has no such message");
            }
            found = among.get(place);
            among = found.getNestedTypes();
        }
        return found;
    }

    private FileDescriptor file(int id) throws IOException {
        try {
            SchemaRegistry registry = SchemaRegistry.of(settings);
            return file(registry, registry.schema(id, SchemaRegistry.SERIALIZED), "schema " + id);
        } catch (SchemaRegistry.Refused refused) {
            if (refused.status == 404) {
                throw new IOException("Could not find schema with id " + id + " in registry", refused);
            }
            throw new UncheckedIOException(refused);
        } catch (InvalidProtocolBufferException | IllegalArgumentException | DescriptorValidationException other) {
            throw new IOException("Schema " + id + " in registry is none of Protobuf that can be read", other);
        } catch (IOException away) {
            throw new UncheckedIOException(away);
        }
    }

    /** The file that an answer describes, with those that it imports. */
    private static FileDescriptor file(SchemaRegistry registry, JsonNode answer, String name)
            throws IOException, DescriptorValidationException {
        byte[] described = Base64.getDecoder().decode(answer.get("schema").asText());
        FileDescriptorProto file = FileDescriptorProto.parseFrom(described).toBuilder()
                .setName(name)
                .build();
        FileDescriptor[] imported = new FileDescriptor[file.getDependencyCount()];
        for (int i = 0; i < imported.length; i++) {
            imported[i] = imported(registry, answer, file.getDependency(i));
        }
        return FileDescriptor.buildFrom(file, imported);
    }

    private static FileDescriptor imported(SchemaRegistry registry, JsonNode importing, String name)
            throws IOException, DescriptorValidationException {
        for (JsonNode reference : importing.path("references")) {
            if (reference.get("name").asText().equals(name)) {
                String subject = reference.get("subject").asText();
                int version = reference.get("version").asInt();
                return file(registry, registry.version(subject, version, SchemaRegistry.SERIALIZED), name);
            }
        }
        FileDescriptor known = WELL_KNOWN.get(name);
        if (known == null) {
            throw new IllegalArgumentException("it imports " + name + ", to which it does not refer");
        }
        return known;
    }
}
