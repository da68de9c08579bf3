package sqlstream;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.GetColumnByOrdinal;
import org.apache.spark.sql.catalyst.encoders.AgnosticEncoders;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.TransformWithState;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Operators that see the rows of one key at a time and keep state for it: Spark's transformWithState, on Spark's own rows, so that none
 * is turned into an object and back.
 */
final class Keyed {
    private Keyed() {}

    /**
     * What {@code processor} makes of the rows of {@code frame} that have the same values in {@code keys}.
     *
     * @param output the columns of the rows that it gives
     */
    static Dataset<Row> process(
            org.apache.spark.sql.classic.Dataset<Row> frame,
            List<String> keys,
            StructType output,
            StatefulProcessor<InternalRow, InternalRow, InternalRow> processor) {
        // Columns of a state are called by number: not every name of SQL is one that its schema can have.
        String[] names = IntStream.range(0, frame.columns().length).mapToObj(i -> "c" + i).toArray(String[]::new);
        LogicalPlan input = frame.toDF(names).queryExecution().analyzed();
        List<Attribute> all = CollectionConverters.asJava(input.output());
        List<Attribute> grouping = keys.stream().map(key -> all.get(frame.schema().fieldIndex(key))).toList();
        StructType keyType = new StructType();
        for (Attribute key : grouping) {
            keyType = keyType.add(key.name(), key.dataType(), key.nullable());
        }
        AttributeReference rows = new AttributeReference(
                "rows", output, false, Metadata.empty(), NamedExpression$.MODULE$.newExprId(), PythonUtils.toSeq(List.of()));
        // Named after what they are: to the planner an operator is one of any objects, and these are rows.
        ExpressionEncoder keyEncoder = encoder(keyType);
        StatefulProcessor any = processor;
        LogicalPlan process = new TransformWithState(
                new WholeRow(),
                new WholeRow(),
                PythonUtils.toSeq(grouping),
                input.output(),
                any,
                TimeMode.None(),
                OutputMode.Append(),
                keyEncoder,
                rows,
                input,
                false,
                PythonUtils.toSeq(grouping),
                input.output(),
                new WholeRow(),
                new LocalRelation(PythonUtils.toSeq(List.of()), PythonUtils.toSeq(List.of()), false, Option.empty()));
        List<NamedExpression> columns = new ArrayList<>();
        for (int i = 0; i < output.length(); i++) {
            columns.add(alias(new GetStructField(rows, i, Option.empty()), output.apply(i).name()));
        }
        return Dataset$.MODULE$.ofRows(frame.sparkSession(), new Project(PythonUtils.toSeq(columns), process));
    }

    /** How rows are kept in state: as they are. */
    static ExpressionEncoder<InternalRow> encoder(StructType type) {
        Expression row = new BoundReference(0, type, false);
        List<Expression> in = new ArrayList<>();
        List<Expression> out = new ArrayList<>();
        for (int i = 0; i < type.length(); i++) {
            StructField field = type.apply(i);
            Literal name = Literal$.MODULE$.apply("c" + i);
            in.add(name);
            in.add(new GetStructField(row, i, Option.empty()));
            out.add(name);
            out.add(new GetColumnByOrdinal(i, field.dataType()));
        }
        ExpressionEncoder encoder = new ExpressionEncoder(
                AgnosticEncoders.UnboundRowEncoder$.MODULE$, new CreateNamedStruct(PythonUtils.toSeq(in)), new CreateNamedStruct(PythonUtils.toSeq(out)));
        return encoder;
    }

    private static Alias alias(Expression value, String name) {
        return new Alias(value, name, NamedExpression$.MODULE$.newExprId(), PythonUtils.toSeq(List.of()), Option.empty(), PythonUtils.toSeq(List.of()));
    }
}
