package sqlstream.catalyst;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

/**
 * What Spark's Scala interfaces make long in Java: walks over plans and expressions, calls of our methods as
 * expressions.
 */
public final class Scala {
    private Scala() {}

    @SuppressWarnings("unchecked") // Nothing is added to it.
    public static <T> Seq<T> seq(List<? extends T> list) {
        return PythonUtils.toSeq((List<T>) list);
    }

    public static <T> List<T> list(scala.collection.Seq<T> seq) {
        return CollectionConverters.asJava(seq);
    }

    public static <K, V> scala.collection.immutable.Map<K, V> map(Map<K, V> map) {
        return scala.collection.immutable.Map$.MODULE$.from(CollectionConverters.asScala(map));
    }

    /** {@code error}, for a method of Scala's, which declares none. */
    @SuppressWarnings("unchecked")
    public static <E extends Throwable> RuntimeException unchecked(Throwable error) throws E {
        throw (E) error;
    }

    /** An iterator of some rows. */
    public static scala.collection.Iterator<InternalRow> rows(InternalRow... rows) {
        return CollectionConverters.asScala(List.of(rows).iterator());
    }

    /** A column of its own, nullable. */
    public static AttributeReference attribute(String name, DataType type) {
        return attribute(name, type, true);
    }

    /** A column of its own that is never NULL. */
    public static AttributeReference present(String name, DataType type) {
        return attribute(name, type, false);
    }

    private static AttributeReference attribute(String name, DataType type, boolean nullable) {
        return new AttributeReference(
                name, type, nullable, Metadata.empty(), NamedExpression$.MODULE$.newExprId(), seq(List.of()));
    }

    /** {@code value} under a name. */
    public static Alias alias(Expression value, String name) {
        return new Alias(
                value, name, NamedExpression$.MODULE$.newExprId(), seq(List.of()), Option.empty(), seq(List.of()));
    }

    /** A row type of the types of {@code columns}. */
    public static StructType type(List<? extends Expression> columns) {
        StructType type = new StructType();
        for (Expression column : columns) {
            type = type.add("c" + type.length(), column.dataType(), true);
        }
        return type;
    }

    /** The first input of {@code plan}. */
    public static SparkPlan child(SparkPlan plan) {
        return CollectionConverters.asJava(plan.children()).get(0);
    }

    /** The column {@code name} of {@code plan}, which has it. */
    public static Attribute named(LogicalPlan plan, String name) {
        return CollectionConverters.asJava(plan.output()).stream()
                .filter(a -> a.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** {@code expression} with each part for which {@code change} does not give null replaced by what it gives. */
    public static Expression replaced(Expression expression, Function<Expression, Expression> change) {
        Expression found = change.apply(expression);
        if (found != null) {
            return found;
        }
        List<Expression> children = new ArrayList<>();
        for (Expression child : CollectionConverters.asJava(expression.children())) {
            children.add(replaced(child, change));
        }
        return children.isEmpty() ? expression : (Expression) expression.withNewChildren(PythonUtils.toSeq(children));
    }

    /** {@code expression} over rows that have {@code columns}, for evaluation. */
    public static Expression bound(Expression expression, List<Attribute> columns) {
        return replaced(expression, e -> {
            if (!(e instanceof Attribute attribute)) {
                return null;
            }
            for (int i = 0; i < columns.size(); i++) {
                if (columns.get(i).exprId().equals(attribute.exprId())) {
                    return new BoundReference(i, attribute.dataType(), attribute.nullable());
                }
            }
            throw new IllegalArgumentException("no column " + attribute);
        });
    }

    /** {@code plan} with {@code old}, which is it or below its first inputs, replaced; nodes between have one input. */
    public static SparkPlan replaced(SparkPlan plan, SparkPlan old, SparkPlan fresh) {
        return plan == old
                ? fresh
                : (SparkPlan) plan.withNewChildren(PythonUtils.toSeq(List.of(replaced(child(plan), old, fresh))));
    }

    /** {@code plan} with {@code change} applied to each node, inputs first. */
    public static SparkPlan transformed(SparkPlan plan, UnaryOperator<SparkPlan> change) {
        return plan.transformUp(new AbstractPartialFunction<SparkPlan, SparkPlan>() {
            @Override
            public boolean isDefinedAt(SparkPlan node) {
                return true;
            }

            @Override
            @SuppressWarnings("unchecked")
            public <A extends SparkPlan, B> B applyOrElse(A node, Function1<A, B> other) {
                return (B) change.apply(node);
            }
        });
    }

    /**
     * A call of a method of {@code target}, on the executor's copy of it, that is NULL where an argument is.
     *
     * @param pure whether equal arguments give equal results; if not, the result is never NULL by itself
     */
    public static Expression call(
            Object target,
            String method,
            DataType result,
            List<Expression> arguments,
            List<AbstractDataType> types,
            boolean pure) {
        return new Invoke(
                Literal.fromObject(target, new ObjectType(target.getClass())),
                method,
                result,
                PythonUtils.toSeq(arguments),
                PythonUtils.toSeq(types),
                true,
                pure,
                pure);
    }

    /** A call of a method of {@code target}, on the executor's copy of it, that also takes and gives NULL. */
    public static Expression nullableCall(
            Object target, String method, DataType result, List<? extends Expression> arguments, boolean pure) {
        return new Invoke(
                Literal.fromObject(target, new ObjectType(target.getClass())),
                method,
                result,
                seq(arguments),
                seq(List.of()),
                false,
                true,
                pure);
    }

    /** The same as a column, of columns. */
    public static Column column(
            Object target,
            String method,
            DataType result,
            List<Column> arguments,
            List<AbstractDataType> types,
            boolean pure) {
        return ExpressionUtils.column(call(
                target,
                method,
                result,
                arguments.stream().map(ExpressionUtils::expression).toList(),
                types,
                pure));
    }
}
