package sqlstream.letters;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.Serializable;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import sqlstream.catalyst.Scala;

/** Keeps what a query leaves out for one reason, each row as a dead letter. */
public final class LeftOutRows implements Serializable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String QUERY = "sql.streaming.queryId";
    private static final String GROUP = "spark.jobGroup.id";

    private final Letters letters;
    private final String kind;
    private final String source;
    private final String condition;

    /**
     * @param kind the reason, as a word
     * @param source the table or the function that the rows are of
     * @param condition which rows are left out, in words
     */
    public LeftOutRows(Letters letters, String kind, String source, String condition) {
        this.letters = letters;
        this.kind = kind;
        this.source = source;
        this.condition = condition;
    }

    /** A condition that is FALSE, and keeps a row, as JSON, and its error. */
    public Column leftOut(Column row, Column error) {
        return called("row", List.of(row, error));
    }

    /** A condition that is FALSE, and keeps a record, where it stands, and its error. */
    public Column unread(Column record, Column place, Column error) {
        return called("record", List.of(record, place, error));
    }

    private Column called(String method, List<Column> arguments) {
        List<AbstractDataType> types = Collections.nCopies(arguments.size(), DataTypes.StringType);
        return Scala.column(this, method, DataTypes.BooleanType, arguments, types, false);
    }

    /** What the rows that stay fulfil, in words. */
    public String condition() {
        return "NOT (" + condition + ")";
    }

    /** Keeps a row. */
    public boolean row(UTF8String row, UTF8String error) throws IOException {
        ObjectNode letter = letter(error);
        letter.set("row", JSON.readTree(row.toString()));
        letters.keep(letter);
        return false;
    }

    /** Keeps a record. */
    public boolean record(UTF8String record, UTF8String place, UTF8String error) throws IOException {
        ObjectNode letter = letter(error);
        letter.put("place", place.toString());
        letter.put("record", record.toString());
        letters.keep(letter);
        return false;
    }

    private ObjectNode letter(UTF8String error) {
        TaskContext task = TaskContext.get();
        String query = task.getLocalProperty(QUERY);
        ObjectNode letter = JSON.createObjectNode();
        letter.put("time", Instant.now().truncatedTo(ChronoUnit.MILLIS).toString());
        letter.put("query", query == null ? task.getLocalProperty(GROUP) : query);
        letter.put("kind", kind);
        letter.put("source", source);
        letter.put("error", error.toString());
        return letter;
    }
}
