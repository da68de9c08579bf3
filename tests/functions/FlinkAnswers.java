import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/**
 * Asks Flink for the types and texts of expressions over the table {@code t}.
 *
 * <p>Arguments: a file with a CREATE TABLE, the zone, {@code true} for aggregates, a file of expressions (one a line),
 * the file to write: for each expression a line with the expression, its type and the text of each row, or {@code !}
 * and why it is refused. Cells are between tabs, escaped, NULL is {@code \N}.
 */
public final class FlinkAnswers {
    private static final int BATCH = 40;

    private final TableEnvironment batch;
    private final TableEnvironment streaming;
    private final boolean aggregate;
    private final Map<String, String> answers = new HashMap<>();

    private FlinkAnswers(boolean aggregate, String zone, String table) {
        this.aggregate = aggregate;
        this.batch = environment(EnvironmentSettings.inBatchMode(), zone, table);
        this.streaming = aggregate ? environment(EnvironmentSettings.inStreamingMode(), zone, table) : batch;
    }

    private static TableEnvironment environment(EnvironmentSettings settings, String zone, String table) {
        TableEnvironment env = TableEnvironment.create(settings);
        env.getConfig().set("execution.target", "local");
        env.getConfig().set("table.local-time-zone", zone);
        env.getConfig().set("table.exec.resource.default-parallelism", "1");
        env.executeSql(table);
        return env;
    }

    public static void main(String[] args) throws Exception {
        List<String> asked = Files.readAllLines(Path.of(args[3]));
        FlinkAnswers answers =
                new FlinkAnswers(Boolean.parseBoolean(args[2]), args[1], Files.readString(Path.of(args[0])));
        List<String> left = new ArrayList<>();
        for (String expression : asked) {
            try {
                answers.streaming.sqlQuery(
                        "SELECT TYPEOF(" + expression + "), CAST((" + expression + ") AS STRING) FROM t");
                left.add(expression);
            } catch (Exception | AssertionError | StackOverflowError e) {
                answers.refused(expression, e);
            }
        }
        System.out.println(left.size() + " of " + asked.size() + " are evaluated");
        for (int from = 0; from < left.size(); from += BATCH) {
            answers.ask(left.subList(from, Math.min(from + BATCH, left.size())));
            System.out.println(from);
        }
        List<String> lines = new ArrayList<>();
        for (String expression : asked) {
            lines.add(expression + "\t" + answers.answers.get(expression));
        }
        Files.write(Path.of(args[4]), lines);
    }

    /** Those of a query that fails are asked again in halves. */
    private void ask(List<String> expressions) {
        try {
            StringBuilder items = new StringBuilder();
            for (String expression : expressions) {
                items.append(", TYPEOF(")
                        .append(expression)
                        .append("), CAST((")
                        .append(expression)
                        .append(") AS STRING)");
            }
            List<Row> rows = new ArrayList<>();
            if (aggregate) {
                // What the changes end with; of no rows batch mode has an answer only.
                List<Row> changes = rows(streaming, "SELECT 0" + items + " FROM t");
                rows.add(changes.get(changes.size() - 1));
                rows.addAll(rows(batch, "SELECT 1" + items + " FROM t WHERE `id` > 99"));
            } else {
                rows.addAll(rows(batch, "SELECT `id`" + items + " FROM t"));
                rows.sort((a, b) -> Integer.compare((Integer) a.getField(0), (Integer) b.getField(0)));
            }
            for (int i = 0; i < expressions.size(); i++) {
                StringBuilder line =
                        new StringBuilder(escaped((String) rows.get(0).getField(1 + 2 * i)));
                for (Row row : rows) {
                    line.append('\t').append(escaped((String) row.getField(2 + 2 * i)));
                }
                answers.put(expressions.get(i), line.toString());
            }
        } catch (Exception | AssertionError | StackOverflowError e) {
            if (expressions.size() == 1) {
                refused(expressions.get(0), running(e) ? new RuntimeException("fails while running") : e);
                return;
            }
            ask(expressions.subList(0, expressions.size() / 2));
            ask(expressions.subList(expressions.size() / 2, expressions.size()));
        }
    }

    private static List<Row> rows(TableEnvironment env, String query) throws Exception {
        List<Row> rows = new ArrayList<>();
        try (CloseableIterator<Row> found = env.sqlQuery(query).execute().collect()) {
            found.forEachRemaining(rows::add);
        }
        return rows;
    }

    /** Whether the job has failed, not its planning. */
    private static boolean running(Throwable e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause.getClass().getName().contains("JobExecutionException")
                    || String.valueOf(cause.getMessage()).contains("Failed to fetch next result")) {
                return true;
            }
        }
        return false;
    }

    private void refused(String expression, Throwable e) {
        Throwable cause = e;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        String message = String.valueOf(cause.getMessage())
                .replaceAll("From line [\\d, a-z]+: |,? at line \\d+, column \\d+", "")
                .replaceAll("\\s+", " ");
        answers.put(expression, "!\t" + escaped(message.strip()));
    }

    private static String escaped(String text) {
        return text == null
                ? "\\N"
                : text.replace("\\", "\\\\")
                        .replace("\t", "\\t")
                        .replace("\n", "\\n")
                        .replace("\r", "\\r")
                        .replace("\0", "\\0");
    }
}
