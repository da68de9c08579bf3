package sqlstream.search;

import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;

/** Values of a row in the id of a document and the name of its index: as Java, and so Flink, writes them. */
final class Values {
    private static final long NANOS_OF_MICRO = 1000;
    private static final long NANOS_OF_MILLI = 1_000_000;
    private static final long MICROS_OF_SECOND = 1_000_000;

    private Values() {}

    /** The text of a value that is not NULL; that of a time with a zone is in UTC. */
    static String text(InternalRow row, int place, DataType type) {
        return value(row, place, type, ZoneOffset.UTC).toString();
    }

    /** As {@link #text}, but for a date its days since 1970, and for a time of day its milliseconds: as Flink does. */
    static String asNumber(InternalRow row, int place, DataType type) {
        if (type instanceof DateType) {
            return String.valueOf(row.getInt(place));
        }
        return type instanceof TimeType ? String.valueOf(row.getLong(place) / NANOS_OF_MILLI) : text(row, place, type);
    }

    /** A value that is not NULL: of a time one of java.time, in {@code zone} where it has one. */
    static Object value(InternalRow row, int place, DataType type, ZoneId zone) {
        if (type instanceof DateType) {
            return LocalDate.ofEpochDay(row.getInt(place));
        }
        if (type instanceof TimeType) {
            return LocalTime.ofNanoOfDay(row.getLong(place));
        }
        if (type instanceof TimestampNTZType) {
            return at(row.getLong(place));
        }
        if (type instanceof TimestampType) {
            return at(row.getLong(place))
                    .atOffset(ZoneOffset.UTC)
                    .atZoneSameInstant(zone)
                    .toLocalDateTime();
        }
        if (type instanceof DecimalType decimal) {
            return row.getDecimal(place, decimal.precision(), decimal.scale())
                    .toJavaBigDecimal()
                    .toPlainString();
        }
        return row.get(place, type);
    }

    private static LocalDateTime at(long micros) {
        return LocalDateTime.ofEpochSecond(
                Math.floorDiv(micros, MICROS_OF_SECOND),
                (int) (Math.floorMod(micros, MICROS_OF_SECOND) * NANOS_OF_MICRO),
                ZoneOffset.UTC);
    }
}
