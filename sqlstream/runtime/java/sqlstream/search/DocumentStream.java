package sqlstream.search;

import java.io.IOException;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import sqlstream.realtime.RowSink;
import sqlstream.realtime.RowTarget;

/** Writes the rows of one task as documents, as they come. */
public final class DocumentStream implements RowTarget {
    private final Documents documents;

    /**
     * The option {@code id} of {@link RowSink} by which the next query writes so.
     *
     * @param type that of the query's rows; the rest as {@link DocumentWriter#write} has it
     */
    public static String begin(StructType type, String cluster, String options) {
        Documents documents = new Documents(type, cluster, options);
        return RowSink.begin(() -> new DocumentStream(documents));
    }

    private DocumentStream(Documents documents) {
        this.documents = documents;
    }

    @Override
    public Object key(InternalRow row) {
        return documents.keyed() ? documents.id(row) : RowTarget.super.key(row);
    }

    @Override
    public void write(List<InternalRow> rows) throws IOException {
        documents.write(rows.iterator());
    }
}
