package sqlstream.operators;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import sqlstream.catalyst.ArrivalNumber;
import sqlstream.catalyst.Scala;
import sqlstream.state.KeyedOperator;
import sqlstream.state.Layout;
import sqlstream.state.StateTable;

/**
 * Turns upserts and deletes by key into a changelog that also has what a row was before. All rows of a key come from
 * one task, and the last of them is the latest; one that changes nothing is dropped.
 *
 * <p>State by key: the latest row.
 */
public final class ChangelogNormalize extends KeyedOperator {
    private static final String ARRIVAL = "__sqlstream_arrival";

    private final StructType type;

    private transient ValueState<byte[]> latest;
    private transient UnsafeProjection columns;

    /**
     * The changes that the rows of {@code frame}, whose last column is KIND, make to a table with primary key
     * {@code keys}.
     */
    public static Dataset<Row> of(Dataset<Row> frame, List<String> keys) {
        StructType output = frame.schema();
        var numbered = (org.apache.spark.sql.classic.Dataset<Row>) frame.withColumn(ARRIVAL, ArrivalNumber.column());
        return KeyedProcess.of(numbered, keys, output, new ChangelogNormalize(output));
    }

    private ChangelogNormalize(StructType type) {
        this.type = type;
    }

    @Override
    public List<Layout> layouts() {
        return List.of(Layout.CHANGELOG_NORMALIZE);
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        latest = getHandle().getValueState("latest", Encoders.BINARY(), TTLConfig.NONE());
        List<Expression> own = new ArrayList<>();
        for (int i = 0; i < type.length() - 1; i++) {
            own.add(new BoundReference(i, type.apply(i).dataType(), true));
        }
        columns = UnsafeProjection.create(Scala.<Expression>seq(own));
    }

    @Override
    public void describe(StateTable table, StructType rows) {
        // Behind the columns is the kind.
        table.by("latest").row(new StructType(Arrays.copyOf(type.fields(), type.length() - 1)));
    }

    @Override
    public Iterator<InternalRow> handleInputRows(InternalRow key, Iterator<InternalRow> rows, TimerValues times) {
        int kind = type.length() - 1;
        int arrival = kind + 1;
        InternalRow last = null;
        while (rows.hasNext()) {
            InternalRow row = rows.next();
            if (last == null || row.getLong(arrival) > last.getLong(arrival)) {
                last = row.copy();
            }
        }
        UnsafeRow before = kept();
        UnsafeRow after = RowKinds.retracts(last.getByte(kind)) ? null : columns.apply(last);
        List<InternalRow> changes = new ArrayList<>(2);
        if (after == null) {
            if (before != null) {
                changes.add(change(before, RowKinds.DELETE));
                latest.clear();
            }
        } else if (!after.equals(before)) {
            if (before != null) {
                changes.add(change(before, RowKinds.UPDATE_BEFORE));
            }
            changes.add(change(after, before == null ? RowKinds.INSERT : RowKinds.UPDATE_AFTER));
            latest.update(after.getBytes());
        }
        return CollectionConverters.asScala(changes.iterator());
    }

    private UnsafeRow kept() {
        byte[] bytes = latest.get();
        if (bytes == null) {
            return null;
        }
        UnsafeRow row = new UnsafeRow(type.length() - 1);
        row.pointTo(bytes, bytes.length);
        return row;
    }

    private static InternalRow change(UnsafeRow row, byte kind) {
        return new JoinedRow(row, new GenericInternalRow(new Object[] {kind}));
    }
}
