package sqlstream.operators;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.XxHash64;
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers$;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.TransformWithState;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import sqlstream.catalyst.Scala;
import sqlstream.catalyst.Stored;
import sqlstream.catalyst.WholeRow;
import sqlstream.state.KeyedOperator;
import sqlstream.state.StateSchema;

/**
 * Operators that see the rows of one key at a time and keep state for it: Spark's transformWithState, on Spark's own
 * rows, so that none is turned into an object and back.
 */
public final class KeyedProcess {
    /** The column with the hash of the key, the first by which Spark sorts the rows of a micro-batch. */
    static final String HASH = "hash";

    // That of Spark's function xxhash64.
    private static final long SEED = 42;

    private KeyedProcess() {}

    /**
     * What {@code operator} makes of the rows of {@code frame} that have the same values in {@code keys}.
     *
     * @param output the columns of the rows that it emits
     */
    public static Dataset<Row> of(
            org.apache.spark.sql.classic.Dataset<Row> frame,
            List<String> keys,
            StructType output,
            KeyedOperator operator) {
        return of(frame, keys, output, operator, 0);
    }

    /**
     * The same, with a state of each key that is dropped {@code ttl} milliseconds after the last row of it; 0 for
     * never.
     */
    public static Dataset<Row> of(
            org.apache.spark.sql.classic.Dataset<Row> frame,
            List<String> keys,
            StructType output,
            KeyedOperator operator,
            long ttl) {
        KeyedOperator processor = ttl > 0 ? new StateTtl(operator, ttl) : operator;
        // Columns of a state are called by number: not every name of SQL is one that its schema can have.
        String[] names = IntStream.range(0, frame.columns().length)
                .mapToObj(i -> "c" + i)
                .toArray(String[]::new);
        String[] keyNames =
                keys.stream().map(key -> names[frame.schema().fieldIndex(key)]).toArray(String[]::new);
        List<Expression> keyColumns = Stream.of(keyNames)
                .map(name -> ExpressionUtils.expression(functions.col(name)))
                .toList();
        // Spark sorts a micro-batch's rows by key. The first column decides almost all comparisons if it is a number
        // that differs.
        var hashed = (org.apache.spark.sql.classic.Dataset<Row>)
                normalized(frame.toDF(names), keyNames).withColumn(HASH, ExpressionUtils.column(hash(keyColumns)));
        LogicalPlan input = hashed.queryExecution().analyzed();
        List<Attribute> grouping = new ArrayList<>();
        grouping.add(Scala.named(input, HASH));
        for (String key : keyNames) {
            grouping.add(Scala.named(input, key));
        }
        StructType keyType = new StructType();
        for (Attribute key : grouping) {
            keyType = keyType.add(key.name(), key.dataType(), key.nullable());
        }
        AttributeReference rows = new AttributeReference(
                "rows",
                output,
                false,
                StateSchema.of(processor, frame.schema(), keys, output, ttl > 0),
                NamedExpression$.MODULE$.newExprId(),
                PythonUtils.toSeq(List.of()));
        // Named after what they are: to the planner an operator is one of any objects, and these are rows.
        @SuppressWarnings("unchecked")
        var keyEncoder = (ExpressionEncoder<Object>) (ExpressionEncoder<?>) WholeRow.encoder(keyType);
        @SuppressWarnings("unchecked")
        var any = (StatefulProcessor<Object, Object, Object>) (StatefulProcessor<?, ?, ?>) processor;
        LogicalPlan process = new TransformWithState(
                new WholeRow(),
                new WholeRow(),
                PythonUtils.toSeq(grouping),
                input.output(),
                any,
                processor instanceof HasTimers ? TimeMode.EventTime() : TimeMode.None(),
                OutputMode.Append(),
                keyEncoder,
                rows,
                input,
                false,
                PythonUtils.toSeq(grouping),
                input.output(),
                new WholeRow(),
                new LocalRelation(PythonUtils.toSeq(List.of()), PythonUtils.toSeq(List.of()), false, Option.empty()));
        return WholeRow.unpacked(frame.sparkSession(), process, rows, output);
    }

    /** What stands before {@code keys} in the keys of a state. */
    public static Expression hash(List<? extends Expression> keys) {
        return new XxHash64(Scala.<Expression>seq(keys), SEED);
    }

    /**
     * {@code frame} with 0.0 for -0.0 and one NaN in keys, as Spark's own operators have them: a sort takes them for
     * equal, a state by their bytes. They have the types of a state.
     */
    private static Dataset<Row> normalized(org.apache.spark.sql.classic.Dataset<Row> frame, String[] keys) {
        LogicalPlan plan = frame.queryExecution().analyzed();
        Dataset<Row> result = frame;
        for (String key : keys) {
            Expression column = Scala.named(plan, key);
            Expression same = Stored.of(NormalizeFloatingNumbers$.MODULE$.normalize(column));
            result = same == column ? result : result.withColumn(key, ExpressionUtils.column(same));
        }
        return result;
    }
}
