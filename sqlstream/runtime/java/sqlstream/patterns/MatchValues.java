package sqlstream.patterns;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import sqlstream.aggregates.RowsAggregate;
import sqlstream.gateway.Described;

/**
 * Values of a match as columns of a row: those of single rows of its variables, and aggregates over all rows of one.
 */
final class MatchValues implements Serializable {
    private static final int ANY = -1;
    // So many aggregates over rows of matches that go on are kept to be continued.
    private static final int HELD = 1 << 14;

    /** Of which rows of a variable a value is: of one, counted from the first or back from the last, or of all. */
    enum Kind {
        FIRST,
        LAST,
        AGGREGATE
    }

    /**
     * A value of a match, by names.
     *
     * @param variable whose rows are meant; null for those of all
     * @param offset how many rows from the first, or back from the last
     * @param column the name of a row's column, or of an aggregate
     */
    record Named(Kind kind, String variable, int offset, String column) {}

    /** The same as numbers: {@code column} is a row's, or one of the aggregates; {@code variable} may be ANY. */
    record Value(Kind kind, int variable, int offset, int column) implements Serializable {}

    private final List<Value> values = new ArrayList<>();
    private final List<Attribute> input;
    private final Map<Integer, RowsAggregate> aggregates = new HashMap<>();
    private final Map<Integer, List<Integer>> places = new HashMap<>();

    /**
     * @param variables the names of the pattern's variables
     * @param calls the aggregates
     * @param input the columns of rows
     */
    MatchValues(List<Named> named, List<String> variables, List<NamedExpression> calls, List<Attribute> input) {
        this.input = input;
        Map<Integer, List<NamedExpression>> byVariable = new HashMap<>();
        for (Named each : named) {
            int variable = each.variable == null ? ANY : Described.place(variables, each.variable);
            Value value = new Value(
                    each.kind, variable, each.offset, place(each.column, each.kind == Kind.AGGREGATE ? calls : input));
            if (value.kind == Kind.AGGREGATE) {
                byVariable
                        .computeIfAbsent(value.variable, v -> new ArrayList<>())
                        .add(calls.get(value.column));
                places.computeIfAbsent(value.variable, v -> new ArrayList<>()).add(values.size());
            }
            values.add(value);
        }
        byVariable.forEach((variable, columns) -> aggregates.put(variable, new RowsAggregate(columns, input)));
    }

    private static int place(String name, List<? extends NamedExpression> columns) {
        return Described.place(columns.stream().map(NamedExpression::name).toList(), name);
    }

    int size() {
        return values.size();
    }

    List<Value> values() {
        return values;
    }

    /** Aggregate buffers over the rows from one number to another. */
    private record Kept(long last, InternalRow buffers) {}

    /** The computation on one task. */
    public final class Work {
        private final GenericInternalRow row = new GenericInternalRow(values.size());
        private final Map<Integer, RowsAggregate.Work> works = new HashMap<>();
        private final Map<Integer, Map<Long, Kept>> kept = new HashMap<>();
        private final LongFunction<InternalRow> rows;

        /** {@code rows}: the row of a number. */
        Work(LongFunction<InternalRow> rows) {
            this.rows = rows;
            aggregates.forEach((variable, aggregate) -> {
                works.put(variable, aggregate.new Work());
                kept.put(variable, new LinkedHashMap<>(16, 0.75f, true) {
                    @Override
                    protected boolean removeEldestEntry(Map.Entry<Long, Kept> eldest) {
                        return size() > HELD;
                    }
                });
            });
        }

        /** Begin with another key. */
        void begin() {
            kept.values().forEach(Map::clear);
        }

        /** The values of {@code match}, whose last row is {@code last}; good until they are asked for again. */
        InternalRow of(PartialMatches.Match match, long last) {
            return of(match, Integer.MIN_VALUE, last);
        }

        /** The values of {@code match} with the row {@code last} taken for {@code taker}. */
        InternalRow of(PartialMatches.Match match, int taker, long last) {
            for (int i = 0; i < values.size(); i++) {
                Value value = values.get(i);
                if (value.kind == Kind.AGGREGATE) {
                    continue;
                }
                long first = first(match, value.variable, taker, last);
                long end = first == PartialMatches.Match.NONE ? first : end(match, value.variable, taker, last);
                long number = value.kind == Kind.FIRST ? first + value.offset : end - value.offset;
                boolean there = first != PartialMatches.Match.NONE && number >= first && number <= end;
                row.update(
                        i,
                        there
                                ? rows.apply(number)
                                        .get(
                                                value.column,
                                                input.get(value.column).dataType())
                                : null);
            }
            works.forEach((variable, work) -> {
                InternalRow results = aggregated(match, variable, taker, last, work);
                List<Integer> at = places.get(variable);
                for (int i = 0; i < at.size(); i++) {
                    row.update(at.get(i), results.get(i, work.type(i)));
                }
            });
            return row;
        }

        private long first(PartialMatches.Match match, int variable, int taker, long last) {
            long first = match.first(variable);
            return first == PartialMatches.Match.NONE
                            && (variable == taker || variable < 0)
                            && taker != Integer.MIN_VALUE
                    ? last
                    : first;
        }

        private long end(PartialMatches.Match match, int variable, int taker, long last) {
            // Until it is taken the row is of no other variable.
            boolean takes = taker == Integer.MIN_VALUE || variable == taker || variable < 0;
            return match.last(variable, takes ? last : last - 1);
        }

        private InternalRow aggregated(
                PartialMatches.Match match, int variable, int taker, long last, RowsAggregate.Work work) {
            long first = first(match, variable, taker, last);
            if (first == PartialMatches.Match.NONE) {
                work.begin(null);
                return work.results();
            }
            long end = end(match, variable, taker, last);
            // What has come of the rows of a match that continues is kept.
            Map<Long, Kept> known = taker == Integer.MIN_VALUE ? null : kept.get(variable);
            Kept before = known == null ? null : known.get(first);
            boolean further = before != null && before.last <= end;
            work.begin(further ? before.buffers : null);
            for (long next = further ? before.last + 1 : first; next <= end; next++) {
                work.add(rows.apply(next));
            }
            InternalRow results = work.results();
            if (known != null && !(further && before.last == end)) {
                known.put(first, new Kept(end, work.end()));
            }
            return results;
        }
    }
}
