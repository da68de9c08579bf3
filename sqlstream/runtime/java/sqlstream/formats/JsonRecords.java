package sqlstream.formats;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;

/**
 * Reads records of JSON by Flink's rules. A record is read once, from its bytes; Spark's from_json differs in numbers,
 * times, texts of numbers, and in what it takes for broken.
 */
public class JsonRecords extends RecordReader {
    private final String description;
    private final boolean iso;
    private final boolean complete;
    private final boolean tree;
    /** Whether what can't be read becomes NULL, or no row, instead of failing the job. */
    final boolean ignore;

    private transient JsonValues.Reader rows;
    private transient ObjectMapper trees;

    /**
     * @param description of what a record holds, in JSON: see reader
     * @param iso whether times are written by ISO 8601, else as SQL does
     * @param complete whether a field that is missing is an error
     * @param tree whether a record is read as a whole first, in which its numbers become those of Java
     */
    public JsonRecords(String description, boolean iso, boolean ignore, boolean complete, boolean tree) {
        this.description = description;
        this.iso = iso;
        this.ignore = ignore;
        this.complete = complete;
        this.tree = tree;
    }

    @Override
    public ArrayData read(byte[] record) {
        if (rows == null) {
            JsonNode described = described(description);
            rows = reader(values(described), described);
            // As in Flink, one column with decimals makes exact numbers of all.
            boolean exact = described.findValuesAsText("root").contains("DECIMAL");
            trees = new ObjectMapper(JsonValues.FACTORY)
                    .configure(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS, exact);
        }
        List<Object> found = new ArrayList<>(2);
        try (JsonParser parser = tree ? trees.readTree(record).traverse(trees) : trees.createParser(record)) {
            parser.nextToken();
            if (record.length > 0) {
                add(rows, parser, found);
            }
        } catch (IOException | JsonValues.Unreadable problem) {
            // As in Flink, rows before what can't be read stay.
            return ignore ? new GenericArrayData(found.toArray()) : null;
        }
        return new GenericArrayData(found.toArray());
    }

    JsonValues values(JsonNode description) {
        return new JsonValues(iso, ignore, complete, tree);
    }

    /** The reader of what a record holds, here a row: see JsonValues.reader. */
    JsonValues.Reader reader(JsonValues values, JsonNode description) {
        return values.reader(description);
    }

    /**
     * Add the rows of the record, at whose first token {@code parser} is: one for an object, any number for an array of
     * them.
     */
    void add(JsonValues.Reader rows, JsonParser parser, List<Object> found) throws IOException {
        if (tree && parser.currentToken() == JsonToken.VALUE_NULL) {
            return;
        }
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            element(rows, parser, found);
            return;
        }
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (tree
                    && (ignore || parser.currentToken() == JsonToken.VALUE_NULL)
                    && parser.currentToken() != JsonToken.START_OBJECT) {
                parser.skipChildren();
            } else {
                element(rows, parser, found);
            }
        }
    }

    private static void element(JsonValues.Reader rows, JsonParser parser, List<Object> found) throws IOException {
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            throw JsonValues.Unreadable.VALUE;
        }
        found.add(rows.read(parser));
    }

    private static JsonNode described(String type) {
        try {
            return new ObjectMapper().readTree(type);
        } catch (IOException impossible) {
            throw new IllegalArgumentException(type, impossible);
        }
    }
}
