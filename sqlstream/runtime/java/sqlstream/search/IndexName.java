package sqlstream.search;

import java.io.Serializable;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.TemporalAccessor;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;

/** The index of a document: a name, maybe with a value of its row, or the time at which it is written, in the midst. */
final class IndexName implements Serializable {
    /**
     * What is asked for.
     *
     * @param before what stands before the value, and {@code after} behind it; all of the name where there is none
     * @param pattern that of a time, as Java's DateTimeFormatter has it; null where the value is written as it is
     * @param now whether the value is the time at which the document is written
     * @param zone the zone of times that have one
     */
    record Options(String before, String after, String pattern, boolean now, String zone) implements Serializable {}

    private final Options said;
    private final int place;
    private final DataType type;
    private final ZoneId zone;
    private transient DateTimeFormatter formatter;

    /** {@code place}: that of the value in a row, which is of a {@code type}; -1 where the row has none. */
    IndexName(Options said, int place, DataType type) {
        this.said = said;
        this.place = place;
        this.type = type;
        zone = ZoneId.of(said.zone);
    }

    String of(InternalRow row) {
        if (said.now) {
            return named(formatted(LocalDateTime.now(zone)));
        }
        if (place < 0) {
            return named("");
        }
        if (row.isNullAt(place)) {
            return named("null");
        }
        return named(
                said.pattern == null
                        ? Values.asNumber(row, place, type)
                        : formatted((TemporalAccessor) Values.value(row, place, type, zone)));
    }

    private String named(String value) {
        return said.before + value + said.after;
    }

    private String formatted(TemporalAccessor time) {
        if (formatter == null) {
            formatter = DateTimeFormatter.ofPattern(said.pattern);
        }
        return formatter.format(time);
    }
}
