package sqlstream.patterns;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.Predicate;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateOrdering$;
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import sqlstream.catalyst.Scala;
import sqlstream.gateway.Described;
import sqlstream.operators.BoundedProcess;
import sqlstream.operators.EventTimeOperator;
import sqlstream.operators.KeyedProcess;
import sqlstream.operators.SortedPeers;
import sqlstream.state.Layout;
import sqlstream.state.NumberedRows;
import sqlstream.state.StateTable;

/**
 * MATCH_RECOGNIZE: a row for each match of a pattern in the rows of a key, in the order of their times.
 *
 * <p>What it keeps of a key: the partial matches, and the rows from the first of these on.
 */
public final class PatternMatch extends EventTimeOperator {
    private static final int NO_VARIABLE = -1;
    private static final byte[] NOTHING = new byte[0];
    // Later than any time.
    private static final long END = Long.MAX_VALUE / 2;

    private final RowPattern pattern;
    private final int variables;
    private final PartialMatches.Skip skip;
    private final int target;
    private final long within;
    private final boolean together;
    private final List<SortOrder> further;
    private final List<Attribute> input;
    private final List<Definition> definitions = new ArrayList<>();
    private final MatchValues measures;
    private final int[] keys;
    private final StructType output;
    // What conditions look at of each variable: how many last rows, or all of them.
    private final Map<Integer, Integer> seen = new TreeMap<>();

    private transient NumberedRows rows;
    private transient Matching matching;

    /** The condition of a variable, null for none, over a row and {@code values} of the match. */
    private record Definition(Expression condition, MatchValues values, List<Attribute> columns)
            implements Serializable {}

    /**
     * What is asked for.
     *
     * @param keys the columns of PARTITION BY
     * @param variables those of the pattern, in its order
     * @param states the pattern as an automaton, for each state its edges; variables are numbers there
     * @param target the variable to a row of which is skipped; null where no skip names one
     * @param within how many milliseconds later than its first row a match may not end; 0 for no bound
     * @param together whether a row can go on with a match in one way at most
     * @param values those of the match that conditions look at
     */
    record Options(
            List<String> keys,
            List<String> variables,
            List<List<RowPattern.Edge>> states,
            PartialMatches.Skip skip,
            String target,
            long within,
            boolean together,
            List<MatchValues.Named> values,
            List<MatchValues.Named> measures) {}

    /**
     * The matches in the rows of {@code sorted}, an orderBy of columns, first of a TIMESTAMP that is never NULL.
     *
     * @param options as JSON
     * @param conditions a select of conditions, each under the name of its variable, over a select of the columns and,
     *     behind them, of what stands for the options' {@code values}
     * @param aggregates those in values and measures, as an agg of the rows; null for none
     * @param result a select with the columns of the result
     */
    public static Dataset<Row> of(
            Dataset<Row> sorted,
            String options,
            Dataset<Row> conditions,
            Dataset<Row> aggregates,
            Dataset<Row> result) {
        Options said = Described.as(Options.class, options);
        Sort node = (Sort) analyzed(sorted);
        Dataset<Row> rows = Dataset$.MODULE$.ofRows(
                ((org.apache.spark.sql.classic.Dataset<Row>) sorted).sparkSession(), node.child());
        List<String> by = new ArrayList<>(said.keys);
        if (said.keys.isEmpty()) {
            by.add("all");
            rows = rows.withColumn("all", functions.lit(0));
        }
        List<NamedExpression> calls = aggregates == null
                ? List.of()
                : CollectionConverters.asJava(((Aggregate) analyzed(aggregates)).aggregateExpressions());
        PatternMatch processor =
                new PatternMatch(said, node, rows, (Project) analyzed(conditions), calls, result.schema());
        var frame = (org.apache.spark.sql.classic.Dataset<Row>) rows;
        if (frame.isStreaming()) {
            return KeyedProcess.of(frame, by, result.schema(), processor);
        }
        // Rows as wide as KeyedProcess's.
        var wide = frame.withColumn("hash", functions.lit(0L));
        return BoundedProcess.of(wide, by, processor.time, result.schema(), processor::all);
    }

    private static LogicalPlan analyzed(Dataset<Row> frame) {
        return ReplaceExpressions.apply(((org.apache.spark.sql.classic.Dataset<Row>) frame)
                .queryExecution()
                .analyzed());
    }

