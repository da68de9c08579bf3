package sqlstream.functions;

import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.TimeZone;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Times cut to a unit as Flink cuts them: of a week or longer the days since 1970 count, without their fraction, in the
 * Julian calendar before 1582-10-15; of a TIMESTAMP_LTZ the zone's offset is the one before the cut.
 */
public final class TimeUnits {
    private static final long DAY = 86_400_000L;
    private static final Compiled<TimeZone> ZONES = new Compiled<>(TimeZone::getTimeZone);
    // 1582-10-15, as days since 1970; and 1970-01-01, as a Julian day.
    private static final int GREGORIAN = -141427;
    private static final int JULIAN_1970 = 2440588;

    // The first and the last microsecond of the years that have four digits.
    private static final long FIRST = -62_167_219_200_000_000L;
    private static final long LAST = 253_402_300_799_999_999L;

    private TimeUnits() {}

    /** A time moved by so many units, of so many microseconds each. */
    @SqlFunction(type = "TIMESTAMP")
    public static Long plusUnits(long micros, long amount, long unit) {
        try {
            return checked(Math.addExact(micros, Math.multiplyExact(amount, unit)));
        } catch (ArithmeticException e) {
            throw beyond();
        }
    }

    /** A time moved by so many months; the last day of a month stays in it. */
    @SqlFunction(type = "TIMESTAMP")
    public static Long plusMonths(long micros, long months) {
        long day = DAY * 1000;
        try {
            return checked(Math.addExact(
                    Math.multiplyExact(
                            LocalDate.ofEpochDay(Math.floorDiv(micros, day))
                                    .plusMonths(months)
                                    .toEpochDay(),
                            day),
                    Math.floorMod(micros, day)));
        } catch (ArithmeticException | DateTimeException e) {
            throw beyond();
        }
    }

    private static long checked(long micros) {
        if (micros < FIRST || micros > LAST) {
            throw beyond();
        }
        return micros;
    }

    private static RuntimeException beyond() {
        return Failure.of("A time is beyond the years 0 to 9999.");
    }

    /** CURRENT_ROW_TIMESTAMP: the time at which a row is looked at. */
    @SqlFunction(type = "TIMESTAMP", deterministic = false)
    public static Long currentRowTimestamp() {
        return System.currentTimeMillis() * 1000;
    }

    /** FLOOR(time TO unit); up: CEIL. */
    @SqlFunction(type = "TIMESTAMP")
    public static Long timeToUnit(long micros, UTF8String unit, boolean up, UTF8String zone) {
        long millis = Math.floorDiv(micros, 1000L);
        long offset = ZONES.of(zone).getOffset(millis);
        long wall = millis + offset;
        long size = size(unit.toString());
        if (size == 0) {
            return (dateToUnit((int) (wall / DAY), unit, up) * DAY - offset) * 1000;
        }
        return ((up ? -Math.floorDiv(-wall, size) : Math.floorDiv(wall, size)) * size - offset) * 1000;
    }

    /** FLOOR(date TO unit) of a week or longer; up: CEIL. */
    @SqlFunction(type = "DATE")
    public static Integer dateToUnit(int days, UTF8String unit, boolean up) {
        int[] date = calendar(days);
        int year = date[0];
        int month = date[1];
        boolean later = up && (month > 1 || date[2] > 1);
        switch (unit.toString()) {
            case "WEEK":
                int sunday = Math.floorMod(days + 4, 7);
                return day(year, month, date[2]) - (up && sunday > 0 ? sunday - 7 : sunday);
            case "MONTH":
                return day(year, up && date[2] > 1 ? month + 1 : month, 1);
            case "QUARTER":
                return day(year, ((month + 2) / 3 + (later ? 1 : 0)) * 3 - 2, 1);
            case "YEAR":
                return day(later ? year + 1 : year, 1, 1);
            case "DECADE":
                return day((year / 10 + (up ? 1 : 0)) * 10, 1, 1);
            case "CENTURY":
                return day((year + 99) / 100 * 100 + (up ? 1 : -99), 1, 1);
            default:
                return day((year + 999) / 1000 * 1000 + (up ? 1 : -999), 1, 1);
        }
    }

    /**
     * Months that can be added to the earlier of two times without passing the later one; negative where the first is
     * later.
     */
    @SqlFunction
    public static Integer monthsBetween(long start, long end) {
        LocalDate first = LocalDate.ofEpochDay(Math.floorDiv(start, DAY * 1000));
        LocalDate last = LocalDate.ofEpochDay(Math.floorDiv(end, DAY * 1000));
        int months = last.isBefore(first) ? -months(last, first) : months(first, last);
        boolean earlier = Math.floorMod(end, DAY * 1000) / 1000 < Math.floorMod(start, DAY * 1000) / 1000;
        return earlier && first.plusMonths(months).equals(last) ? months - 1 : months;
    }

    private static int months(LocalDate first, LocalDate last) {
        int months = (last.getYear() - first.getYear()) * 12 + last.getMonthValue() - first.getMonthValue();
        return first.plusMonths(months).isAfter(last) ? months - 1 : months;
    }

    /** The interval from the second time to the first, in whole milliseconds. */
    @SqlFunction(type = "INTERVAL DAY TO SECOND")
    public static Long timeDifference(long end, long start) {
        return (Math.floorDiv(end, 1000L) - Math.floorDiv(start, 1000L)) * 1000L;
    }

    /** Milliseconds of a unit; 0 of those that calendars make. */
    private static long size(String unit) {
        switch (unit) {
            case "DAY":
                return DAY;
            case "HOUR":
                return 3_600_000L;
            case "MINUTE":
                return 60_000L;
            case "SECOND":
                return 1000L;
            case "MILLISECOND":
                return 1L;
            default:
                return 0L;
        }
    }

    /** A day's number, where the month may be the 13th. */
    private static int day(int year, int month, int day) {
        return (int) LocalDate.of(year + (month - 1) / 12, (month - 1) % 12 + 1, 1)
                        .toEpochDay()
                + day
                - 1;
    }

    /** Year, month and day. */
    private static int[] calendar(int days) {
        if (days >= GREGORIAN) {
            LocalDate date = LocalDate.ofEpochDay(days);
            return new int[] {date.getYear(), date.getMonthValue(), date.getDayOfMonth()};
        }
        // Years begin in March here, so that a leap day is a year's last; the first of them is -4800.
        int since = days + JULIAN_1970 + 32082;
        int year = (4 * since + 3) / 1461;
        int inYear = since - 1461 * year / 4;
        int month = (5 * inYear + 2) / 153;
        return new int[] {year - 4800 + month / 10, month + 3 - 12 * (month / 10), inYear - (153 * month + 2) / 5 + 1};
    }
}
