package sqlstream.aggregates;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import sqlstream.catalyst.RowBytes;
import sqlstream.catalyst.Scala;

/**
 * What a user's aggregate function has of a group: a struct of its accumulator, NULL at first, and the array of the
 * rows that are not in it yet. {@code row} is the struct of a row, which is left out where that is NULL: its first
 * field is 1, or -1 (TINYINT) of a retraction. Such a row removes an equal one where that is still there. Many rows are
 * folded into the accumulator.
 */
public final class Accumulated extends OwnAggregate<Accumulated.Group> {
    /** How many rows of a group wait at most. */
    static final int MOST = 1000;

    private final Expression row;
    private final DataType type;
    private final Fold fold;
    private transient UnsafeProjection packing;

    /** What is kept of a group. */
    static final class Group {
        private byte[] accumulator;
        private final List<UnsafeRow> rows = new ArrayList<>();
    }

    /** {@code type}: of the result. */
    public Accumulated(Expression row, DataType type, Fold fold, int mutableOffset, int inputOffset) {
        super(mutableOffset, inputOffset, row, type, fold);
        this.row = row;
        this.type = type;
        this.fold = fold;
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
        UnsafeRow struct = packing.apply(input);
        if (struct.isNullAt(0)) {
            return group;
        }
        UnsafeRow packed = struct.getStruct(0, width());
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
        return new RowBytes()
                .put(group.accumulator)
                .put(group.rows.size())
                .put(group.rows)
                .all();
    }

    @Override
    public Group deserialize(byte[] bytes) {
        Group group = new Group();
        ByteBuffer from = RowBytes.reader(bytes);
        group.accumulator = RowBytes.bytes(from);
        group.rows.addAll(RowBytes.rows(from, from.getInt(), width()));
        return group;
    }

    @Override
    public DataType dataType() {
        return type;
    }

    @Override
    Accumulated with(List<Expression> children, int mutableOffset, int inputOffset) {
        return new Accumulated(children.get(0), type, fold, mutableOffset, inputOffset);
    }

    @Override
    public String prettyName() {
        return "accumulated";
    }
}
