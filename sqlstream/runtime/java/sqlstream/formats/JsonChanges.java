package sqlstream.formats;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;

/**
 * Reads records of JSON that say what has changed in a table: an object with the row before a change, the row after it,
 * and the change's name. Each gives rows of a changelog: their columns, the record's other fields, and their kind.
 */
public class JsonChanges extends JsonRecords {
    private static final int BEFORE = 0;
    private static final int AFTER = 1;
    private static final int NAME = 2;
    private static final int OTHERS = 3;

    /**
     * The kinds that the row before and the row after have in the changelog, by change; null for a row that is not in
     * it.
     */
    private transient Map<String, Byte[]> kinds;

    private transient boolean wrapped;

    /**
     * @param description {@code {"record": type, "kinds": {"u": [1, 2], "d": [3, null], ..}, "wrapped": false}}. The
     *     type is that of a row: the row before, the row after (or arrays of them), the change's name, other fields. A
     *     row before that is partial has only what changes. With wrapped, this is the first field of a row that has
     *     further fields
     */
    public JsonChanges(String description, boolean iso, boolean ignore) {
        this(description, iso, ignore, true);
    }

    JsonChanges(String description, boolean iso, boolean ignore, boolean tree) {
        super(description, iso, ignore, false, tree);
    }

    @Override
    JsonValues.Reader reader(JsonValues values, JsonNode description) {
        wrapped = description.get("wrapped").asBoolean();
        kinds = kinds(description.get("kinds"));
        return values.reader(description.get("record"));
    }

    /** The kinds of the rows before and after, by the change's name, of {@code {"u": [1, 2], "d": [3, null], ..}}. */
    static Map<String, Byte[]> kinds(JsonNode described) {
        Map<String, Byte[]> kinds = new HashMap<>();
        described
                .properties()
                .forEach(change -> kinds.put(change.getKey(), new Byte[] {
                    kind(change.getValue().get(BEFORE)), kind(change.getValue().get(AFTER))
                }));
        return kinds;
    }

    private static Byte kind(JsonNode code) {
        return code.isNull() ? null : (byte) code.asInt();
    }

    @Override
    void add(JsonValues.Reader reader, JsonParser parser, List<Object> found) throws IOException {
        boolean only = parser.currentToken() == JsonToken.START_ARRAY;
        if ((only ? parser.nextToken() : parser.currentToken()) != JsonToken.START_OBJECT) {
            throw JsonValues.Unreadable.VALUE;
        }
        Object[] outer = cells(reader.read(parser));
        if (only && parser.nextToken() != JsonToken.END_ARRAY) {
            throw JsonValues.Unreadable.VALUE;
        }
        Object[] record = wrapped ? cells(outer[0]) : outer;
        Byte[] kind = record[NAME] == null ? null : kinds.get(record[NAME].toString());
        if (kind == null) {
            throw JsonValues.Unreadable.VALUE;
        }
        Object[] others = Arrays.copyOfRange(record, OTHERS, record.length);
        if (wrapped) {
            others = joined(others, Arrays.copyOfRange(outer, 1, outer.length));
        }
        Object[][] before = kind[BEFORE] == null ? null : rows(record[BEFORE]);
        Object[][] after = kind[AFTER] == null ? null : rows(record[AFTER]);
        if (before != null && after != null) {
            fill(before, after);
        }
        int count = after != null ? after.length : before != null ? before.length : 0;
        for (int i = 0; i < count; i++) {
            if (before != null) {
                if (i == before.length) {
                    throw JsonValues.Unreadable.VALUE;
                }
                found.add(new GenericInternalRow(joined(before[i], joined(others, kind[BEFORE]))));
            }
            if (after != null) {
                found.add(new GenericInternalRow(joined(after[i], joined(others, kind[AFTER]))));
            }
        }
    }

    /** What a record leaves out of the rows before is as it is after. */
    private static void fill(Object[][] before, Object[][] after) {
        for (int column = 0; after.length > 0 && column < after[0].length; column++) {
            int one = column;
            // What one of several rows has all have.
            boolean present = Arrays.stream(before).anyMatch(row -> row[one] != JsonValues.ABSENT);
            for (int i = 0; i < Math.min(before.length, after.length); i++) {
                if (before[i][column] == JsonValues.ABSENT) {
                    before[i][column] = present ? null : after[i][column];
                }
            }
        }
    }

    private static Object[][] rows(Object value) {
        if (!(value instanceof GenericArrayData several)) {
            return new Object[][] {cells(value)};
        }
        return Arrays.stream(several.array()).map(JsonChanges::cells).toArray(Object[][]::new);
    }

    private static Object[] cells(Object row) {
        if (row == null) {
            throw JsonValues.Unreadable.VALUE;
        }
        return ((GenericInternalRow) row).values();
    }

    private static Object[] joined(Object[] cells, Object... more) {
        Object[] all = Arrays.copyOf(cells, cells.length + more.length);
        System.arraycopy(more, 0, all, cells.length, more.length);
        return all;
    }
}
