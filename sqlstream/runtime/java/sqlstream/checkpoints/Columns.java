package sqlstream.checkpoints;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate;
import org.apache.spark.sql.catalyst.expressions.aggregate.Partial$;
import org.apache.spark.sql.catalyst.plans.QueryPlan;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.UnionExec;
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec;
import scala.collection.immutable.Seq;
import sqlstream.aggregates.Aggregates;
import sqlstream.catalyst.Scala;

/** What Spark's own operators keep, in words that are the same for the same columns of another plan. */
final class Columns {
    // Its functions say all that they are in their texts.
    private static final Package KNOWN = AggregateExpression.class.getPackage();

    // So begin the names that no user gives.
    private static final String GENERATED = "__sqlstream";
    private static final UUID NOBODY = new UUID(0, 0);

    private Columns() {}

    static String types(Seq<Attribute> columns) {
        return Scala.list(columns).stream()
                .map(column -> column.dataType().catalogString())
                .collect(Collectors.joining(", ", "(", ")"));
    }

    /** The aggregates whose buffers {@code plan}, which gives the rows to keep, has. */
    static String buffers(SparkPlan plan) {
        return calls(plan).stream()
                .map(aggregate -> aggregate.aggregateFunction().prettyName() + " of "
                        + Scala.list(aggregate.aggregateFunction().children()).stream()
                                .map(argument -> argument.dataType().catalogString())
                                .collect(Collectors.joining(", ")))
                .collect(Collectors.joining("; ", "[", "]"));
    }

    private static List<AggregateExpression> calls(SparkPlan plan) {
        return calls(plan, call -> true);
    }

    /** The same as they see rows: what merges buffers says nothing of conditions. */
    private static List<AggregateExpression> ofRows(SparkPlan plan) {
        return calls(plan, call -> call.mode().equals(Partial$.MODULE$));
    }

    private static List<AggregateExpression> calls(SparkPlan plan, Predicate<AggregateExpression> which) {
        SparkPlan each = plan;
        while (true) {
            if (each instanceof BaseAggregateExec aggregate) {
                List<AggregateExpression> calls = Scala.list(aggregate.aggregateExpressions());
                if (calls.stream().allMatch(which)) {
                    return calls;
                }
            }
            if (Scala.list(each.children()).size() != 1) {
                return List.of();
            }
            each = Scala.child(each);
        }
    }

    /**
     * Each aggregate whose buffers {@code plan} has, told apart from others by its arguments down to columns that a
     * user has named, with the types of its columns; an empty text where a column can't be told from others. Empty
     * where there is an aggregate that says not all that it is.
     */
    static List<List<Object>> aggregates(SparkPlan plan) {
        List<AggregateExpression> calls = ofRows(plan);
        return calls.stream().allMatch(Columns::isKnown) ? new Texts(plan).of(calls, calls) : List.of();
    }

    /** The same of those that an operator of ours computes: in its order, told as Spark's are. */
    static List<List<Object>> aggregates(SparkSession session, Aggregate node) {
        Aggregate optimized = aggregate(session.sessionState().optimizer().execute(node));
        List<NamedExpression> columns = Scala.list(node.aggregateExpressions());
        List<NamedExpression> others = optimized == null ? List.of() : Scala.list(optimized.aggregateExpressions());
        if (others.size() != columns.size()) {
            return List.of();
        }
        Map<Expression, AggregateExpression> kept = new LinkedHashMap<>();
        List<AggregateExpression> told = new ArrayList<>();
        for (int i = 0; i < columns.size(); i++) {
            List<AggregateExpression> own = Aggregates.calls((Expression) columns.get(i));
            List<AggregateExpression> as = Aggregates.calls((Expression) others.get(i));
            if (own.size() != as.size() || !own.stream().allMatch(Columns::isKnown)) {
                return List.of();
            }
            for (int j = 0; j < own.size(); j++) {
                if (kept.putIfAbsent(own.get(j).canonicalized(), own.get(j)) == null) {
                    told.add(as.get(j));
                }
            }
        }
        return new Texts(optimized.child()).of(told, List.copyOf(kept.values()));
    }

    private static Aggregate aggregate(LogicalPlan plan) {
        LogicalPlan each = plan;
        while (!(each instanceof Aggregate) && Scala.list(each.children()).size() == 1) {
            each = Scala.list(each.children()).get(0);
        }
        return each instanceof Aggregate aggregate ? aggregate : null;
    }

    private static boolean isKnown(AggregateExpression call) {
        AggregateFunction function = call.aggregateFunction();
        return function instanceof DeclarativeAggregate
                && function.getClass().getPackage().equals(KNOWN);
    }

    /** Tells aggregates of the rows of a plan apart: by what the columns below are made of, and by all columns. */
    private static final class Texts {
        private final Map<ExprId, Expression> made = new HashMap<>();
        private final Map<String, Set<ExprId>> named = new HashMap<>();

