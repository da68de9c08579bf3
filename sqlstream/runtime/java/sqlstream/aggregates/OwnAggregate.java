package sqlstream.aggregates;

import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.aggregate.ImperativeAggregate;
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import sqlstream.catalyst.Scala;

/**
 * An aggregate function of our own, whose buffer is a {@code B}: what Spark wants to know of it as a node of a plan.
 */
abstract class OwnAggregate<B> extends TypedImperativeAggregate<B> implements Serializable {
    private final Object[] arguments;
    private final int mutableOffset;
    private final int inputOffset;

    /** {@code arguments}: what makes it this one; the expressions among them are its children. */
    OwnAggregate(int mutableOffset, int inputOffset, Object... arguments) {
        this.arguments = arguments;
        this.mutableOffset = mutableOffset;
        this.inputOffset = inputOffset;
    }

    /** The same with other children and offsets. */
    abstract OwnAggregate<B> with(List<Expression> children, int mutableOffset, int inputOffset);

    private List<Expression> expressions() {
        return Stream.of(arguments)
                .filter(Expression.class::isInstance)
                .map(Expression.class::cast)
                .toList();
    }

    @Override
    public final boolean nullable() {
        return false;
    }

    @Override
    public final Seq<Expression> children() {
        return Scala.seq(expressions());
    }

    @Override
    public final Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
        return with(CollectionConverters.asJava(children), mutableOffset, inputOffset);
    }

    @Override
    public final int mutableAggBufferOffset() {
        return mutableOffset;
    }

    @Override
    public final int inputAggBufferOffset() {
        return inputOffset;
    }

    @Override
    public final ImperativeAggregate withNewMutableAggBufferOffset(int offset) {
        return with(expressions(), offset, inputOffset);
    }

    @Override
    public final ImperativeAggregate withNewInputAggBufferOffset(int offset) {
        return with(expressions(), mutableOffset, offset);
    }

    @Override
    public final int productArity() {
        return arguments.length + 2;
    }

    @Override
    public final Object productElement(int n) {
        return n < arguments.length ? arguments[n] : n == arguments.length ? mutableOffset : inputOffset;
    }

    @Override
    public final boolean canEqual(Object that) {
        return that != null && that.getClass() == getClass();
    }

    @Override
    public final boolean equals(Object that) {
        return that instanceof OwnAggregate<?> other
                && other.getClass() == getClass()
                && Arrays.equals(arguments, other.arguments)
                && mutableOffset == other.mutableOffset
                && inputOffset == other.inputOffset;
    }

    @Override
    public final int hashCode() {
        return Arrays.hashCode(arguments);
    }
}
