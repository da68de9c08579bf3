package sqlstream.checkpoints;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import sqlstream.catalyst.Scala;
import sqlstream.checkpoints.Store.Family;
import sqlstream.operators.KeyedProcess;

/** The keys of an aggregate of Spark's as those of ours, which have their hash before them, and back. */
final class OtherKeys {
    private OtherKeys() {}

    /** Whether the keys of the one are those of the other, but for the hash. */
    static boolean areSame(Family from, Family to) {
        StructType hashed = isLonger(from, to) ? from.keys() : to.keys();
        StructType plain = isLonger(from, to) ? to.keys() : from.keys();
        return !from.many()
                && !to.many()
                && hashed.length() == plain.length() + 1
                && Family.types(rest(hashed)).equals(Family.types(plain));
    }

    private static boolean isLonger(Family from, Family to) {
        return from.keys().length() > to.keys().length();
    }

    private static StructType rest(StructType keys) {
        StructType rest = new StructType();
        for (int i = 1; i < keys.length(); i++) {
            rest = rest.add(keys.apply(i));
        }
        return rest;
    }

    /** What makes keys of {@code to} of those of {@code from}. */
    static UnaryOperator<UnsafeRow> projection(Family from, Family to) {
        List<Expression> columns = new ArrayList<>();
        for (StructField field : from.keys().fields()) {
            columns.add(new BoundReference(columns.size(), field.dataType(), field.nullable()));
        }
        if (isLonger(from, to)) {
            columns.remove(0);
        } else {
            columns.add(0, KeyedProcess.hash(List.copyOf(columns)));
        }
        UnsafeProjection projection = UnsafeProjection.create(Scala.seq(columns));
        return key -> projection.apply(key).copy();
    }
}
