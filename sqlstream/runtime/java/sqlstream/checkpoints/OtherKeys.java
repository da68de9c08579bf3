package sqlstream.checkpoints;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.XxHash64;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import sqlstream.catalyst.Scala;
import sqlstream.checkpoints.Store.Family;

/** The keys of an aggregate of Spark's as those of ours, which have their hash before them, and back. */
final class OtherKeys {
    // That of Spark's function xxhash64.
    private static final long SEED = 42;

    private OtherKeys() {}

    /** Whether the keys of the one are those of the other, but for the hash. */
    static boolean areSame(Family from, Family to) {
        StructType short_ = from.keys().length() < to.keys().length() ? from.keys() : to.keys();
        StructType long_ = short_ == from.keys() ? to.keys() : from.keys();
        return !from.many()
                && !to.many()
                && long_.length() == short_.length() + 1
                && Family.types(rest(long_)).equals(Family.types(short_));
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
        if (from.keys().length() > to.keys().length()) {
            columns.remove(0);
        } else {
            columns.add(0, new XxHash64(Scala.seq(List.copyOf(columns)), SEED));
        }
        UnsafeProjection projection = UnsafeProjection.create(Scala.seq(columns));
        return key -> projection.apply(key).copy();
    }
}
