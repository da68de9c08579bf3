package sqlstream.formats;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import sqlstream.catalyst.Scala;

/** A value as bytes and back: a number in one byte order, a text in one charset. */
public final class RawRecords implements Serializable {
    private final String type;
    private final int size;
    private final String charset;
    private final boolean little;

    /**
     * @param type the value's type
     * @param size how many bytes it has, 0 where any number
     */
    public RawRecords(String type, int size, String charset, boolean little) {
        this.type = type;
        this.size = size;
        this.charset = charset;
        this.little = little;
    }

    /** The value of a record; of one that has not as many bytes as the type asks for none. */
    public Column read(Column record) {
        return call("value", record, DataTypes.BinaryType, DataType.fromDDL(type));
    }

    /** The record of a value. */
    public Column written(Column value) {
        return call("bytes", value, DataType.fromDDL(type), DataTypes.BinaryType);
    }

    private Column call(String method, Column argument, DataType from, DataType to) {
        return Scala.column(this, method, to, List.of(argument), List.of(from), true);
    }

    /** See read. */
    public Object value(byte[] record) {
        if (size > 0 && record.length != size) {
            return null;
        }
        ByteBuffer bytes = buffer(record);
        return switch (type) {
            case "STRING" -> UTF8String.fromString(new String(record, Charset.forName(charset)));
            case "BOOLEAN" -> record[0] != 0;
            case "TINYINT" -> record[0];
            case "SMALLINT" -> bytes.getShort();
            case "INT" -> bytes.getInt();
            case "BIGINT" -> bytes.getLong();
            case "FLOAT" -> bytes.getFloat();
            default -> bytes.getDouble();
        };
    }

    public byte[] bytes(UTF8String value) {
        return value.toString().getBytes(Charset.forName(charset));
    }

    public byte[] bytes(boolean value) {
        return new byte[] {(byte) (value ? 1 : 0)};
    }

    public byte[] bytes(byte value) {
        return new byte[] {value};
    }

    public byte[] bytes(short value) {
        return buffer(new byte[size]).putShort(value).array();
    }

    public byte[] bytes(int value) {
        return buffer(new byte[size]).putInt(value).array();
    }

    public byte[] bytes(long value) {
        return buffer(new byte[size]).putLong(value).array();
    }

    public byte[] bytes(float value) {
        return buffer(new byte[size]).putFloat(value).array();
    }

    public byte[] bytes(double value) {
        return buffer(new byte[size]).putDouble(value).array();
    }

    private ByteBuffer buffer(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(little ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
    }
}
