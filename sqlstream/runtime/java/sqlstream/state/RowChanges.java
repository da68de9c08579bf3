package sqlstream.state;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * What rows that are added and retracted do to a list of rows, in their order: one comes to be there once more, or once
 * less where it is there. To retract what is not there changes nothing.
 */
public final class RowChanges {
    private final Map<UnsafeRow, Course> courses = new LinkedHashMap<>();

    /**
     * A row of which there are {@code times} more, or fewer where it is negative. {@code announced}: how often the
     * input added it, or retracted it where that is negative, which can be more often than it was there.
     */
    public record Change(UnsafeRow row, int times, int announced) {
        public Change(UnsafeRow row, int times) {
            this(row, times, times);
        }
    }

    /** What the input says of one row: there are {@code sum} more of it, and at least {@code least}. */
    private static final class Course {
        private int sum;
        private int least;

        private boolean dependsOnNumber() {
            return sum < least;
        }
    }

    /** A row is added, or retracted. It must not change afterwards. */
    public void add(UnsafeRow row, boolean retracts) {
        Course course = courses.computeIfAbsent(row, r -> new Course());
        course.sum += retracts ? -1 : 1;
        course.least = Math.max(0, course.least + (retracts ? -1 : 1));
    }

    /**
     * What changes in {@code list} of {@code kept}, in the order in which rows first came; one that is retracted more
     * often than it is there first.
     */
    public List<Change> in(RowLists kept, int list) {
        Set<UnsafeRow> asked = new HashSet<>();
        courses.forEach((row, course) -> {
            if (course.dependsOnNumber()) {
                asked.add(row);
            }
        });
        Map<UnsafeRow, int[]> numbers =
                asked.isEmpty() || kept.size(list) == 0 ? new HashMap<>() : kept.numbers(list, asked::contains);
        List<Change> changes = new ArrayList<>();
        courses.forEach((row, course) -> {
            int before = numbers.containsKey(row) ? numbers.get(row)[0] : 0;
            if (!course.dependsOnNumber() || before + course.sum >= course.least) {
                if (course.sum != 0) {
                    changes.add(new Change(row, course.sum));
                }
                return;
            }
            // There was none of it in between: all are removed, with what was not there, and the rest is added.
            changes.add(new Change(row, -before, course.sum - course.least));
            if (course.least > 0) {
                changes.add(new Change(row, course.least));
            }
        });
        return changes;
    }

    /** The rows of {@code changes} that are added, or removed where {@code sign} is negative, as often as they are. */
    public static List<UnsafeRow> rows(List<Change> changes, int sign) {
        List<UnsafeRow> rows = new ArrayList<>();
        for (Change change : changes) {
            for (int n = change.times * sign; n > 0; n--) {
                rows.add(change.row);
            }
        }
        return rows;
    }

    /** The {@code rows} but for those of {@code others}, as often as they are there. */
    public static List<UnsafeRow> without(List<UnsafeRow> rows, List<UnsafeRow> others) {
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