        Texts(QueryPlan<?> plan) {
            List<Attribute> columns = new ArrayList<>();
            definitions(plan, made, columns);
            for (Attribute column : columns) {
                named.computeIfAbsent(column.name(), name -> new HashSet<>()).add(root(column.exprId(), made));
            }
        }

        /** The texts of {@code calls}, each with the types of the columns that {@code kept} has for it. */
        List<List<Object>> of(List<AggregateExpression> calls, List<AggregateExpression> kept) {
            List<List<Object>> found = new ArrayList<>();
            for (int i = 0; i < calls.size(); i++) {
                List<String> types = Scala.list(kept.get(i).aggregateFunction().aggBufferAttributes()).stream()
                        .map(column -> column.dataType().catalogString())
                        .toList();
                found.add(List.of(text(calls.get(i)), types));
            }
            return found;
        }

        private String text(AggregateExpression call) {
            Expression told = expanded(call, made);
            // Ids differ from plan to plan: a column is told by its name, as a buffer of the plan may be called, too.
            boolean clear = Scala.list(told.children()).stream()
                    .flatMap(part -> Scala.list(part.references().toSeq()).stream())
                    .allMatch(c -> named.getOrDefault(c.name(), Set.of()).size() == 1);
            return clear ? Columns.text(told) : "";
        }
    }

    private static void definitions(QueryPlan<?> plan, Map<ExprId, Expression> made, List<Attribute> columns) {
        Seq<NamedExpression> projected = plan instanceof ProjectExec project
                ? project.projectList()
                : plan instanceof Project project ? project.projectList() : Scala.seq(List.of());
        for (NamedExpression column : Scala.list(projected)) {
            if (column instanceof Alias alias) {
                made.put(alias.exprId(), alias.child());
            }
        }
        columns.addAll(Scala.list(plan.output()));
        boolean union = plan instanceof Union || plan instanceof UnionExec;
        // A union has columns of its own, whatever those of its inputs are called; they have the ids of its first.
        List<Attribute> told = union ? new ArrayList<>() : columns;
        Scala.list(plan.children()).forEach(child -> definitions(child, made, told));
    }

    /** The first of a column and those that it is another name of. */
    private static ExprId root(ExprId column, Map<ExprId, Expression> made) {
        ExprId id = column;
        while (made.get(id) instanceof AttributeReference other) {
            id = other.exprId();
        }
        return id;
    }

    private static Expression expanded(Expression expression, Map<ExprId, Expression> made) {
        if (expression instanceof AttributeReference column) {
            Expression of = column.name().startsWith(GENERATED) ? made.get(column.exprId()) : null;
            return of == null ? column : expanded(of, made);
        }
        List<Expression> children = Scala.list(expression.children()).stream()
                .map(child -> expanded(child, made))
                .toList();
        return expression.withNewChildren(Scala.seq(children));
    }

    private static String text(Expression expression) {
        // How far an aggregate has come is the same for all of a state.
        return anonymous(expression).toString().replaceFirst("^(partial|merge)_", "");
    }

    /** Ids of columns differ from plan to plan. */
    private static Expression anonymous(Expression expression) {
        if (expression instanceof AttributeReference column) {
            return column.withExprId(new ExprId(0, NOBODY));
        }
        List<Expression> children = Scala.list(expression.children()).stream()
                .map(Columns::anonymous)
                .toList();
        return expression.withNewChildren(Scala.seq(children));
    }

    /** The values with which the buffers of the aggregates of {@code plan} begin. */
    static InternalRow initial(SparkPlan plan) {
        return initial(calls(plan));
    }

    /** The same of those that an operator of ours computes. */
    static InternalRow initial(Aggregate node) {
        Map<Expression, AggregateExpression> kept = new LinkedHashMap<>();
        for (NamedExpression column : Scala.list(node.aggregateExpressions())) {
            Aggregates.calls((Expression) column).forEach(call -> kept.putIfAbsent(call.canonicalized(), call));
        }
        return initial(List.copyOf(kept.values()));
    }

    private static InternalRow initial(List<AggregateExpression> calls) {
        List<Object> values = new ArrayList<>();
        for (AggregateExpression call : calls) {
            for (Expression value : Scala.list(((DeclarativeAggregate) call.aggregateFunction()).initialValues())) {
                values.add(value.eval(null));
            }
        }
        return new GenericInternalRow(values.toArray());
    }

    /** By what the rows of an operator are brought together. */
    static String partitioning(SparkPlan plan) {
        return Scala.list(plan.requiredChildDistribution()).stream()
                .map(each ->
                        each instanceof org.apache.spark.sql.catalyst.plans.physical.StatefulOpClusteredDistribution by
                                ? Scala.list(by.expressions()).stream()
                                        .map(key -> key.dataType().catalogString())
                                        .collect(Collectors.joining(", ", "(", ")"))
                                : "()")
                .collect(Collectors.joining(" and "));
    }
}
