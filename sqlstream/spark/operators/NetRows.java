package sqlstream;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ObjIntConsumer;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/** Rows that come and go: how often each does after those that take each other away. */
final class NetRows {
    private final Map<UnsafeRow, int[]> times = new LinkedHashMap<>();

    /** A row that comes {@code count} times, or goes where it is negative. It must not change afterwards. */
    void add(UnsafeRow row, int count) {
        times.computeIfAbsent(row, r -> new int[1])[0] += count;
    }

    /** Rows whose number changes, and by how much, in the order in which they first came. */
    void forEach(ObjIntConsumer<UnsafeRow> consumer) {
        times.forEach((row, count) -> {
            if (count[0] != 0) {
                consumer.accept(row, count[0]);
            }
        });
    }

    List<UnsafeRow> added() {
        return repeated(1);
    }

    List<UnsafeRow> removed() {
        return repeated(-1);
    }

    private List<UnsafeRow> repeated(int sign) {
        List<UnsafeRow> rows = new ArrayList<>();
        forEach((row, count) -> {
            for (int n = count * sign; n > 0; n--) {
                rows.add(row);
            }
        });
        return rows;
    }

    /** The {@code rows} but for those of {@code others}, as often as they are there. */
    static List<UnsafeRow> without(List<UnsafeRow> rows, List<UnsafeRow> others) {
        Map<UnsafeRow, int[]> counts = new HashMap<>();
        others.forEach(r -> counts.computeIfAbsent(r, x -> new int[1])[0]++);
        List<UnsafeRow> left = new ArrayList<>(rows);
        left.removeIf(r -> {
            int[] count = counts.get(r);
            return count != null && count[0]-- > 0;
        });
        return left;
    }
}
