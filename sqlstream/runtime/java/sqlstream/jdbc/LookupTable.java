package sqlstream.jdbc;

import java.io.Serializable;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.spark.TaskContext;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.executor.InputMetrics;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.Predicate;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers$;
import org.apache.spark.sql.catalyst.planning.PhysicalOperation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.DataSourceStrategy$;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.jdbc.JDBCRelation;
import org.apache.spark.sql.execution.datasources.jdbc.JdbcUtils$;
import org.apache.spark.sql.jdbc.JdbcDialect;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import scala.Option;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import sqlstream.catalyst.Scala;

/** A table of a database as projections and conditions of it, of which the rows of single keys are asked for. */
final class LookupTable implements Serializable {
    // Parameters that one statement has.
    private static final int MOST_PARAMETERS = 1024;

    private final Database database;
    private final String name;
    private final String select;
    private final List<String> keyColumns;
    private final List<DataType> keyTypes = new ArrayList<>();
    private final StructType type;
    private final List<Attribute> columns;
    private final List<Expression> output;
    private final Expression condition;
    private final List<Expression> keysOfOutput;
    private final List<Attribute> outputColumns;

    /**
     * The table that {@code plan} reads; null where it reads none of a database.
     *
     * @param keys the columns of {@code plan} that are asked for
     */
    static LookupTable of(LogicalPlan plan, List<String> keys, int retries) {
        var found = PhysicalOperation.unapply(plan);
        if (found.isEmpty()
                || !(found.get()._3() instanceof LogicalRelation leaf)
                || !(leaf.relation() instanceof JDBCRelation relation)) {
            return null;
        }
        return new LookupTable(
                plan,
                CollectionConverters.asJava(found.get()._1()),
                CollectionConverters.asJava(found.get()._2()),
                leaf,
                relation,
                keys,
                retries);
    }

    private LookupTable(
            LogicalPlan plan,
            List<NamedExpression> fields,
            List<Expression> conditions,
            LogicalRelation leaf,
            JDBCRelation relation,
            List<String> keys,
            int retries) {
        database = new Database(relation.jdbcOptions(), retries);
        name = relation.jdbcOptions().tableOrQuery();
        JdbcDialect dialect = database.dialect();
        output = new ArrayList<>(fields.stream().map(Expression.class::cast).toList());
        columns = CollectionConverters.asJava(leaf.output()).stream()
                .map(Attribute.class::cast)
                .filter(a -> output.stream().anyMatch(e -> e.references().contains(a))
                        || conditions.stream().anyMatch(e -> e.references().contains(a)))
                .toList();
        StructType read = new StructType();
        for (Attribute column : columns) {
            read = read.add(relation.schema().apply(column.name()));
        }
        type = read;
        outputColumns = new ArrayList<>(CollectionConverters.asJava(plan.output()));
        condition = conditions.stream()
                .reduce(org.apache.spark.sql.catalyst.expressions.And::new)
                .orElse(null);
        keysOfOutput = new ArrayList<>();
        keyColumns = new ArrayList<>();
        for (String key : keys) {
            Attribute column = Scala.named(plan, key);
            keysOfOutput.add(comparable(column));
            AttributeReference there = column(output.get(outputColumns.indexOf(column)));
            // A TIMESTAMP is carried as one with a zone, and compared as the database has it.
            keyTypes.add(there.dataType() instanceof TimestampNTZType ? there.dataType() : column.dataType());
            keyColumns.add(dialect.quoteIdentifier(there.name()));
        }
        List<String> wheres = new ArrayList<>();
        for (Expression each : relation.jdbcOptions().pushDownPredicate() ? conditions : List.<Expression>of()) {
            var filter = DataSourceStrategy$.MODULE$.translateFilter(each, true);
            Option<String> sql = filter.isEmpty()
                    ? Option.empty()
                    : dialect.compileExpression(filter.get().toV2());
            if (sql.isDefined()) {
                wheres.add("(" + sql.get() + ") AND ");
            }
        }
        String names =
                columns.stream().map(c -> dialect.quoteIdentifier(c.name())).collect(Collectors.joining(", "));
        select = "SELECT " + names + " FROM " + name + " WHERE " + String.join("", wheres);
    }

    /** A key's column as its bytes are compared: 0.0 for -0.0. */
    static Expression comparable(Attribute key) {
        return NormalizeFloatingNumbers$.MODULE$.normalize(key);
    }