    private PatternMatch(
            Options options,
            Sort sort,
            Dataset<Row> rows,
            Project conditions,
            List<NamedExpression> calls,
            StructType output) {
        super(
                rows.columns().length,
                CollectionConverters.asJava(sort.child().output())
                        .indexOf(
                                CollectionConverters.asJava(sort.order()).get(0).child()));
        pattern = new RowPattern(options.states);
        variables = options.variables.size();
        skip = options.skip;
        target = options.target == null ? NO_VARIABLE : Described.place(options.variables, options.target);
        within = options.within * 1000;
        together = options.together;
        further = new ArrayList<>(CollectionConverters.asJava(sort.order()));
        further.remove(0);
        this.output = output;
        input = new ArrayList<>(CollectionConverters.asJava(sort.child().output()));
        List<String> names = List.of(rows.columns());
        keys = options.keys.stream()
                .mapToInt(key -> Described.place(names, key))
                .toArray();
        Map<String, Expression> named = new HashMap<>();
        for (NamedExpression condition : CollectionConverters.asJava(conditions.projectList())) {
            named.put(condition.name(), condition instanceof Alias alias ? alias.child() : (Expression) condition);
        }
        List<Attribute> columns = CollectionConverters.asJava(conditions.child().output());
        List<Attribute> stands = columns.subList(columns.size() - options.values.size(), columns.size());
        for (String variable : options.variables) {
            Expression condition = named.get(variable);
            definitions.add(condition == null ? null : definition(condition, stands, options, calls));
        }
        measures = new MatchValues(options.measures, options.variables, calls, input);
        for (Definition each : definitions) {
            for (MatchValues.Value value : each == null ? List.<MatchValues.Value>of() : each.values.values()) {
                int last = value.kind() == MatchValues.Kind.LAST ? value.offset() + 1 : Integer.MAX_VALUE;
                seen.merge(value.variable(), last, Math::max);
            }
        }
    }

    /** {@code stands}: the columns that stand for values of the match in conditions. */
    private Definition definition(
            Expression condition, List<Attribute> stands, Options options, List<NamedExpression> calls) {
        List<Attribute> columns = new ArrayList<>(input);
        List<MatchValues.Named> read = new ArrayList<>();
        Scala.replaced(condition, e -> {
            for (int i = 0; i < stands.size(); i++) {
                Attribute stand = stands.get(i);
                if (e instanceof Attribute a
                        && a.exprId().equals(stand.exprId())
                        && columns.stream().noneMatch(c -> c.exprId().equals(a.exprId()))) {
                    columns.add(stand);
                    read.add(options.values.get(i));
                }
            }
            return null;
        });
        return new Definition(condition, new MatchValues(read, options.variables, calls, input), columns);
    }

    @Override
    public List<Layout> layouts() {
        return List.of(Layout.PATTERN_MATCH, Layout.EVENT_TIME_BUFFER, Layout.NUMBERED_ROWS);
    }

    /** The number of the first row that a match has, in what is kept; goes behind the matches. */
    public static long earliest(ByteBuffer own, int variables) {
        int end = own.getInt() + own.position();
        long earliest = PartialMatches.earliest(own, variables);
        own.position(end);
        return earliest;
    }

    @Override
    protected void describeWaiting(StateTable table, String waiting, StructType rows) {
        if (keys.length == 0) {
            // The only one is no column of the user's.
            table.withoutKeys();
        }
        super.describeWaiting(table, waiting, own(rows));
    }

    @Override
    protected void describeOwn(StateTable table, StructType rows) {
        String kept = table.with("own", "match").with("variables", variables).value(StateTable.list(rows));
        table.column("matching", "transform(" + kept + ", r -> " + StateTable.struct("r", own(rows)) + ")");
    }

    /** The columns of the input, without those that are put behind them. */
    private StructType own(StructType rows) {
        return new StructType(Arrays.copyOf(rows.fields(), input.size()));
    }

    @Override
    protected void open() {
        rows = new NumberedRows(getHandle(), width());
        matching = new Matching();
    }

    @Override
    protected void load(ByteBuffer own) {
        matching.load(own);
    }

    @Override
    protected byte[] store() {
        return matching.store();
    }

    @Override
    protected long wake() {
        return matching.partial.expires();
    }

    @Override
    protected Iterator<InternalRow> process(InternalRow key, Iterator<InternalRow> due, long watermark) {
        return matching.of(due, watermark);
    }

    /** The matches in rows of a key that are all there. */
    private Iterator<InternalRow> all(Iterator<InternalRow> due) {
        if (matching == null) {
            rows = new NumberedRows(null, width());
            matching = new Matching();
        }
        matching.load(ByteBuffer.wrap(NOTHING));
        return matching.of(due, END);
    }

    /** The computation on one task. */
    private final class Matching implements PartialMatches.Rows {
        private final PartialMatches partial =
                new PartialMatches(pattern, variables, skip, target, within, together, this);
        private final Comparator<InternalRow> order = further.isEmpty()
                ? null
                : GenerateOrdering$.MODULE$.generate(PythonUtils.toSeq(further), PythonUtils.toSeq(input));
        private final BasePredicate[] predicates = new BasePredicate[variables];
        private final MatchValues.Work[] works = new MatchValues.Work[variables];
        // Of the current row, for conditions that look at it alone: 0 for not known, 1 for TRUE, 2 for not.
        private final byte[] known = new byte[variables];
        private final MatchValues.Work measured = measures.new Work(this::row);
        private final JoinedRow both = new JoinedRow();
        private final GenericInternalRow result = new GenericInternalRow(output.length());
        private final UnsafeProjection projection = UnsafeProjection.create(output);
        private final Deque<UnsafeRow> emitted = new ArrayDeque<>();
        private UnsafeRow current;
        private long number;

