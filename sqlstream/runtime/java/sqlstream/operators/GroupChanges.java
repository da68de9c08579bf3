package sqlstream.operators;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataTypes;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import sqlstream.catalyst.Scala;

/** What is emitted of a group whose result changes: on one task. */
final class GroupChanges {
    /** Which rows say that a result has changed. */
    enum Emits {
        /** The result as it is, which replaces that of its key. */
        ROWS,
        /** The result as it is, with its kind. */
        KINDS,
        /** The same, and before it what the result was. */
        BEFORE_TOO
    }

    private final Emits emits;
    private final boolean counted;
    private final UnsafeProjection shown;
    private final GenericInternalRow code = new GenericInternalRow(1);
    private final JoinedRow out = new JoinedRow();

    GroupChanges(GroupCalls calls, Emits emits) {
        this.emits = emits;
        counted = calls.kind >= 0;
        List<Attribute> all = new ArrayList<>();
        calls.results.forEach(r -> all.add(Scala.attribute("r", r.dataType())));
        List<Expression> wanted = new ArrayList<>(counted ? all.subList(0, all.size() - 1) : all);
        if (emits != Emits.ROWS) {
            all.add(Scala.attribute("kind", DataTypes.ByteType));
            wanted.add(all.get(all.size() - 1));
        }
        shown = UnsafeProjection.create(Scala.seq(wanted), Scala.seq(all));
    }

    /** The rows for a result that was {@code before} and is {@code after}; null where there is no group. */
    Iterator<InternalRow> of(UnsafeRow before, UnsafeRow after) {
        List<InternalRow> output = new ArrayList<>();
        if (before == null) {
            if (after != null) {
                output.add(emitted(after, RowKinds.INSERT));
            }
        } else if (after == null) {
            output.add(emitted(before, RowKinds.DELETE));
        } else if (!same(before, after)) {
            if (emits == Emits.BEFORE_TOO) {
                output.add(emitted(before, RowKinds.UPDATE_BEFORE).copy());
            }
            output.add(emitted(after, RowKinds.UPDATE_AFTER));
        }
        return CollectionConverters.asScala(output.iterator());
    }

    /** Whether two results are the same but for the number of rows. */
    private boolean same(UnsafeRow one, UnsafeRow other) {
        return counted
                ? emitted(one, RowKinds.INSERT).copy().equals(emitted(other, RowKinds.INSERT))
                : one.equals(other);
    }

    /** A result as it is emitted, with its kind. */
    private UnsafeRow emitted(UnsafeRow row, byte as) {
        code.update(0, as);
        return shown.apply(emits == Emits.ROWS ? row : out.apply(row, code));
    }
}
