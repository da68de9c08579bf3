package sqlstream.checkpoints;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;
import scala.collection.Iterator;
import sqlstream.catalyst.RowBytes;
import sqlstream.catalyst.SparkCalls;
import sqlstream.catalyst.WholeRow;
import sqlstream.checkpoints.Store.Family;
import sqlstream.checkpoints.Store.Partition;
import sqlstream.patterns.PatternMatch;
import sqlstream.state.EventTimeBuffer;
import sqlstream.state.JoinBuffer;
import sqlstream.state.NumberedRows;
import sqlstream.state.RowLists;
import sqlstream.state.ValueCounts;

/** Finds the values that are kept of a key, by what {@link sqlstream.state.StateTable} says of them. */
abstract class StateReader implements Serializable {
    private static final long AFTER_ALL = Long.MAX_VALUE;

    /** In which each key that something is kept of has one row. */
    final Family family;

    private StateReader(Store store, String family) {
        this.family = store.families.stream()
                .filter(each ->
                        family.isEmpty() ? each.isDefault() : each.name().equals(family))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("The state keeps nothing that is called " + family + "."));
    }

    /** Begins with a partition. */
    void open(Partition partition) {
        @SuppressWarnings("unchecked") // To Spark a key is any object.
        var keys = (ExpressionEncoder<Object>)
                (ExpressionEncoder<?>) WholeRow.encoder(family.schema().keySchema());
        open(SparkCalls.handle(partition.rows, keys));
    }

    abstract void open(StatefulProcessorHandle handle);

    /** The values of the key that is being read, for which {@code kept} is in the family. */
    abstract Object[] values(UnsafeRow kept);

    static StateReader of(JsonNode told, StructType values, Store store) {
        return switch (told.get("kind").asText()) {
            case "row" -> new OfRow(store, told.path("family").asText(), values);
            case "buffers" -> new OfBuffers(store, told, values);
            case "lists" -> new OfLists(store, told.get("name").asText(), values);
            case "latest" -> new OfLatest(store, values);
            case "near" -> new OfNear(store, values);
            case "timed" -> new OfTimed(store, told, values);
            default ->
                throw new IllegalStateException("The state is kept in a way that this release does not know: "
                        + told.get("kind").asText() + ".");
        };
    }

    private static int width(StructType values, int place) {
        return ((StructType) ((ArrayType) values.apply(place).dataType()).elementType()).length();
    }

    private static GenericArrayData list(Iterator<InternalRow> rows) {
        List<Object> found = new ArrayList<>();
        while (rows.hasNext()) {
            found.add(rows.next().copy());
        }
        return new GenericArrayData(found.toArray());
    }

    private static UnsafeRow row(byte[] bytes, int width) {
        UnsafeRow row = new UnsafeRow(width);
        row.pointTo(bytes, bytes.length);
        return row;
    }

    private static byte[] rest(ByteBuffer from) {
        byte[] bytes = new byte[from.remaining()];
        from.get(bytes);
        return bytes;
    }

    /** Columns of the family's own rows. */
    private static class OfRow extends StateReader {
        private final DataType[] types;

        private OfRow(Store store, String family, StructType values) {
            super(store, family);
            types = new DataType[values.length()];
            for (int i = 0; i < types.length; i++) {
                types[i] = values.apply(i).dataType();
            }
            if (!fits(super.family.schema().valueSchema(), values)) {
                throw new IllegalStateException("The state has values "
                        + super.family.schema().valueSchema().catalogString() + ", and was recorded with "
                        + values.catalogString() + ".");
            }
        }

        boolean fits(StructType found, StructType values) {
            return values.length() == 0 || StateRows.matches(found, values);
        }

        @Override
        void open(StatefulProcessorHandle handle) {}

        @Override
        Object[] values(UnsafeRow kept) {
            Object[] found = new Object[types.length];
            for (int i = 0; i < found.length; i++) {
                found[i] = kept.isNullAt(i) ? null : kept.get(i, types[i]);
            }
            return found;
        }
    }

    /** Those of buffers of aggregates, and behind them counted values and rows. */
    private static final class OfBuffers extends StateReader {
        private final OfRow own;
        private final StructType all;
        private final int buffers;
        private final List<String> counted = new ArrayList<>();
        private final String name;
        private transient List<MapState<InternalRow, Long>> counts;
        private transient RowLists rows;

        private OfBuffers(Store store, JsonNode told, StructType values) {
            super(store, "buffers");
            told.get("counts").forEach(each -> counted.add(each.asText()));
            name = told.path("name").asText();
            all = values;
            buffers = values.length() - counted.size() - (name.isEmpty() ? 0 : 1);
            StructType first = new StructType();
            for (int i = 0; i < buffers; i++) {
                first = first.add(values.apply(i));
            }
            own = new OfRow(store, "buffers", first);
        }

        @Override
        void open(StatefulProcessorHandle handle) {
            counts = new ArrayList<>();
            for (int i = 0; i < counted.size(); i++) {
                StructType row =
                        (StructType) ((ArrayType) all.apply(buffers + i).dataType()).elementType();
                StructType value = new StructType();
                for (int j = 0; j < row.length() - 1; j++) {
                    value = value.add(row.apply(j));
                }
                counts.add(ValueCounts.state(handle, counted.get(i), value));
            }
            rows = name.isEmpty() ? null : new RowLists(handle, name, width(all, all.length() - 1));
        }

        @Override
        Object[] values(UnsafeRow kept) {
            Object[] found = new Object[all.length()];
            System.arraycopy(own.values(kept), 0, found, 0, buffers);
            for (int i = 0; i < counts.size(); i++) {
                StructType row =
                        (StructType) ((ArrayType) all.apply(buffers + i).dataType()).elementType();
                List<Object> values = new ArrayList<>();
                Iterator<Tuple2<InternalRow, Long>> each = counts.get(i).iterator();
                while (each.hasNext()) {
                    Tuple2<InternalRow, Long> entry = each.next();
                    Object[] cells = new Object[row.length()];
                    InternalRow value = entry._1().copy();
                    for (int j = 0; j < cells.length - 1; j++) {
                        cells[j] = value.isNullAt(j)
                                ? null
                                : value.get(j, row.apply(j).dataType());
                    }
                    cells[cells.length - 1] = entry._2();
                    values.add(new GenericInternalRow(cells));
                }
                found[buffers + i] = new GenericArrayData(values.toArray());
            }
            if (rows != null) {
                rows.load();
                found[found.length - 1] = list(rows.rows(0));
            }
            return found;
        }
    }

    /** The rows of lists. */
    private static final class OfLists extends StateReader {
        private final String name;
        private final int[] widths;
        private transient RowLists lists;

        private OfLists(Store store, String name, StructType values) {
            super(store, name + "Head");
            this.name = name;
            widths = new int[values.length()];
            for (int i = 0; i < widths.length; i++) {
                widths[i] = width(values, i);
            }
        }

        @Override
        void open(StatefulProcessorHandle handle) {
            lists = new RowLists(handle, name, widths);
        }

        @Override
        Object[] values(UnsafeRow kept) {
            lists.load();
            Object[] found = new Object[widths.length];
            for (int i = 0; i < found.length; i++) {
                found[i] = list(lists.rows(i));
            }
            return found;
        }
    }

    /** The columns of the latest row. */
    private static final class OfLatest extends StateReader {
        private final StructType columns;

        private OfLatest(Store store, StructType values) {
            super(store, "latest");
            columns = values;
        }

        @Override
        void open(StatefulProcessorHandle handle) {}

        @Override
        Object[] values(UnsafeRow kept) {
            UnsafeRow row = row(kept.getBinary(0), columns.length());
            Object[] found = new Object[columns.length()];
            for (int i = 0; i < found.length; i++) {
                found[i] = row.isNullAt(i) ? null : row.get(i, columns.apply(i).dataType());
            }
            return found;
        }
    }

    /** The rows of both sides of a join on near times. */
    private static final class OfNear extends StateReader {
        private final int[] widths;
        private transient JoinBuffer[] sides;

        private OfNear(Store store, StructType values) {
            super(store, "key");
            widths = new int[] {width(values, 0), width(values, 1)};
        }

        @Override
        void open(StatefulProcessorHandle handle) {
            sides = new JoinBuffer[] {
                new JoinBuffer(handle, "lefts", widths[0], true), new JoinBuffer(handle, "rights", widths[1], true)
            };
        }

        @Override
        Object[] values(UnsafeRow kept) {
            ByteBuffer head = RowBytes.reader(kept.getBinary(0));
            // The moment of its timer.
            head.getLong();
            Object[] found = new Object[sides.length];
            for (JoinBuffer side : sides) {
                side.load(head);
            }
            for (int i = 0; i < found.length; i++) {
                List<Object> rows = new ArrayList<>();
                JoinBuffer.Cursor cursor = sides[i].rows(Long.MIN_VALUE, Long.MAX_VALUE, Long.MIN_VALUE);
                while (cursor.next()) {
                    rows.add(cursor.row().copy());
                }
                found[i] = new GenericArrayData(rows.toArray());
            }
            return found;
        }
    }

    /** The rows that wait for the watermark, and what an operator on event time keeps besides. */
    private static final class OfTimed extends StateReader {
        private final int time;
        private final String own;
        private final int variables;
        private final StructType all;
        private transient EventTimeBuffer waiting;
        private transient NumberedRows matching;

        private OfTimed(Store store, JsonNode told, StructType values) {
            super(store, "key");
            time = told.get("time").asInt();
            own = told.get("own").asText();
            variables = told.path("variables").asInt();
            all = values;
        }

        @Override
        void open(StatefulProcessorHandle handle) {
            waiting = new EventTimeBuffer(handle, width(all, 0), time);
            matching = own.equals("match") ? new NumberedRows(handle, width(all, 1)) : null;
        }

        @Override
        Object[] values(UnsafeRow kept) {
            ByteBuffer head = RowBytes.reader(kept.getBinary(0));
            // The moment of its timer.
            head.getLong();
            Object[] found = new Object[all.length()];
            waiting.load(head);
            ByteBuffer left = RowBytes.reader(rest(head));
            found[0] = list(waiting.due(sqlstream.catalyst.Scala.rows(), AFTER_ALL));
            boolean any = left.hasRemaining();
            switch (own) {
                case "version" -> {
                    if (any) {
                        // Since when it holds.
                        left.getLong();
                    }
                    StructType type = (StructType) all.apply(1).dataType();
                    found[1] = left.hasRemaining() ? row(rest(left), type.length()) : null;
                }
                case "flag" -> found[1] = any;
                case "bytes" -> found[1] = any ? rest(left) : null;
                case "match" -> found[1] = matching(left);
                case "none" -> {}
                default ->
                    throw new IllegalStateException(
                            "The state is kept in a way that this release does not know: " + own + ".");
            }
            return found;
        }

        private GenericArrayData matching(ByteBuffer left) {
            List<Object> rows = new ArrayList<>();
            if (left.hasRemaining()) {
                long first = PatternMatch.earliest(left, variables);
                matching.load(left);
                for (long number = first; number < matching.next(); number++) {
                    rows.add(matching.get(number).copy());
                }
            }
            return new GenericArrayData(rows.toArray());
        }
    }
}
