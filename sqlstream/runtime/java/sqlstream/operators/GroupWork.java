package sqlstream.operators;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.InterpretedOrdering;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.SpecificInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.types.DataType;
import scala.collection.Iterator;
import sqlstream.aggregates.Aggregates;
import sqlstream.catalyst.Scala;
import sqlstream.state.RowLists;
import sqlstream.state.ValueCounts;
import sqlstream.state.ValueCounts.Counting;

/**
 * The computation of {@link GroupCalls} on one task, one key at a time: {@code begin}, a row after the other,
 * {@code settle}, the result, and {@code end} or {@code clear}.
 */
final class GroupWork {
    private final List<GroupCalls.Extreme> extremes;
    private final DataType[] types;
    private final int buffers;
    private final Aggregates.Work sums;
    private final Aggregates.Work replays;
    private final List<ValueCounts.Work> counts = new ArrayList<>();
    private final List<ValueCounts.Work> ranges = new ArrayList<>();
    private final List<InterpretedOrdering> orders = new ArrayList<>();
    private final InternalRow[] best;
    private final boolean[] lost;
    private final SpecificInternalRow mark;
    private final SpecificInternalRow found;
    private final RowLists kept;
    private final UnsafeProjection arguments;
    private final UnsafeProjection result;
    private final JoinedRow seen = new JoinedRow();
    private final JoinedRow computed = new JoinedRow();
    private final JoinedRow withFound = new JoinedRow();
    private final JoinedRow answer = new JoinedRow();
    private final JoinedRow held = new JoinedRow();

    GroupWork(GroupCalls calls, StatefulProcessorHandle handle) {
        extremes = calls.extremes;
        types = calls.found().stream().map(Expression::dataType).toArray(DataType[]::new);
        buffers = calls.running.buffer.size();
        sums = calls.running.new Work();
        replays = calls.replayed.new Work();
        best = new InternalRow[extremes.size()];
        lost = new boolean[extremes.size()];
        mark = new SpecificInternalRow(Scala.type(calls.marked));
        found = new SpecificInternalRow(Scala.type(calls.found()));
        kept = calls.replayInput.isEmpty() ? null : new RowLists(handle, "arguments", calls.replayInput.size());
        arguments = UnsafeProjection.create(Scala.seq(calls.replayInput), Scala.seq(calls.input));
        Counting counting = calls.kind >= 0 ? Counting.DIFFERENCE : Counting.PRESENCE;
        for (ValueCounts values : calls.marks) {
            counts.add(values.new Work(handle, "values" + counts.size(), calls.input, counting));
        }
        for (GroupCalls.Extreme extreme : extremes) {
            ranges.add(extreme.values().new Work(handle, "extreme" + ranges.size(), calls.input, Counting.NUMBER));
            orders.add(InterpretedOrdering.forSchema(
                    Scala.seq(List.of(extreme.result().dataType()))));
        }
        List<Attribute> read = new ArrayList<>(calls.keys);
        read.addAll(calls.running.shown());
        read.addAll(calls.found());
        read.addAll(calls.replayed.shown());
        result = UnsafeProjection.create(Scala.seq(calls.results), Scala.seq(read));
    }

    /** Begin with a key, of which {@code state} is kept, or null. */
    void begin(InternalRow state) {
        counts.forEach(c -> c.begin(state != null));
        sums.begin(state);
        for (int i = 0; i < best.length; i++) {
            ranges.get(i).begin(state != null);
            int place = buffers + i;
            Object value =
                    state == null || state.isNullAt(place) ? null : InternalRow.copyValue(state.get(place, types[i]));
            best[i] = value == null ? null : new GenericInternalRow(new Object[] {value});
            lost[i] = false;
        }
        if (kept != null) {
            kept.load();
        }
    }

    /** Adds a row, or retracts it where {@code sign} is negative. */
    void add(InternalRow row, int sign) {
        for (int i = 0; i < counts.size(); i++) {
            mark.setInt(i, counts.get(i).add(row, sign));
        }
        for (int i = 0; i < best.length; i++) {
            int change = ranges.get(i).add(row, sign);
            if (change != 0) {
                InternalRow value = ranges.get(i).value(row);
                int order = order(i, value);
                if (change > 0 && order > 0) {
                    best[i] = value.copy();
                }
                lost[i] |= change < 0 && order >= 0;
            }
        }
        sums.add(seen.apply(row, mark));
        if (kept != null) {
            UnsafeRow values = arguments.apply(row).copy();
            if (sign > 0) {
                kept.add(0, values);
            } else {
                kept.remove(0, values);
            }
        }
    }

    /** Whether a value is beyond the extreme {@code i} (> 0), equal to it, or on this side of it. */
    private int order(int i, InternalRow value) {
        return best[i] == null
                ? 1
                : orders.get(i).compare(value, best[i]) * (extremes.get(i).greatest() ? 1 : -1);
    }

    /** Finds the extremes whose value was retracted. */
    void settle() {
        for (int i = 0; i < best.length; i++) {
            if (lost[i]) {
                ranges.get(i).store();
                best[i] = null;
                Iterator<InternalRow> values = ranges.get(i).present();
                while (values.hasNext()) {
                    InternalRow value = values.next();
                    best[i] = order(i, value) > 0 ? value.copy() : best[i];
                }
            }
        }
    }

    UnsafeRow result(InternalRow key) {
        for (int i = 0; i < best.length; i++) {
            found.update(i, best[i] == null ? null : best[i].get(0, types[i]));
        }
        replays.begin(null);
        if (kept != null) {
            Iterator<InternalRow> values = kept.rows(0);
            while (values.hasNext()) {
                replays.add(values.next());
            }
        }
        computed.apply(withFound.apply(sums.results(), found), replays.results());
        return result.apply(answer.apply(key, computed));
    }

    /** What is kept of the key. */
    InternalRow end() {
        counts.forEach(ValueCounts.Work::store);
        ranges.forEach(ValueCounts.Work::store);
        if (kept != null) {
            kept.store();
        }
        return extremes.isEmpty() ? sums.end() : held.apply(sums.end(), found);
    }

    void clear() {
        counts.forEach(ValueCounts.Work::clear);
        ranges.forEach(ValueCounts.Work::clear);
        if (kept != null) {
            kept.clear();
        }
    }
}