        private Matching() {
            for (int i = 0; i < variables; i++) {
                Definition definition = definitions.get(i);
                if (definition != null) {
                    List<Attribute> columns = new ArrayList<>(definition.columns);
                    // Rows are wider than the frame by what KeyedProcess and this class put at their end.
                    columns.addAll(input.size(), padding());
                    predicates[i] = Predicate.create(definition.condition, PythonUtils.toSeq(columns));
                    works[i] = definition.values.new Work(this::row);
                }
            }
        }

        private List<Attribute> padding() {
            List<Attribute> found = new ArrayList<>();
            for (int i = input.size(); i < width(); i++) {
                found.add(Scala.attribute("_", DataTypes.LongType));
            }
            return found;
        }

        private InternalRow row(long at) {
            return at == number ? current : rows.get(at);
        }

        private void load(ByteBuffer own) {
            int length = own.hasRemaining() ? own.getInt() : 0;
            partial.load(own.slice(own.position(), length).order(ByteOrder.nativeOrder()));
            own.position(own.position() + length);
            rows.load(own);
            begin();
        }

        private void begin() {
            for (MatchValues.Work work : works) {
                if (work != null) {
                    work.begin();
                }
            }
        }

        private byte[] store() {
            if (partial.earliest() == Long.MAX_VALUE) {
                return NOTHING;
            }
            byte[] kept = rows.store();
            int length = partial.size();
            ByteBuffer buffer = ByteBuffer.allocate(4 + length + kept.length)
                    .order(ByteOrder.nativeOrder())
                    .putInt(length);
            partial.store(buffer);
            return buffer.put(kept).array();
        }

        private Iterator<InternalRow> of(Iterator<InternalRow> due, long watermark) {
            Iterator<InternalRow> sorted = order == null ? due : new SortedPeers(due, time, order);
            return new AbstractIterator<>() {
                private boolean ended;

                @Override
                public boolean hasNext() {
                    while (emitted.isEmpty() && sorted.hasNext()) {
                        look((UnsafeRow) sorted.next());
                    }
                    if (emitted.isEmpty() && !ended) {
                        ended = true;
                        advance(watermark);
                    }
                    return !emitted.isEmpty();
                }

                @Override
                public InternalRow next() {
                    return emitted.poll();
                }
            };
        }

        private void look(UnsafeRow row) {
            long at = row.getLong(time);
            advance(at);
            current = row;
            number = rows.next();
            Arrays.fill(known, (byte) 0);
            partial.take(number, at);
            number = -1;
            long first = partial.earliest();
            if (first != Long.MAX_VALUE) {
                rows.add(row);
                rows.forget(first);
            } else {
                forget();
            }
        }

        private void advance(long to) {
            number = -1;
            if (to != Long.MIN_VALUE) {
                partial.advance(to);
            }
            if (partial.earliest() == Long.MAX_VALUE) {
                forget();
            }
        }

        private void forget() {
            if (rows.next() > 0) {
                rows.clear();
            }
            // The next row has the number of one that has gone.
            begin();
        }

        @Override
        public boolean holds(int variable, PartialMatches.Match match) {
            if (predicates[variable] == null) {
                return true;
            }
            MatchValues.Work work = works[variable];
            if (definitions.get(variable).values.size() > 0) {
                return predicates[variable].eval(both.apply(current, work.of(match, variable, number)));
            }
            if (known[variable] == 0) {
                known[variable] = (byte) (predicates[variable].eval(current) ? 1 : 2);
            }
            return known[variable] == 1;
        }

        @Override
        public List<Long> seen(PartialMatches.Match match) {
            List<Long> found = new ArrayList<>(2 * seen.size());
            seen.forEach((variable, lasts) -> {
                long first = match.first(variable);
                long last = match.last(variable, Long.MAX_VALUE);
                found.add(
                        lasts == Integer.MAX_VALUE || first < 0
                                ? first
                                : Math.min(lasts, Math.min(last, number) - first + 1));
                found.add(last);
            });
            return found;
        }

        @Override
        public void emit(PartialMatches.Match match, long moment) {
            InternalRow last = row(match.last());
            for (int i = 0; i < keys.length; i++) {
                result.update(i, last.get(keys[i], output.apply(i).dataType()));
            }
            InternalRow values = measured.of(match, match.last());
            for (int i = 0; i < measures.size(); i++) {
                result.update(
                        keys.length + i,
                        values.get(i, output.apply(keys.length + i).dataType()));
            }
            result.update(output.length() - 1, moment);
            emitted.add(projection.apply(result).copy());
        }
    }
}