    /** The column of the database that an expression is, but for its type. */
    private static AttributeReference column(Expression expression) {
        if (expression instanceof AttributeReference column) {
            return column;
        } else if (expression instanceof Alias alias) {
            return column(alias.child());
        } else if (expression instanceof Cast cast) {
            return column(cast.child());
        }
        throw new IllegalArgumentException(
                "A column of another type in the database can't be looked up by: " + expression.sql());
    }

    /** The table for one task, which connects when it first asks. */
    Session session() {
        return new Session();
    }

    /** What one task asks. */
    final class Session {
        private final JdbcDialect dialect = database.dialect();
        private final BasePredicate wanted =
                condition == null ? null : Predicate.create(condition, PythonUtils.toSeq(columns));
        private final UnsafeProjection projection =
                UnsafeProjection.create(PythonUtils.toSeq(output), PythonUtils.toSeq(columns));
        private final UnsafeProjection keyOf =
                UnsafeProjection.create(PythonUtils.toSeq(keysOfOutput), PythonUtils.toSeq(outputColumns));
        private Connection connection;

        private Session() {
            TaskContext context = TaskContext.get();
            if (context != null) {
                context.addTaskCompletionListener((TaskContext ended) -> close());
            }
        }

        /** The rows of each of {@code keys}. */
        Map<UnsafeRow, List<UnsafeRow>> find(List<UnsafeRow> keys) {
            Map<UnsafeRow, List<UnsafeRow>> found = new HashMap<>();
            keys.forEach(key -> found.put(key, new ArrayList<>()));
            int most = Math.max(1, MOST_PARAMETERS / keyColumns.size());
            for (int from = 0; from < keys.size(); from += most) {
                List<UnsafeRow> part = keys.subList(from, Math.min(from + most, keys.size()));
                for (UnsafeRow row : rows(part)) {
                    // Not every row that a database takes for equal is: case may not count there.
                    List<UnsafeRow> rows = found.get(keyOf.apply(row));
                    if (rows != null) {
                        rows.add(row);
                    }
                }
            }
            return found;
        }

        private List<UnsafeRow> rows(List<UnsafeRow> keys) {
            for (int number = 1; ; number++) {
                try {
                    return asked(keys);
                } catch (SQLException e) {
                    close();
                    try {
                        database.again(number, e);
                    } catch (SQLException last) {
                        throw new IllegalStateException("The look-up in '" + name + "' failed: " + last.getMessage());
                    }
                }
            }
        }

        private List<UnsafeRow> asked(List<UnsafeRow> keys) throws SQLException {
            if (connection == null) {
                connection = database.connect();
            }
            // Few lengths, so that a database knows the statement again.
            int count = Integer.highestOneBit(2 * keys.size() - 1);
            List<UnsafeRow> rows = new ArrayList<>();
            try (PreparedStatement statement = connection.prepareStatement(select + wheres(count))) {
                int number = 1;
                for (int i = 0; i < count; i++) {
                    UnsafeRow key = keys.get(Math.min(i, keys.size() - 1));
                    for (int part = 0; part < keyTypes.size(); part++) {
                        Parameters.set(statement, number++, key, part, keyTypes.get(part));
                    }
                }
                try (ResultSet result = statement.executeQuery()) {
                    Iterator<InternalRow> each = JdbcUtils$.MODULE$.resultSetToSparkInternalRows(
                            result, dialect, type, new InputMetrics(), Option.empty());
                    while (each.hasNext()) {
                        InternalRow row = each.next();
                        if (wanted == null || wanted.eval(row)) {
                            rows.add(projection.apply(row).copy());
                        }
                    }
                }
            }
            return rows;
        }

        private String wheres(int count) {
            if (keyColumns.size() == 1) {
                return keyColumns.get(0) + " IN (" + String.join(", ", Collections.nCopies(count, "?")) + ")";
            }
            String one =
                    keyColumns.stream().map(column -> column + " = ?").collect(Collectors.joining(" AND ", "(", ")"));
            return "(" + String.join(" OR ", Collections.nCopies(count, one)) + ")";
        }

        private void close() {
            try {
                if (connection != null) {
                    connection.close();
                }
            } catch (SQLException e) {
                // It is not used again.
            }
            connection = null;
        }
    }
}
