package sqlstream.realtime;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Somebody in the driver who is shown the rows of all tasks, which run in its JVM: as JSON, an array a row. */
public final class ShownRows implements RowTarget {
    private static final ObjectMapper JSON = new ObjectMapper();
    // Who is shown rows lives as long as the query that the opener belongs to.
    private static final Map<String, WeakReference<Consumer<String>>> BY_ID = new ConcurrentHashMap<>();

    private record Opener(String id, StructType type, Consumer<String> viewer) implements RowTarget.Opener {
        Object writeReplace() {
            return new Elsewhere(id, type);
        }

        @Override
        public RowTarget open() {
            return new ShownRows(type, viewer);
        }

        /** Spark prints it, and a viewer in Python has no text. */
        @Override
        public String toString() {
            return "ShownRows";
        }
    }

    /** What a task has of an opener. */
    private record Elsewhere(String id, StructType type) implements RowTarget.Opener {
        @Override
        public RowTarget open() throws IOException {
            WeakReference<Consumer<String>> known = BY_ID.get(id);
            Consumer<String> viewer = known == null ? null : known.get();
            if (viewer == null) {
                throw new IOException("Rows are shown where the driver is, and their query has ended there.");
            }
            return new ShownRows(type, viewer);
        }
    }

    private final StructType type;
    private final Consumer<String> viewer;

    /**
     * The option {@code id} of {@link RowSink} by which the next query shows its rows to {@code viewer}.
     *
     * @param type that of the rows: texts, and the kind of a change where they carry it
     */
    public static String begin(StructType type, Consumer<String> viewer) {
        BY_ID.values().removeIf(known -> known.get() == null);
        String id = UUID.randomUUID().toString();
        BY_ID.put(id, new WeakReference<>(viewer));
        return RowSink.begin(new Opener(id, type, viewer));
    }

    private ShownRows(StructType type, Consumer<String> viewer) {
        this.type = type;
        this.viewer = viewer;
    }

    @Override
    public void write(List<InternalRow> rows) throws IOException {
        List<List<Object>> shown = new ArrayList<>();
        for (InternalRow row : rows) {
            List<Object> cells = new ArrayList<>();
            for (int i = 0; i < type.length(); i++) {
                Object cell = row.get(i, type.apply(i).dataType());
                cells.add(cell instanceof UTF8String ? cell.toString() : cell);
            }
            shown.add(cells);
        }
        viewer.accept(JSON.writeValueAsString(shown));
    }
}
