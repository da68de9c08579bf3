package sqlstream.functions;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.unsafe.types.UTF8String;
import sqlstream.gateway.Described;

/**
 * Cells that Datafaker makes of its expressions. A session has its classes from when a table needs them on, and they
 * are called by their names.
 */
public final class Fakes {
    private static final Compiled<Field> FIELDS = new Compiled<>(text -> Described.as(Field.class, text));
    private static final ThreadLocal<Maker> MAKERS = ThreadLocal.withInitial(Maker::new);
    /** As java.sql.Timestamp writes a time. */
    private static final DateTimeFormatter TIMES = new DateTimeFormatterBuilder()
            .appendPattern("uuuu-MM-dd HH:mm:ss")
            .appendFraction(ChronoField.NANO_OF_SECOND, 0, 9, true)
            .toFormatter(Locale.US);

    private static final DateTimeFormatter WRITTEN = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSS");

    /** Behind what is wrong: the state of Datafaker. */
    private static final Pattern CONTEXT = Pattern.compile("(?s) for FakerContext.*");

    private Fakes() {}

    /**
     * The values of a field of the row with this number, as texts that Spark casts to their types: one, those of a
     * collection or of a row's fields; of a map, and of a multiset, each key with its value behind it. The same number
     * and seed give the same, but for what depends on the time.
     */
    @SqlFunction(type = "array<string>", deterministic = false)
    public static ArrayData faked(long row, long seed, UTF8String field) {
        return FIELDS.of(field).cells(MAKERS.get(), row, seed);
    }

    /** What is wrong with an expression; null where nothing is. */
    public static String problem(String expression) {
        try {
            MAKERS.get().value(expression);
            return null;
        } catch (ClassCastException e) {
            return "It names several values, not one.";
        } catch (RuntimeException e) {
            return e.getMessage() == null
                    ? e.toString()
                    : CONTEXT.matcher(e.getMessage()).replaceFirst(".");
        }
    }

    /** Datafaker for a thread, with random numbers of which it is said where they begin. */
    private static final class Maker {
        final Random random = new Random();
        private final Object faker;
        private final Method expression;

        Maker() {
            try {
                Class<?> type = Class.forName(
                        "net.datafaker.Faker", true, Thread.currentThread().getContextClassLoader());
                faker = type.getConstructor(Locale.class, Random.class).newInstance(Locale.ENGLISH, random);
                expression = type.getMethod("expression", String.class);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException("Datafaker can't be loaded: " + e, e);
            }
        }

        String value(String text) {
            try {
                return (String) expression.invoke(faker, text);
            } catch (InvocationTargetException e) {
                throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e.getCause());
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** An expression, and the type that its values are read as. */
    private record Value(String expression, String type, int precision) {
        String cell(Maker maker, String path) {
            String text = maker.value(expression);
            try {
                return read(text);
            } catch (NumberFormatException | DateTimeException e) {
                String given = "The expression " + expression + " of '" + path + "' gives '" + text + "'";
                throw Failure.of(given + ", which is no " + type + ".");
            }
        }

        private String read(String text) {
            return switch (type) {
                case "BOOLEAN" -> String.valueOf(Boolean.parseBoolean(text));
                case "TINYINT" -> String.valueOf(Byte.parseByte(text));
                case "SMALLINT" -> String.valueOf(Short.parseShort(text));
                case "INT" -> String.valueOf(Integer.parseInt(text));
                case "BIGINT" -> String.valueOf(Long.parseLong(text));
                case "FLOAT" -> String.valueOf(Float.parseFloat(text));
                case "DOUBLE" -> String.valueOf(Double.parseDouble(text));
                case "DECIMAL" -> new BigDecimal(text).toPlainString();
                case "DATE" -> utc(text).toLocalDate().toString();
                // Nanoseconds of the day.
                case "TIME" ->
                    LocalTime.ofNanoOfDay(Long.parseLong(text))
                            .truncatedTo(precision == 0 ? ChronoUnit.SECONDS : ChronoUnit.MILLIS)
                            .toString();
                case "TIMESTAMP", "TIMESTAMP_LTZ" -> {
                    long unit = Math.round(Math.pow(10, 9 - precision));
                    LocalDateTime time = utc(text);
                    yield WRITTEN.format(time.withNano((int) (time.getNano() / unit * unit)));
                }
                default -> text;
            };
        }

        private static LocalDateTime utc(String text) {
            return LocalDateTime.parse(text, TIMES)
                    .atZone(ZoneId.systemDefault())
                    .withZoneSameInstant(ZoneOffset.UTC)
                    .toLocalDateTime();
        }
    }

    /**
     * A column: how many times it has its values, and whether those of a multiset are counted. Its path makes its
     * random numbers its own.
     */
    private record Field(String path, double nullRate, int length, boolean counted, List<Value> values) {
        ArrayData cells(Maker maker, long row, long seed) {
            maker.random.setSeed(mixed(row ^ mixed(seed) ^ mixed(path.hashCode())));
            if (maker.random.nextFloat() < nullRate) {
                return null;
            }
            List<String> cells = new ArrayList<>(length * values.size());
            for (int i = 0; i < length; i++) {
                for (Value value : values) {
                    cells.add(value.cell(maker, path));
                }
            }
            if (counted) {
                Map<String, Integer> counts = new LinkedHashMap<>();
                cells.forEach(cell -> counts.merge(cell, 1, Integer::sum));
                cells.clear();
                counts.forEach((cell, count) -> {
                    cells.add(cell);
                    cells.add(String.valueOf(count));
                });
            }
            return ArrayData.toArrayData(
                    cells.stream().map(UTF8String::fromString).toArray());
        }
    }

    /** Neighbours give numbers that are far apart: Java's Random begins alike for seeds that are alike. */
    private static long mixed(long bits) {
        long z = bits + 0x9E3779B97F4A7C15L;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
