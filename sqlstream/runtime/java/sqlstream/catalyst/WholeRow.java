package sqlstream.catalyst;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.encoders.AgnosticEncoders;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The row that it is evaluated on, as an object: what reads Spark's rows for an operator that takes them as they are.
 */
public final class WholeRow extends Expression implements CodegenFallback, Serializable {
    private final Seq<Expression> columns;

    /** To an operator of which Spark prunes no columns. */
    public WholeRow() {
        this(PythonUtils.toSeq(List.of()));
    }

    /** {@code columns}: those of the row, all that it has and in their order. */
    @SuppressWarnings("unchecked") // Scala's are covariant.
    public WholeRow(Seq<? extends Expression> columns) {
        this.columns = (Seq<Expression>) columns;
    }

    @Override
    public boolean nullable() {
        return false;
    }

    @Override
    public Object eval(InternalRow row) {
        return row;
    }

    @Override
    public DataType dataType() {
        return new ObjectType(InternalRow.class);
    }

    @Override
    public ExprCode doGenCode(CodegenContext context, ExprCode code) {
        return CodegenFallback.super.doGenCode(context, code);
    }

    @Override
    public Seq<Expression> children() {
        return columns;
    }

    @Override
    public Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
        List<Expression> bound = CollectionConverters.asJava(children);
        for (int i = 0; i < bound.size(); i++) {
            if (bound.get(i) instanceof BoundReference reference && reference.ordinal() != i) {
                throw new IllegalStateException("a row's columns are in another order");
            }
        }
        return new WholeRow(children);
    }

    @Override
    public int productArity() {
        return 0;
    }

    @Override
    public Object productElement(int index) {
        throw new IndexOutOfBoundsException(index);
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof WholeRow;
    }

    /** The frame of {@code plan}, whose only column {@code rows} has rows of type {@code output}. */
    public static Dataset<Row> unpacked(SparkSession session, LogicalPlan plan, Expression rows, StructType output) {
        List<NamedExpression> columns = new ArrayList<>();
        for (int i = 0; i < output.length(); i++) {
            columns.add(Scala.alias(
                    new GetStructField(rows, i, Option.empty()), output.apply(i).name()));
        }
        return Dataset$.MODULE$.ofRows(session, new Project(PythonUtils.toSeq(columns), plan));
    }

    /** How rows are kept in state: as they are. What is read from a state is good until the next is read from it. */
    public static ExpressionEncoder<InternalRow> encoder(StructType type) {
        Expression row = new BoundReference(0, Stored.type(type), false);
        List<Expression> in = new ArrayList<>();
        for (int i = 0; i < type.length(); i++) {
            in.add(Literal$.MODULE$.apply("c" + i));
            in.add(new GetStructField(row, i, Option.empty()));
        }
        // Spark has no encoder of an InternalRow: this is one by what it does.
        @SuppressWarnings({"rawtypes", "unchecked"})
        ExpressionEncoder<InternalRow> encoder = new ExpressionEncoder(
                AgnosticEncoders.UnboundRowEncoder$.MODULE$,
                new CreateNamedStruct(PythonUtils.toSeq(in)),
                new WholeRow());
        return encoder;
    }
}
