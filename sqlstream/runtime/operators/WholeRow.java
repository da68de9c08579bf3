package sqlstream;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.ObjectType;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** The row that it is evaluated on, as an object: what reads Spark's rows for an operator that takes them as they are. */
public final class WholeRow extends Expression implements CodegenFallback, Serializable {
    private final Seq<Expression> columns;

    /** To an operator of which Spark prunes no columns. */
    public WholeRow() {
        this(PythonUtils.toSeq(List.of()));
    }

    /** {@code columns}: those of the row, all that it has and in their order. */
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
}
