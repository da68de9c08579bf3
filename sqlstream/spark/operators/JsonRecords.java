package sqlstream;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;

/**
 * Reads records of JSON by Flink's rules. A record is read once, from its bytes; Spark's from_json differs in numbers, times, texts of
 * numbers, and in what it takes for broken.
 */
public class JsonRecords extends RecordReader {
    private final String description;
    private final boolean iso;
    private final boolean complete;
    /** Whether what can't be read becomes NULL, or no row, instead of failing the job. */
    final boolean ignore;
    private transient JsonValues.Reader rows;

    /**
     * @param description of what a record holds, in JSON: see reader
     * @param iso whether times are written by ISO 8601, else as SQL does
     * @param complete whether a field that is missing is an error
     */
    public JsonRecords(String description, boolean iso, boolean ignore, boolean complete) {
        this.description = description;
        this.iso = iso;
        this.ignore = ignore;
        this.complete = complete;
    }

    @Override
    public ArrayData read(byte[] record) {
        if (rows == null) {
            rows = reader(new JsonValues(iso, ignore, complete), tree(description));
        }
        List<Object> found = new ArrayList<>(2);
        try (JsonParser parser = JsonValues.FACTORY.createParser(record)) {
            add(rows, parser, found);
        } catch (IOException | JsonValues.Unreadable problem) {
            return ignore ? new GenericArrayData(new Object[0]) : null;
        }
        return new GenericArrayData(found.toArray());
    }

    /** The reader of what a record holds, here a row: see JsonValues.reader. */
    JsonValues.Reader reader(JsonValues values, JsonNode description) {
        return values.reader(description);
    }

    /** Add the rows of the record that {@code parser} is before: one for an object, any number for an array of them. */
    void add(JsonValues.Reader rows, JsonParser parser, List<Object> found) throws IOException {
        if (parser.nextToken() == JsonToken.START_ARRAY) {
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                element(rows, parser, found);
            }
        } else if (parser.currentToken() == JsonToken.START_OBJECT) {
            element(rows, parser, found);
        } else {
            throw JsonValues.Unreadable.VALUE;
        }
    }

    private void element(JsonValues.Reader rows, JsonParser parser, List<Object> found) throws IOException {
        if (parser.currentToken() == JsonToken.START_OBJECT) {
            found.add(rows.read(parser));
        } else if (parser.currentToken() == null || (!ignore && parser.currentToken() != JsonToken.VALUE_NULL)) {
            throw JsonValues.Unreadable.VALUE;
        } else {
            parser.skipChildren();
        }
    }

    private static JsonNode tree(String type) {
        try {
            return new ObjectMapper().readTree(type);
        } catch (IOException impossible) {
            throw new IllegalArgumentException(type, impossible);
        }
    }
}
