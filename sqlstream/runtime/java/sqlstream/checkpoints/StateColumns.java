package sqlstream.checkpoints;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.SessionWindowStateStoreSaveExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreSaveExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.StreamingDeduplicateExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import sqlstream.catalyst.Scala;
import sqlstream.catalyst.SqlText;
import sqlstream.state.StateSchema;
import sqlstream.state.StateTable;

/**
 * What an operator keeps, as columns of a table: of Spark's own operators found in their plans, ours say it themselves.
 */
final class StateColumns {
    private static final int WITHOUT_KEYS = 2;

    private StateColumns() {}

    /**
     * The state of {@code operator} as it is recorded: what reads it, and its columns with name, SQL, type, and whether
     * they are of the key. Null where it is not known what it keeps.
     *
     * @param whole a plan of what the operator's node gives and no more; null where there is none
     */
    static Map<String, Object> of(SparkSession session, SparkPlan operator, SparkPlan whole)
            throws JsonProcessingException {
        if (operator instanceof TransformWithStateExec exec) {
            String told = StateSchema.table(exec);
            return told == null ? null : typed(session, new ObjectMapper().readTree(told));
        }
        StateTable table = null;
        if (operator instanceof StreamingDeduplicateExec exec) {
            table = new StateTable().by("row");
            for (Attribute key : Scala.list(exec.keyExpressions())) {
                table.key(key.name(), key.dataType());
            }
        } else if (operator instanceof StateStoreSaveExec save && save.stateFormatVersion() == WITHOUT_KEYS) {
            table = aggregate(operator, Scala.list(save.keyExpressions()), whole);
        } else if (operator instanceof SessionWindowStateStoreSaveExec save) {
            table = sessions(save, whole);
        }
        return table == null ? null : typed(session, new ObjectMapper().readTree(table.json()));
    }

    private static Map<String, Object> typed(SparkSession session, JsonNode told) {
        StructType kept = new StructType();
        for (String part : List.of("keys", "values")) {
            for (StructField field :
                    ((StructType) DataType.fromJson(told.get("reader").get(part).asText())).fields()) {
                kept = kept.add(field);
            }
        }
        List<Attribute> columns = new ArrayList<>();
        for (StructField field : kept.fields()) {
            columns.add(Scala.attribute(field.name(), field.dataType()));
        }
        Dataset<?> empty = Dataset$.MODULE$.ofRows(
                session, LocalRelation.fromExternalRows(Scala.seq(columns), Scala.seq(List.of())));
        List<Map<String, Object>> found = new ArrayList<>();
        for (Map.Entry<String, JsonNode> column : told.get("columns").properties()) {
            String sql = column.getValue().get("sql").asText();
            JsonNode expected = column.getValue().get("type");
            Expression read = read(empty, sql);
            // A text that is read as another expression is not what the state means.
            if (read == null
                    || !expected.isNull()
                            && !(plain(read).sql().equals(sql)
                                    && read.dataType().json().equals(expected.asText()))) {
                continue;
            }
            Map<String, Object> each = new LinkedHashMap<>();
            each.put("name", column.getKey());
            each.put("sql", sql);
            each.put("type", read.dataType().json());
            each.put(
                    "key",
                    Scala.list(read.references().toSeq()).stream()
                            .allMatch(a -> a.name().startsWith("k")));
            found.add(each);
        }
        return new LinkedHashMap<>(Map.of("reader", told.get("reader"), "columns", found));
    }

    private static Expression read(Dataset<?> empty, String sql) {
        try {
            Project project =
                    (Project) empty.selectExpr(sql + " AS c").queryExecution().analyzed();
            return ((Alias) Scala.list(project.projectList()).get(0)).child();
        } catch (Exception error) {
            if (error instanceof AnalysisException) {
                return null;
            }
            throw error;
        }
    }

    /** Without casts to the type that there is, which Spark's analysis adds. */
    private static Expression plain(Expression expression) {
        return Scala.replaced(
                expression,
                e -> e instanceof Cast cast && cast.child().dataType().equals(cast.dataType())
                        ? plain(cast.child())
                        : null);
    }

    private static StateTable aggregate(SparkPlan save, List<Attribute> keys, SparkPlan whole) {
        StateTable table = new StateTable().by("row");
        List<Attribute> kept = Scala.list(save.output());
        keys.forEach(key -> table.key(null, key.dataType()));
        kept.subList(keys.size(), kept.size()).forEach(value -> table.value(value.dataType()));
        SparkPlan own = whole == null ? null : saving(whole, save.getClass());
        if (own == null
                || !Columns.buffers(Scala.child(own)).equals(Columns.buffers(Scala.child(save)))
                || !Columns.types(own.output()).equals(Columns.types(save.output()))) {
            return raw(table, keys, kept);
        }
        Map<ExprId, String> places = new HashMap<>();
        List<Attribute> columns = Scala.list(own.output());
        for (int i = 0; i < columns.size(); i++) {
            places.put(columns.get(i).exprId(), i < keys.size() ? "k" + i : "v" + (i - keys.size()));
        }
        return named(table, whole, own, places);
    }

