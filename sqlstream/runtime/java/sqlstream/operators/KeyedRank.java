package sqlstream.operators;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BaseOrdering;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.RowOrdering;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import sqlstream.catalyst.Scala;
import sqlstream.catalyst.SortKey;
import sqlstream.gateway.Described;
import sqlstream.state.Layout;
import sqlstream.state.RowChanges;
import sqlstream.state.RowLists;
import sqlstream.state.StateTable;

/**
 * The first rows of each key in an order, over a stream: how they change by a micro-batch.
 *
 * <p>State by key: those rows in their order, or all rows as they came where rows can be retracted.
 */
public final class KeyedRank extends ListOperator {
    private final StructType columns;
    private final List<Expression> references = new ArrayList<>();
    private final List<SortKey> order;
    private final int first;
    private final int last;
    private final boolean latest;
    private final boolean numbered;
    private final boolean beforeToo;

    private transient UnsafeProjection row;
    private transient BaseOrdering ordering;

    /**
     * What is asked for: the rows of ranks {@code first} to {@code last}, from 1.
     *
     * @param latest whether of equal rows the later one comes first
     * @param number the name of a column with a row's rank; null for none
     * @param changes whether the last column of the rows is their kind
     * @param before whether of an update the row before it is emitted, too
     * @param ttl for how many milliseconds the rows of keys without new ones are kept; 0 for ever
     */
    record Options(
            List<String> keys,
            List<SortKey> order,
            int first,
            int last,
            boolean latest,
            String number,
            boolean changes,
            boolean before,
            long ttl) {}

    /** The first rows of each key of {@code frame} and their kinds; {@code options} are JSON. */
    public static Dataset<Row> of(Dataset<Row> frame, String options) {
        Options said = Described.as(Options.class, options);
        StructType input = frame.schema();
        StructType columns =
                new StructType(java.util.Arrays.copyOf(input.fields(), input.length() - (said.changes ? 1 : 0)));
        StructType output = said.number == null ? columns : columns.add(said.number, DataTypes.LongType, false);
        return KeyedProcess.of(
                (org.apache.spark.sql.classic.Dataset<Row>) frame,
                said.keys,
                output.add(RowKinds.COLUMN, DataTypes.ByteType, false),
                new KeyedRank(columns, said),
                said.ttl);
    }

    private KeyedRank(StructType columns, Options options) {
        super(options.changes ? columns.length() : -1);
        this.columns = columns;
        for (int i = 0; i < columns.length(); i++) {
            references.add(new BoundReference(i, columns.apply(i).dataType(), true));
        }
        order = options.order;
        first = options.first;
        last = options.last;
        latest = options.latest;
        numbered = options.number != null;
        beforeToo = options.before;
    }

    @Override
    public List<Layout> layouts() {
        return List.of(Layout.KEYED_RANK, Layout.ROW_LISTS);
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        kept = new RowLists(getHandle(), "rows", columns.length());
        row = UnsafeProjection.create(Scala.seq(references));
        List<SortOrder> orders = order.stream()
                .map(key -> key.of(references.get(columns.fieldIndex(key.name()))))
                .toList();
        ordering = RowOrdering.create(Scala.seq(orders), Scala.seq(List.of()));
    }

    @Override
    public String dependsOn() {
        List<String> by = order.stream().map(SortKey::name).toList();
        return kind >= 0
                ? "all rows"
                : "the first " + last + " by (" + String.join(", ", by) + ") " + directions()
                        + (latest ? ", the later first" : "");
    }

    /** Two letters for each column of the order: ascending or descending, NULLs first or last. */
    private String directions() {
        return order.stream()
                .map(key -> (key.descending() ? "d" : "a") + (key.nullsFirst() ? "f" : "l"))
                .collect(Collectors.joining());
    }

    @Override
    public void describe(StateTable table, StructType rows) {
        table.by("lists").with("name", "rows").rows("rows", columns);
    }

