package sqlstream.catalyst;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.Descending$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NullsFirst$;
import org.apache.spark.sql.catalyst.expressions.NullsLast$;
import org.apache.spark.sql.catalyst.expressions.SortOrder;

/** A column to order by, and where its NULLs go. */
public record SortKey(String name, boolean descending, boolean nullsFirst) implements Serializable {
    /** The order of {@code value}, which stands for the column. */
    public SortOrder of(Expression value) {
        return new SortOrder(
                value,
                descending ? Descending$.MODULE$ : Ascending$.MODULE$,
                nullsFirst ? NullsFirst$.MODULE$ : NullsLast$.MODULE$,
                Scala.seq(List.of()));
    }

    @Override
    public String toString() {
        return name + (descending ? " DESC" : " ASC") + " NULLS " + (nullsFirst ? "FIRST" : "LAST");
    }
}
