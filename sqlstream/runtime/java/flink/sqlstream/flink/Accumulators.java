package sqlstream.flink;

import java.util.function.UnaryOperator;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/** Accumulators of an aggregate function as bytes, which are the state of a job: those of a row of Spark's. */
final class Accumulators {
    private final DataType type;
    private final DataStructureConverter<Object, Object> converter;
    private final UnaryOperator<Object> toSpark;
    private final UnaryOperator<Object> toFlink;
    private final UnsafeProjection packing;

    /** {@code type}: a plain one. */
    Accumulators(LogicalType type, DataStructureConverter<Object, Object> converter) {
        this.type = Values.type(type);
        this.converter = converter;
        toSpark = Values.toSpark(type);
        toFlink = Values.toFlink(type);
        packing = UnsafeProjection.create(new StructType().add("accumulator", this.type));
    }

    byte[] bytes(Object accumulator) {
        Object value = toSpark.apply(converter.toInternalOrNull(accumulator));
        return packing.apply(new GenericInternalRow(new Object[] {value})).getBytes();
    }

    Object of(byte[] bytes) {
        UnsafeRow row = new UnsafeRow(1);
        row.pointTo(bytes, bytes.length);
        return converter.toExternalOrNull(row.isNullAt(0) ? null : toFlink.apply(row.get(0, type)));
    }
}