    @Override
    public Iterator<InternalRow> handleInputRows(InternalRow key, Iterator<InternalRow> rows, TimerValues times) {
        kept.load();
        List<UnsafeRow> all = new ArrayList<>(kept.size(0));
        kept.rows(0).foreach(r -> all.add(((UnsafeRow) r).copy()));
        List<UnsafeRow> was;
        List<UnsafeRow> is;
        if (kind < 0) {
            was = ranked(all);
            boolean changed = false;
            while (rows.hasNext()) {
                changed |= inserted(all, row.apply(rows.next()));
            }
            if (!changed) {
                return Scala.rows();
            }
            kept.replace(0, all);
            is = ranked(all);
        } else {
            was = ranked(sorted(all));
            is = ranked(sorted(changed(all, rows)));
        }
        kept.store();
        return CollectionConverters.asScala(numbered ? byRank(was, is) : byRow(was, is));
    }

    /** Puts a row in its place among the first {@code last}; whether it is one of them. */
    private boolean inserted(List<UnsafeRow> all, UnsafeRow next) {
        int low = 0;
        int high = all.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            int compared = ordering.compare(all.get(middle), next);
            if (compared < 0 || (compared == 0 && !latest)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low >= last) {
            return false;
        }
        all.add(low, next.copy());
        if (all.size() > last) {
            all.remove(last);
        }
        return true;
    }

    /** {@code all} with what a micro-batch changes, which goes to the state too. */
    private List<UnsafeRow> changed(List<UnsafeRow> all, Iterator<InternalRow> rows) {
        RowChanges input = new RowChanges();
        while (rows.hasNext()) {
            InternalRow next = rows.next();
            input.add(row.apply(next).copy(), RowKinds.retracts(next.getByte(kind)));
        }
        List<RowChanges.Change> changes = input.in(kept, 0);
        kept.change(0, changes);
        List<UnsafeRow> now = RowChanges.without(all, RowChanges.rows(changes, -1));
        now.addAll(RowChanges.rows(changes, 1));
        return now;
    }

    private List<UnsafeRow> sorted(List<UnsafeRow> rows) {
        List<UnsafeRow> sorted = new ArrayList<>(rows);
        if (latest) {
            java.util.Collections.reverse(sorted);
        }
        sorted.sort(ordering);
        return sorted;
    }

    private List<UnsafeRow> ranked(List<UnsafeRow> sorted) {
        return first > sorted.size()
                ? List.of()
                : List.copyOf(sorted.subList(first - 1, Math.min(last, sorted.size())));
    }

    /** What changes at each rank. */
    private java.util.Iterator<InternalRow> byRank(List<UnsafeRow> before, List<UnsafeRow> after) {
        List<InternalRow> output = new ArrayList<>();
        for (int i = 0; i < Math.max(before.size(), after.size()); i++) {
            UnsafeRow was = i < before.size() ? before.get(i) : null;
            UnsafeRow is = i < after.size() ? after.get(i) : null;
            update(output, was, is, first + i);
        }
        return output.iterator();
    }

    /** What is retracted and what is added, at whatever rank. */
    private java.util.Iterator<InternalRow> byRow(List<UnsafeRow> before, List<UnsafeRow> after) {
        List<UnsafeRow> retracted = RowChanges.without(before, after);
        List<UnsafeRow> added = RowChanges.without(after, before);
        List<InternalRow> output = new ArrayList<>();
        if (first == last) {
            update(output, retracted.isEmpty() ? null : retracted.get(0), added.isEmpty() ? null : added.get(0), first);
            return output.iterator();
        }
        retracted.forEach(r -> output.add(changed(r, 0, RowKinds.DELETE)));
        added.forEach(r -> output.add(changed(r, 0, RowKinds.INSERT)));
        return output.iterator();
    }

    private void update(List<InternalRow> output, UnsafeRow was, UnsafeRow is, long rank) {
        if (was == null || is == null) {
            if (was != is) {
                output.add(is == null ? changed(was, rank, RowKinds.DELETE) : changed(is, rank, RowKinds.INSERT));
            }
        } else if (!was.equals(is)) {
            if (beforeToo) {
                output.add(changed(was, rank, RowKinds.UPDATE_BEFORE));
            }
            output.add(changed(is, rank, RowKinds.UPDATE_AFTER));
        }
    }

    private InternalRow changed(UnsafeRow row, long rank, byte as) {
        return new JoinedRow(row, new GenericInternalRow(numbered ? new Object[] {rank, as} : new Object[] {as}));
    }
}
