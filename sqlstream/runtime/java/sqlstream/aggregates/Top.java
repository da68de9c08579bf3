package sqlstream.aggregates;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BaseOrdering;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.RowOrdering;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import sqlstream.catalyst.Scala;
import sqlstream.catalyst.SortKey;
import sqlstream.gateway.Described;

/**
 * The first rows of a group by an order, as an array of structs: Top-N and deduplication. The buffer holds no more than
 * these; of equal rows the earlier goes first, or the later where {@code latest}. Spark's max_by with a number knows
 * one direction for all columns of the order, and keeps none of equal rows in particular.
 */
public final class Top extends OwnAggregate<ArrayList<InternalRow>> {
    private final Expression row;
    private final Expression order;
    private final int count;
    private final List<SortKey> keys;
    private final boolean latest;
    private transient BaseOrdering ordering;
    private transient UnsafeProjection packing;

    /**
     * What is asked for.
     *
     * @param count how many rows are kept
     * @param order the fields of the struct to order by
     * @param latest whether of equal rows the later one comes first
     */
    record Options(int count, List<SortKey> order, boolean latest) {}

    /** Public for Spark, which copies nodes by their constructors. */
    public Top(
            Expression row,
            Expression order,
            int count,
            List<SortKey> keys,
            boolean latest,
            int mutableOffset,
            int inputOffset) {
        super(mutableOffset, inputOffset, row, order, count, keys, latest);
        this.row = row;
        this.order = order;
        this.count = count;
        this.keys = keys;
        this.latest = latest;
    }

    /**
     * The aggregate as a column.
     *
     * @param row the struct that is kept
     * @param order a struct of the columns to order by
     * @param options as JSON
     */
    public static Column column(Column row, Column order, String options) {
        Options said = Described.as(Options.class, options);
        Top top = new Top(
                ExpressionUtils.expression(row),
                ExpressionUtils.expression(order),
                said.count,
                said.order,
                said.latest,
                0,
                0);
        return ExpressionUtils.column(top.toAggregateExpression());
    }

    private BaseOrdering ordering() {
        if (ordering == null) {
            StructType type = (StructType) order.dataType();
            List<SortOrder> orders = new ArrayList<>();
            for (SortKey key : keys) {
                int place = type.fieldIndex(key.name());
                orders.add(key.of(new BoundReference(place, type.apply(place).dataType(), true)));
            }
            ordering = RowOrdering.create(Scala.seq(orders), Scala.seq(List.of()));
        }
        return ordering;
    }

    private int width() {
        return ((StructType) order.dataType()).length();
    }

    @Override
    public ArrayList<InternalRow> createAggregationBuffer() {
        return new ArrayList<>();
    }

    @Override
    public ArrayList<InternalRow> update(ArrayList<InternalRow> buffer, InternalRow input) {
        InternalRow key = (InternalRow) order.eval(input);
        int place = place(buffer, key);
        if (place < count) {
            InternalRow kept =
                    new GenericInternalRow(new Object[] {key.copy(), ((InternalRow) row.eval(input)).copy()});
            put(buffer, place, kept);
        }
        return buffer;
    }

    @Override
    public ArrayList<InternalRow> merge(ArrayList<InternalRow> buffer, ArrayList<InternalRow> other) {
        for (InternalRow kept : other) {
            int place = place(buffer, kept.getStruct(0, width()));
            if (place >= count) {
                break;
            }
            put(buffer, place, kept);
        }
        return buffer;
    }

    /** Where a row with this key goes: behind those that are equal, or before them. */
    private int place(ArrayList<InternalRow> buffer, InternalRow key) {
        int low = 0;
        int high = buffer.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            int compared = ordering().compare(buffer.get(middle).getStruct(0, width()), key);
            if (compared < 0 || (compared == 0 && !latest)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private void put(ArrayList<InternalRow> buffer, int place, InternalRow kept) {
        buffer.add(place, kept);
        if (buffer.size() > count) {
            buffer.remove(count);
        }
    }

    @Override
    public Object eval(ArrayList<InternalRow> buffer) {
        int fields = ((StructType) row.dataType()).length();
        Object[] rows = new Object[buffer.size()];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = buffer.get(i).getStruct(1, fields);
        }
        return new GenericArrayData(rows);
    }

    private StructType keptType() {
        return new StructType().add("key", order.dataType(), false).add("row", row.dataType(), false);
    }

    @Override
    public byte[] serialize(ArrayList<InternalRow> buffer) {
        if (packing == null) {
            packing = UnsafeProjection.create(new DataType[] {new ArrayType(keptType(), false)});
        }
        ArrayData rows = new GenericArrayData(buffer.toArray());
        return packing.apply(new GenericInternalRow(new Object[] {rows})).getBytes();
    }

    @Override
    public ArrayList<InternalRow> deserialize(byte[] bytes) {
        UnsafeRow packed = new UnsafeRow(1);
        packed.pointTo(bytes, bytes.length);
        ArrayData rows = packed.getArray(0);
        ArrayList<InternalRow> buffer = new ArrayList<>();
        for (int i = 0; i < rows.numElements(); i++) {
            buffer.add(rows.getStruct(i, 2).copy());
        }
        return buffer;
    }

    @Override
    public DataType dataType() {
        return new ArrayType(row.dataType(), false);
    }

    @Override
    Top with(List<Expression> children, int mutableOffset, int inputOffset) {
        return new Top(children.get(0), children.get(1), count, keys, latest, mutableOffset, inputOffset);
    }

    @Override
    public String prettyName() {
        return "top";
    }
}
