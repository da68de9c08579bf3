package sqlstream.search;

import java.io.IOException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/** Writes rows as documents. */
public final class DocumentWriter {
    private DocumentWriter() {}

    /** Write {@code frame}, rows as {@link Documents} have them; the rest is as there. */
    public static void write(Dataset<Row> frame, String cluster, String options) throws IOException {
        Documents documents = new Documents(frame.schema(), cluster, options);
        var rows = (org.apache.spark.sql.classic.Dataset<Row>) frame;
        rows.queryExecution().toRdd().toJavaRDD().foreachPartition(documents::write);
    }
}
