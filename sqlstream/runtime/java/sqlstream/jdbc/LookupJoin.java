package sqlstream.jdbc;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.Predicate;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions;
import org.apache.spark.sql.catalyst.plans.LeftOuter$;
import org.apache.spark.sql.catalyst.plans.logical.DeserializeToObject;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MapPartitions;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.types.ObjectType;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;
import sqlstream.catalyst.Scala;
import sqlstream.catalyst.WholeRow;
import sqlstream.gateway.Described;

/**
 * A join with a table of a database that asks it for the rows of those keys that come, a few thousand at a time.
 * Spark's join of a stream with a table would read the whole table each time.
 */
public final class LookupJoin extends AbstractFunction1<Iterator<Object>, Iterator<Object>> implements Serializable {
    private final LookupTable table;
    private final LookupCache cache;
    private final int together;
    private final int attempts;
    private final long delay;
    private final boolean outer;
    private final int width;
    private final List<Attribute> left;
    private final List<Attribute> pair;
    private final List<Expression> keys;
    private final Expression condition;

    /**
     * What is asked for.
     *
     * @param keys the columns of the left, each with the column of the right that it is equal to
     * @param together how many rows a task may hold while it asks for their keys
     * @param attempts how often a key without a row is asked for again, after {@code delayMs} each
     */
    record Options(Map<String, String> keys, Lookup how, int together, int attempts, long delayMs) {}

    /**
     * The result of {@code joined}, whose last operation is an inner or left join with a table of a database;
     * {@code options} are JSON.
     */
    public static Dataset<Row> of(Dataset<Row> joined, String options) {
        Options said = Described.as(Options.class, options);
        var frame = (org.apache.spark.sql.classic.Dataset<Row>) joined;
        Join node = (Join) ReplaceExpressions.apply(frame.queryExecution().analyzed());
        var right = Dataset$.MODULE$.ofRows(frame.sparkSession(), node.right());
        LookupTable table = LookupTable.of(
                right.queryExecution().optimizedPlan(), new ArrayList<>(said.keys.values()), said.how.retries());
        if (table == null) {
            // A condition that is never true leaves no table.
            return joined;
        }
        AttributeReference row = Scala.present("row", new ObjectType(InternalRow.class));
        AttributeReference rows = Scala.present("rows", joined.schema());
        LogicalPlan objects = new DeserializeToObject(new WholeRow(node.left().output()), row, node.left());
        LookupJoin join = new LookupJoin(node, table, said);
        return WholeRow.unpacked(frame.sparkSession(), new MapPartitions(join, rows, objects), rows, joined.schema());
    }

    private LookupJoin(Join node, LookupTable table, Options options) {
        this.table = table;
        cache = options.how.cached() ? new LookupCache(options.how) : null;
        together = options.together;
        attempts = options.attempts;
        delay = options.delayMs;
        outer = node.joinType() == LeftOuter$.MODULE$;
        width = CollectionConverters.asJava(node.right().output()).size();
        left = new ArrayList<>(CollectionConverters.asJava(node.left().output()));
        pair = new ArrayList<>(left);
        pair.addAll(CollectionConverters.asJava(node.right().output()));
        keys = new ArrayList<>(options.keys.keySet().stream()
                .map(key -> LookupTable.comparable(Scala.named(node.left(), key)))
                .toList());
        condition = node.condition().get();
    }

    @Override
    public Iterator<Object> apply(Iterator<Object> rows) {
        return new Pairs(rows);
    }

    private final class Pairs extends AbstractIterator<Object> {
        private final Iterator<Object> rows;
        private final LookupTable.Session session = table.session();
        private final UnsafeProjection keyOf =
                UnsafeProjection.create(PythonUtils.toSeq(keys), PythonUtils.toSeq(left));
        private final BasePredicate matches = Predicate.create(condition, PythonUtils.toSeq(pair));
        private final InternalRow nothing = new GenericInternalRow(width);
        private final JoinedRow joined = new JoinedRow();
        private final List<InternalRow> held = new ArrayList<>();
        private final Map<UnsafeRow, List<UnsafeRow>> found = new HashMap<>();
        private int next;
        private InternalRow row;
        private List<UnsafeRow> others = List.of();
        private int other;
        private boolean matched;
        private boolean ready;

        private Pairs(Iterator<Object> rows) {
            this.rows = rows;
        }

        @Override
        public boolean hasNext() {
            while (!ready && advance()) {}
            return ready;
        }

        @Override
        public Object next() {
            hasNext();
            ready = false;
            return joined;
        }

        /** Go one step on; false where there is none. */
        private boolean advance() {
            if (row != null && other < others.size()) {
                joined.apply(row, others.get(other++));
                ready = matches.eval(joined);
                matched |= ready;
            } else if (row != null) {
                ready = outer && !matched;
                joined.apply(row, nothing);
                row = null;
            } else if (next < held.size()) {
                row = held.get(next++);
                others = found.getOrDefault(keyOf.apply(row), List.of());
                other = 0;
                matched = false;
            } else {
                return hold();
            }
            return true;
        }

        /** Take the next rows, and find those of their keys. */
        private boolean hold() {
            held.clear();
            found.clear();
            next = 0;
            List<UnsafeRow> asked = new ArrayList<>();
            while (held.size() < together && rows.hasNext()) {
                InternalRow fresh = ((InternalRow) rows.next()).copy();
                held.add(fresh);
                UnsafeRow key = keyOf.apply(fresh);
                // NULL is equal to nothing.
                if (!key.anyNull() && !found.containsKey(key)) {
                    UnsafeRow kept = key.copy();
                    List<UnsafeRow> known = cache == null ? null : cache.get(kept);
                    found.put(kept, known == null ? List.of() : known);
                    if (known == null) {
                        asked.add(kept);
                    }
                }
            }
            ask(asked);
            return !held.isEmpty();
        }

        private void ask(List<UnsafeRow> asked) {
            List<UnsafeRow> missing = asked;
            for (int attempt = 0; attempt <= attempts && !missing.isEmpty(); attempt++) {
                if (attempt > 0) {
                    pause();
                }
                found.putAll(session.find(missing));
                missing =
                        missing.stream().filter(key -> found.get(key).isEmpty()).toList();
            }
            if (cache != null) {
                asked.forEach(key -> cache.put(key, found.get(key)));
            }
        }

        private void pause() {
            try {
                Thread.sleep(delay);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }
    }
}
