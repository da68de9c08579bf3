package sqlstream.formats;

import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.sparkproject.spark_core.protobuf.DescriptorProtos.FileDescriptorProto;
import org.sparkproject.spark_core.protobuf.DescriptorProtos.FileDescriptorSet;
import org.sparkproject.spark_core.protobuf.Descriptors.Descriptor;
import org.sparkproject.spark_core.protobuf.Descriptors.DescriptorValidationException;
import org.sparkproject.spark_core.protobuf.Descriptors.FileDescriptor;
import org.sparkproject.spark_core.protobuf.DynamicMessage;
import org.sparkproject.spark_core.protobuf.InvalidProtocolBufferException;
import sqlstream.catalyst.Scala;

/** Reads and writes messages of Protobuf, by the Protobuf that is in Spark's own jar. */
public final class ProtobufRecords extends ProtobufReader {
    private final String type;
    private final String files;
    private final String message;
    private final boolean defaults;
    private final String nullText;
    private transient Descriptor descriptor;
    private transient ProtobufValues.Change values;

    /**
     * @param type the row's type as DDL
     * @param files a FileDescriptorSet in Base64, each file behind those that it imports
     * @param message the full name of a message in it
     * @param ignoreErrors whether a record that can't be read is left out
     * @param defaults whether what is not in a record has its default value, else NULL
     * @param nullText what is written for a NULL in an array or a map of strings
     */
    public ProtobufRecords(
            String type, String files, String message, boolean ignoreErrors, boolean defaults, String nullText) {
        super(ignoreErrors);
        this.type = type;
        this.files = files;
        this.message = message;
        this.defaults = defaults;
        this.nullText = nullText;
    }

    @Override
    InternalRow row(byte[] record) throws InvalidProtocolBufferException {
        if (values == null) {
            // As in Flink, the syntax of the message's own file counts for the messages in it, too.
            boolean defaultsOfPlain =
                    defaults || "proto3".equals(descriptor().getFile().toProto().getSyntax());
            values = ProtobufValues.Reading.of(defaults, defaultsOfPlain).row(StructType.fromDDL(type), descriptor());
        }
        return (InternalRow) values.of(DynamicMessage.parseFrom(descriptor(), record));
    }

    /** The record (BINARY) of a struct. */
    public Column written(Column row) {
        DataType struct = DataType.fromDDL(type);
        return Scala.column(this, "write", DataTypes.BinaryType, List.of(row), List.of(struct), true);
    }

    /** The record of a row. */
    public byte[] write(InternalRow row) {
        if (values == null) {
            values = new ProtobufValues.Writing(nullText).row(StructType.fromDDL(type), descriptor());
        }
        return ((DynamicMessage) values.of(row)).toByteArray();
    }

    private Descriptor descriptor() {
        if (descriptor == null) {
            try {
                descriptor = described(
                        FileDescriptorSet.parseFrom(Base64.getDecoder().decode(files)));
            } catch (InvalidProtocolBufferException | DescriptorValidationException unusable) {
                throw new IllegalStateException(
                        "The definition of the message " + message + " can't be used", unusable);
            }
        }
        return descriptor;
    }

    private Descriptor described(FileDescriptorSet set) throws DescriptorValidationException {
        Map<String, FileDescriptor> known = new HashMap<>();
        for (FileDescriptorProto file : set.getFileList()) {
            FileDescriptor[] imported =
                    file.getDependencyList().stream().map(known::get).toArray(FileDescriptor[]::new);
            known.put(file.getName(), FileDescriptor.buildFrom(file, imported));
        }
        for (FileDescriptor file : known.values()) {
            String start = file.getPackage().isEmpty() ? "" : file.getPackage() + ".";
            Descriptor found = message.startsWith(start) ? nested(file, message.substring(start.length())) : null;
            if (found != null) {
                return found;
            }
        }
        throw new IllegalStateException("There is no message " + message);
    }

    private static Descriptor nested(FileDescriptor file, String path) {
        String[] names = path.split("\\.");
        Descriptor found = file.findMessageTypeByName(names[0]);
        for (int i = 1; i < names.length && found != null; i++) {
            found = found.findNestedTypeByName(names[i]);
        }
        return found;
    }
}
