package sqlstream.aggregates;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.aggregate.ImperativeAggregate;
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.IndexedSeq;
import scala.jdk.javaapi.CollectionConverters;
import sqlstream.catalyst.RowBytes;
import sqlstream.catalyst.Scala;

/**
 * What an aggregate function in Python has of a group: a struct of its accumulator, NULL at first, and the array of the rows that are not in it
 * yet. {@code row} is the struct of a row, which is left out where that is NULL: its first field is 1, or -1 (TINYINT) of one that goes. Such a
 * row takes an equal one with it where that is still there. Many rows are folded into the accumulator.
 */
public final class Accumulated extends TypedImperativeAggregate<Accumulated.Group> implements Serializable {
    /** How many rows of a group wait at most. */
    static final int MOST = 1000;

    private final Expression row;
    private final DataType type;
    private final PythonFold fold;
    private final int mutableOffset;
    private final int inputOffset;
    private transient UnsafeProjection packing;

    /** What is kept of a group. */
    static final class Group {
        private byte[] accumulator;
        private final List<UnsafeRow> rows = new ArrayList<>();
    }

    /** {@code type}: of the result. */
    public Accumulated(Expression row, DataType type, PythonFold fold, int mutableOffset, int inputOffset) {
        this.row = row;
        this.type = type;
        this.fold = fold;
        this.mutableOffset = mutableOffset;
        this.inputOffset = inputOffset;
    }

    @Override
    public Group createAggregationBuffer() {
        return new Group();
    }

    @Override
    public Group update(Group group, InternalRow input) {
        if (packing == null) {
            packing = UnsafeProjection.create(Scala.seq(List.of(row)));
        }
        UnsafeRow given = packing.apply(input);
        if (given.isNullAt(0)) {
            return group;
        }
        UnsafeRow packed = given.getStruct(0, width());
        if (packed.getByte(0) < 0) {
            packed.setByte(0, (byte) 1);
            if (group.rows.remove(packed)) {
                return group;
            }
            packed.setByte(0, (byte) -1);
        }
        group.rows.add(packed.copy());
        if (group.rows.size() >= MOST) {
            group.accumulator = fold.folded(group.accumulator, group.rows, (StructType) row.dataType());
            group.rows.clear();
        }
        return group;
    }

    private int width() {
        return ((StructType) row.dataType()).length();
    }

    @Override
    public Group merge(Group group, Group other) {
        throw new UnsupportedOperationException("a group is whole");
    }

    @Override
    public Object eval(Group group) {
        return new GenericInternalRow(new Object[] {group.accumulator, new GenericArrayData(group.rows.toArray())});
    }

    @Override
    public byte[] serialize(Group group) {
        RowBytes bytes = new RowBytes().put(group.accumulator).put(group.rows.size());
        group.rows.forEach(bytes::put);
        return bytes.all();
    }

    @Override
    public Group deserialize(byte[] bytes) {
        Group group = new Group();
        ByteBuffer from = RowBytes.reader(bytes);
        group.accumulator = RowBytes.bytes(from);
        int width = width();
        for (int left = from.getInt(); left > 0; left--) {
            group.rows.add(RowBytes.row(from, width));
        }
        return group;
    }

    @Override
    public DataType dataType() {
        return type;
    }

    @Override
    public boolean nullable() {
        return false;
    }

    @Override
    public scala.collection.immutable.Seq<Expression> children() {
        return Scala.seq(List.of(row));
    }

    @Override
    public Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
        return new Accumulated(CollectionConverters.asJava(children).get(0), type, fold, mutableOffset, inputOffset);
    }

    @Override
    public int mutableAggBufferOffset() {
        return mutableOffset;
    }

    @Override
    public int inputAggBufferOffset() {
        return inputOffset;
    }

    @Override
    public ImperativeAggregate withNewMutableAggBufferOffset(int offset) {
        return new Accumulated(row, type, fold, offset, inputOffset);
    }

    @Override
    public ImperativeAggregate withNewInputAggBufferOffset(int offset) {
        return new Accumulated(row, type, fold, mutableOffset, offset);
    }

    @Override
    public String prettyName() {
        return "accumulated";
    }

    @Override
    public int productArity() {
        return 5;
    }

    @Override
    public Object productElement(int n) {
        return new Object[] {row, type, fold, mutableOffset, inputOffset}[n];
    }

    @Override
    public boolean canEqual(Object that) {
        return that instanceof Accumulated;
    }

    @Override
    public boolean equals(Object that) {
        return that instanceof Accumulated other
                && row.equals(other.row)
                && type.equals(other.type)
                && fold.equals(other.fold)
                && mutableOffset == other.mutableOffset
                && inputOffset == other.inputOffset;
    }

    @Override
    public int hashCode() {
        return row.hashCode() * 31 + fold.hashCode();
    }
}