    /** The value of a session is a whole row. */
    private static StateTable sessions(SessionWindowStateStoreSaveExec save, SparkPlan whole) {
        StateTable table = new StateTable().by("row");
        List<Attribute> keys = Scala.list(save.keyWithoutSessionExpressions());
        List<Attribute> kept = Scala.list(save.child().output());
        keys.forEach(key -> table.key(null, key.dataType()));
        // The start of the session.
        table.key(null, org.apache.spark.sql.types.DataTypes.TimestampType);
        kept.forEach(value -> table.value(value.dataType()));
        SparkPlan own = whole == null ? null : saving(whole, save.getClass());
        if (own == null
                || !Columns.buffers(Scala.child(own)).equals(Columns.buffers(save.child()))
                || !Columns.types(own.output()).equals(Columns.types(save.output()))) {
            return raw(table, List.of(), kept);
        }
        Map<ExprId, String> places = new HashMap<>();
        List<Attribute> columns = Scala.list(own.output());
        for (int i = 0; i < columns.size(); i++) {
            places.put(columns.get(i).exprId(), "v" + i);
        }
        List<Attribute> ownKeys = Scala.list(((SessionWindowStateStoreSaveExec) own).keyWithoutSessionExpressions());
        for (int i = 0; i < ownKeys.size(); i++) {
            places.put(ownKeys.get(i).exprId(), "k" + i);
        }
        return named(table, whole, own, places);
    }

    private static StateTable raw(StateTable table, List<Attribute> keys, List<Attribute> kept) {
        for (int i = 0; i < kept.size(); i++) {
            String name = kept.get(i).name();
            String shown = StateTable.isGenerated(name) ? i < keys.size() ? "key" : "value" : name;
            table.column(shown, i < keys.size() ? "k" + i : "v" + (i - keys.size()));
        }
        return table;
    }

    private static SparkPlan saving(SparkPlan plan, Class<?> kind) {
        SparkPlan each = plan;
        while (!kind.isInstance(each)) {
            if (Scala.list(each.children()).size() != 1) {
                return null;
            }
            each = Scala.child(each);
        }
        return each;
    }

    /** The columns of {@code whole}, made of those of {@code save} under it. */
    private static StateTable named(StateTable table, SparkPlan whole, SparkPlan save, Map<ExprId, String> places) {
        Map<ExprId, Value> values = values(whole, save);
        List<Attribute> columns = Scala.list(whole.output());
        for (Attribute column : columns) {
            Value value = values.get(column.exprId());
            String sql = value == null ? null : SqlText.of(value.expression, places);
            if (sql != null && !StateTable.isGenerated(column.name())) {
                table.column(column.name(), sql, value.expression.dataType());
            }
        }
        return table;
    }

    /** An expression over what is kept; {@code raw}: it is the buffer of a function that is a program. */
    private record Value(Expression expression, boolean raw) {}

    private static Map<ExprId, Value> values(SparkPlan plan, SparkPlan save) {
        Map<ExprId, Value> found = new HashMap<>();
        if (plan == save) {
            Scala.list(plan.output()).forEach(column -> found.put(column.exprId(), new Value(column, false)));
            return found;
        }
        SparkPlan child = Scala.child(plan);
        Map<ExprId, Value> below = values(child, save);
        if (plan instanceof ProjectExec project) {
            named(Scala.list(project.projectList()), below, found);
        } else if (plan instanceof BaseAggregateExec aggregate) {
            named(Scala.list(aggregate.resultExpressions()), results(aggregate, child, below), found);
        } else {
            found.putAll(below);
        }
        return found;
    }

    private static void named(List<NamedExpression> columns, Map<ExprId, Value> of, Map<ExprId, Value> found) {
        for (NamedExpression column : columns) {
            Value value = replaced(column instanceof Alias alias ? alias.child() : (Expression) column, of);
            if (value != null) {
                found.put(column.exprId(), value);
            }
        }
    }

    /** What the result of an aggregate is made of: keys, and what its functions give. */
    private static Map<ExprId, Value> results(BaseAggregateExec aggregate, SparkPlan child, Map<ExprId, Value> below) {
        Map<ExprId, Value> found = new HashMap<>();
        List<Attribute> kept = Scala.list(child.output());
        int place = 0;
        for (NamedExpression key : Scala.list(aggregate.groupingExpressions())) {
            put(found, key.exprId(), below.get(kept.get(place++).exprId()));
        }
        for (int i = 0; i < Scala.list(aggregate.aggregateExpressions()).size(); i++) {
            AggregateFunction function =
                    Scala.list(aggregate.aggregateExpressions()).get(i).aggregateFunction();
            Value first = below.get(kept.get(place).exprId());
            for (AttributeReference buffer : Scala.list(function.aggBufferAttributes())) {
                put(found, buffer.exprId(), below.get(kept.get(place++).exprId()));
            }
            put(
                    found,
                    Scala.list(aggregate.aggregateAttributes()).get(i).exprId(),
                    function instanceof DeclarativeAggregate declarative
                            ? replaced(declarative.evaluateExpression(), found)
                            : first == null ? null : new Value(first.expression, true));
        }
        return found;
    }

    private static void put(Map<ExprId, Value> values, ExprId column, Value value) {
        if (value != null) {
            values.put(column, value);
        }
    }

    private static Value replaced(Expression expression, Map<ExprId, Value> values) {
        List<Value> read = new ArrayList<>();
        Expression made = Scala.replaced(expression, e -> {
            if (!(e instanceof Attribute column)) {
                return null;
            }
            Value value = values.get(column.exprId());
            read.add(value);
            return value == null ? e : value.expression;
        });
        if (read.contains(null)) {
            return null;
        }
        return read.stream().filter(Value::raw).findFirst().orElse(new Value(made, false));
    }
}
