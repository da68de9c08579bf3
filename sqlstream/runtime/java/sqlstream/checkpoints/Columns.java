package sqlstream.checkpoints;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
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
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec;
import scala.collection.immutable.Seq;
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
        SparkPlan each = plan;
        while (!(each instanceof BaseAggregateExec)
                && Scala.list(each.children()).size() == 1) {
            each = Scala.list(each.children()).get(0);
        }
        return each instanceof BaseAggregateExec aggregate ? Scala.list(aggregate.aggregateExpressions()) : List.of();
    }

    /**
     * Each aggregate whose buffers {@code plan} has, told apart from others by its arguments down to columns that a
     * user has named, with the types of its columns; an empty text where a column can't be told from others. Empty
     * where there is an aggregate that says not all that it is.
     */
    static List<List<Object>> aggregates(SparkPlan plan) {
        Map<ExprId, Expression> made = new HashMap<>();
        List<Attribute> columns = new ArrayList<>();
        definitions(plan, made, columns);
        Map<String, Set<ExprId>> named = new HashMap<>();
        for (Attribute column : columns) {
            named.computeIfAbsent(column.name(), name -> new HashSet<>()).add(root(column.exprId(), made));
        }
        List<List<Object>> found = new ArrayList<>();
        for (AggregateExpression call : calls(plan)) {
            AggregateFunction function = call.aggregateFunction();
            boolean known = function instanceof DeclarativeAggregate
                    && function.getClass().getPackage().equals(KNOWN);
            if (!known) {
                return List.of();
            }
            Expression told = expanded(call, made);
            // An aggregate of buffers refers to those, which have the name of its function.
            boolean clear = Scala.list(told.children()).stream()
                    .flatMap(part -> Scala.list(part.references().toSeq()).stream())
                    .allMatch(c -> named.getOrDefault(c.name(), Set.of()).size() == 1);
            List<String> types = Scala.list(function.aggBufferAttributes()).stream()
                    .map(column -> column.dataType().catalogString())
                    .toList();
            found.add(List.of(clear ? text(told) : "", types));
        }
        return found;
    }

    /** What the columns below are made of, and all columns. */
    private static void definitions(SparkPlan plan, Map<ExprId, Expression> made, List<Attribute> columns) {
        if (plan instanceof ProjectExec project) {
            for (NamedExpression column : Scala.list(project.projectList())) {
                if (column instanceof Alias alias) {
                    made.put(alias.exprId(), alias.child());
                }
            }
        }
        columns.addAll(Scala.list(plan.output()));
        Scala.list(plan.children()).forEach(child -> definitions(child, made, columns));
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
        List<Object> values = new ArrayList<>();
        for (AggregateExpression call : calls(plan)) {
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
