package sqlstream.search;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import sqlstream.gateway.Described;

/**
 * Documents of rows, and what is to be done with each, as a cluster's interface for many at once has it.
 *
 * <p>A row has the columns of its key, the value that its index is named by where there is one, the document as JSON
 * and, where there is a key, whether it is to be removed.
 */
final class Documents implements Serializable {
    /**
     * What is asked for.
     *
     * @param keys how many columns the key has; without one, documents are added and get ids from the cluster
     * @param delimiter what stands between the columns of a key in an id
     * @param valued whether rows have a value that their index is named by
     * @param together how many documents are sent at once at most, 0 for as many as there are, and {@code bytes} how
     *     large they are together
     */
    record Options(int keys, String delimiter, boolean valued, IndexName.Options index, int together, long bytes)
            implements Serializable {}

    private static final byte[] ADD = ascii("{\"create\":{\"_index\":\"");
    private static final byte[] REMOVE = ascii("{\"delete\":{\"_index\":\"");
    private static final byte[] UPDATE = ascii("{\"update\":{\"_index\":\"");
    private static final byte[] WITH_ID = ascii("\",\"_id\":\"");
    private static final byte[] END = ascii("\"}}\n");
    // A task that was given up may still write.
    private static final byte[] AGAIN = ascii("\",\"retry_on_conflict\":5}}\n{\"doc\":");
    private static final byte[] UPSERT = ascii(",\"doc_as_upsert\":true}\n");
    private static final byte[] LINE = ascii("\n");

    private final StructType type;
    private final Options said;
    private final IndexName index;
    private final String cluster;
    private final int document;

    /**
     * @param type of the rows
     * @param cluster settings of a {@link Cluster}
     * @param options in JSON
     */
    Documents(StructType type, String cluster, String options) {
        this.type = type;
        this.cluster = cluster;
        said = Described.as(Options.class, options);
        index = said.valued
                ? new IndexName(said.index, said.keys, type.apply(said.keys).dataType())
                : new IndexName(said.index, -1, null);
        document = said.keys + (said.valued ? 1 : 0);
    }

    boolean keyed() {
        return said.keys > 0;
    }

    /** Write {@code rows}, of which there is one a key. */
    void write(Iterator<InternalRow> rows) throws IOException {
        Cluster target = Cluster.of(cluster);
        List<byte[]> actions = new ArrayList<>();
        long size = 0;
        while (rows.hasNext()) {
            byte[] action = action(rows.next());
            boolean full = actions.size() == said.together && said.together > 0;
            if (!actions.isEmpty() && (full || size + action.length > said.bytes)) {
                target.send(actions);
                actions = new ArrayList<>();
                size = 0;
            }
            actions.add(action);
            size += action.length;
        }
        if (!actions.isEmpty()) {
            target.send(actions);
        }
    }

    String id(InternalRow row) {
        StringBuilder id = new StringBuilder();
        for (int i = 0; i < said.keys; i++) {
            id.append(i == 0 ? "" : said.delimiter)
                    .append(
                            row.isNullAt(i)
                                    ? "null"
                                    : Values.text(row, i, type.apply(i).dataType()));
        }
        return id.toString();
    }

    private byte[] action(InternalRow row) {
        byte[] name = quoted(index.of(row));
        if (!keyed()) {
            return joined(ADD, name, END, json(row), LINE);
        }
        byte[] id = quoted(id(row));
        return row.getBoolean(document + 1)
                ? joined(REMOVE, name, WITH_ID, id, END)
                : joined(UPDATE, name, WITH_ID, id, AGAIN, json(row), UPSERT);
    }

    private byte[] json(InternalRow row) {
        return row.getUTF8String(document).getBytes();
    }

    private static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            text.writeBytes(part);
        }
        return text.toByteArray();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] quoted(String text) {
        return JsonStringEncoder.getInstance().quoteAsUTF8(text);
    }
}
