package sqlstream.state;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * What a state keeps of a key, as a row of a table. It is recorded beside the checkpoint as JSON, so that a copy of the
 * state is read without the query that made it.
 *
 * <p>A reader gives values (v0, v1, ..) of each key (k0, k1, ..); a column is made of them by Spark's SQL.
 */
public final class StateTable {
    // So begin the names that no user gives.
    private static final String GENERATED = "__sqlstream";

    /** {@code type}, as JSON: that of the expression that {@code sql} was made of; null where it was a text. */
    private record Column(String sql, String type) {}

    private final Map<String, Object> reader = new LinkedHashMap<>();
    private final Map<String, Column> columns = new LinkedHashMap<>();
    private StructType keys = new StructType();
    private StructType values = new StructType();

    /** {@code kind}: which reader finds the values. */
    public StateTable by(String kind) {
        return with("kind", kind);
    }

    /** Tells the reader something. */
    public StateTable with(String name, Object value) {
        reader.put(name, value);
        return this;
    }

    /** One more key column, and the column of the table that it is; none without a name. */
    public StateTable key(String name, DataType type) {
        String place = "k" + keys.length();
        keys = keys.add(place, type, true);
        if (name != null) {
            column(name, place);
        }
        return this;
    }

    /** One more value of the reader's; what it is called there. */
    public String value(DataType type) {
        String place = "v" + values.length();
        values = values.add(place, type, true);
        return place;
    }

    /** A column that is made of the keys and values by {@code sql}. */
    public StateTable column(String name, String sql) {
        return put(name, new Column(sql, null));
    }

    /** The same by the text of an expression of {@code type}. */
    public StateTable column(String name, String sql, DataType type) {
        return put(name, new Column(sql, type.json()));
    }

    private StateTable put(String name, Column column) {
        String free = name;
        for (int i = 0; columns.containsKey(free); i++) {
            free = name + i;
        }
        columns.put(free, column);
        return this;
    }

    /** A value and the column that it is. */
    public StateTable column(String name, DataType type) {
        return column(name, value(type));
    }

    /** The value of a list of rows, and the column of it. */
    public StateTable rows(String name, StructType rows) {
        return column(name, "transform(" + value(list(rows)) + ", r -> " + struct("r", rows) + ")");
    }

    /** The value of one row, and a column for each of its columns that is none yet. */
    public StateTable row(StructType row) {
        for (StructField field : row.fields()) {
            String place = value(field.dataType());
            if (!isGenerated(field.name()) && !columns.containsKey(field.name())) {
                column(field.name(), place);
            }
        }
        return this;
    }

    /** A list of rows, whose columns go by their places. */
    public static DataType list(StructType rows) {
        return DataTypes.createArrayType(placed(rows), false);
    }

    /** {@code row} with columns c0, c1, .. */
    public static StructType placed(StructType row) {
        StructType placed = new StructType();
        for (StructField field : row.fields()) {
            placed = placed.add("c" + placed.length(), field.dataType(), true);
        }
        return placed;
    }

    /** SQL of the columns of {@code placed}, a row of {@code columns} by their places, which a user has named. */
    public static String struct(String placed, StructType columns) {
        List<String> cells = new ArrayList<>();
        for (int i = 0; i < columns.length(); i++) {
            String name = columns.apply(i).name();
            if (!isGenerated(name)) {
                cells.add(Literal$.MODULE$.apply(name).sql() + ", " + placed + ".c" + i);
            }
        }
        return cells.isEmpty() ? "named_struct('_', 0)" : "named_struct(" + String.join(", ", cells) + ")";
    }

    /** The same of a struct that has the names. */
    public static String named(String row, StructType columns) {
        List<String> cells = new ArrayList<>();
        for (StructField field : columns.fields()) {
            if (!isGenerated(field.name())) {
                cells.add(Literal$.MODULE$.apply(field.name()).sql() + ", " + row + ".`"
                        + field.name().replace("`", "``") + "`");
            }
        }
        return cells.isEmpty() ? "named_struct('_', 0)" : "named_struct(" + String.join(", ", cells) + ")";
    }

    public static boolean isGenerated(String name) {
        return name.startsWith(GENERATED);
    }

    /** Takes out the columns so far. */
    public void withoutKeys() {
        columns.clear();
    }

    /**
     * The table as JSON: {@code reader} has its {@code kind}, {@code keys} and {@code values} with their types, and
     * more by its kind; {@code columns} have by their names {@code sql} and {@code type}.
     */
    public String json() {
        Map<String, Object> told = new LinkedHashMap<>(reader);
        told.put("keys", keys.json());
        told.put("values", values.json());
        Map<String, Object> made = new LinkedHashMap<>();
        columns.forEach((name, column) -> {
            Map<String, Object> each = new LinkedHashMap<>();
            each.put("sql", column.sql);
            each.put("type", column.type);
            made.put(name, each);
        });
        try {
            return new ObjectMapper().writeValueAsString(Map.of("reader", told, "columns", made));
        } catch (JsonProcessingException error) {
            throw new IllegalStateException(error);
        }
    }
}
