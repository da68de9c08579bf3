package sqlstream.functions;

import java.sql.Timestamp;
import java.text.ParseException;
import java.text.SimpleDateFormat;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoField;
import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalField;
import java.util.Date;
import java.util.Locale;
import java.util.TimeZone;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Times read from texts and written to them by patterns, as Flink does: by java.time where a TIMESTAMP is read or
 * written, else by SimpleDateFormat, which reads what begins well and lets days and hours run over.
 */
public final class DateTexts {
    private static final long MICROS = 1_000_000L;
    private static final long DAY = 86_400_000L;
    // What Flink makes of a text that does not follow its pattern; it shows it as 5471-09-27.
    private static final int NO_DATE = 622191233;
    private static final UTF8String STANDARD = UTF8String.fromString("yyyy-MM-dd HH:mm:ss");
    private static final UTF8String UTC = UTF8String.fromString("UTC");

    private static final Compiled<DateTimeFormatter> FORMATTERS =
            new Compiled<>(text -> DateTimeFormatter.ofPattern(text, Locale.US));
    private static final Compiled<SimpleDateFormat> OLD_FORMATS =
            new Compiled<>(text -> new SimpleDateFormat(text, Locale.US));
    private static final Compiled<TimeZone> ZONES = new Compiled<>(TimeZone::getTimeZone);
    // A month or a day has one digit or two, a day that its month lacks is the month's last.
    private static final DateTimeFormatter PLAIN = new DateTimeFormatterBuilder()
            .appendPattern("yyyy-[MM][M]-[dd][d][ [HH][H]:[mm][m]:[ss][s]")
            .appendFraction(ChronoField.NANO_OF_SECOND, 0, 9, true)
            .appendPattern("]")
            .toFormatter(Locale.US);

    private DateTexts() {}

    /** DATE_FORMAT of a wall time. */
    @SqlFunction
    public static UTF8String dateFormat(long wall, UTF8String pattern) {
        return UTF8String.fromString(FORMATTERS.of(pattern).format(time(wall)));
    }

    /** DATE_FORMAT of a text; NULL where it is not a time. */
    @SqlFunction
    public static UTF8String dateFormatText(UTF8String text, UTF8String pattern) {
        OLD_FORMATS.of(pattern);
        Long millis = millis(text, STANDARD, UTC);
        return millis == null ? null : written(millis, pattern, UTC);
    }

    /** A text of {@code yyyy-MM-dd[ HH:mm:ss[.fraction]]} as a wall time; NULL where it is none. */
    @SqlFunction(type = "TIMESTAMP")
    public static Long toTimestamp(UTF8String text) {
        try {
            return micros(completed(PLAIN.parse(text.toString())));
        } catch (DateTimeException e) {
            return null;
        }
    }

    /**
     * A text as a wall time, by a pattern; what does not follow it is tried without; NULL where it is none, or the
     * pattern.
     */
    @SqlFunction(type = "TIMESTAMP")
    public static Long toTimestampBy(UTF8String text, UTF8String pattern) {
        try {
            return micros(completed(FORMATTERS.of(pattern).parse(text.toString())));
        } catch (DateTimeParseException e) {
            return rolledOver(text.toString().trim());
        } catch (DateTimeException | IllegalArgumentException e) {
            return null;
        }
    }

    /** A text of {@code yyyy[-MM[-dd]]}, whatever follows behind a blank, as a date; NULL where it is none. */
    @SqlFunction(type = "DATE")
    public static Integer toDate(UTF8String text) {
        String date = text.toString();
        int blank = date.indexOf(' ');
        String[] fields = (blank > 0 ? date.substring(0, blank) : date).split("-", -1);
        int[] numbers = {0, 1, 1};
        if (fields.length > 3) {
            return null;
        }
        for (int i = 0; i < fields.length; i++) {
            Integer number = digits(fields[i].trim());
            if (number == null) {
                return null;
            }
            numbers[i] = number;
        }
        try {
            return numbers[0] > 9999
                    ? null
                    : (int) LocalDate.of(numbers[0], numbers[1], numbers[2]).toEpochDay();
        } catch (DateTimeException e) {
            return null;
        }
    }

    /** A text as a date, by a pattern; a day of the far future where it does not follow it. */
    @SqlFunction(type = "DATE")
    public static Integer toDateBy(UTF8String text, UTF8String pattern) {
        Long millis = millis(text, pattern, UTC);
        return millis == null ? NO_DATE : (int) Math.floorDiv(millis, DAY);
    }

    /** Seconds since 1970 of a text, by a pattern, in a zone; the least number where it is not a time. */
    @SqlFunction
    public static Long unixTimestamp(UTF8String text, UTF8String pattern, UTF8String zone) {
        Long millis = millis(text, pattern, zone);
        return millis == null ? Long.MIN_VALUE : millis / 1000;
    }

    /** FROM_UNIXTIME in a zone. */
    @SqlFunction
    public static UTF8String fromUnixtime(long seconds, UTF8String pattern, UTF8String zone) {
        return written(seconds * 1000, pattern, zone);
    }

    /** CONVERT_TZ: a text's time, from one zone to another; NULL where it is not a time. An unknown zone is GMT. */
    @SqlFunction
    public static UTF8String convertTz(UTF8String text, UTF8String from, UTF8String to) {
        Long millis = millis(text, STANDARD, from);
        return millis == null ? null : written(millis, STANDARD, to);
    }

    /**
     * Milliseconds since midnight of a text {@code HH[:mm[:ss[.fraction]]][+HH[:mm]]}, of which the offset is added;
     * NULL where it is none.
     */
    @SqlFunction
    public static Long toTime(UTF8String text) {
        String time = text.toString();
        int sign = time.indexOf('-') >= 0 ? -1 : 1;
        int offset = time.indexOf(sign < 0 ? '-' : '+');
        String clock = offset < 0 ? time : time.substring(0, offset);
        int point = clock.indexOf('.');
        int[] fields = numbers(point < 0 ? clock : clock.substring(0, point), 3);
        int[] moved = offset < 0 ? new int[3] : numbers(time.substring(offset + 1), 2);
        if (fields == null
                || moved == null
                || fields[0] > 23
                || fields[1] > 59
                || fields[2] > 59
                || (point >= 0 && clock.split(":", -1).length < 3)) {
            return null;
        }
        long minutes = (fields[0] + sign * moved[0]) * 60L + fields[1] + sign * moved[1];
        long millis = (minutes * 60 + fields[2]) * 1000
                + (point < 0 ? 0 : thousandths(clock.substring(point + 1).trim()));
        return millis < 0 || millis >= DAY ? null : millis;
    }

    /** The first three digits of a fraction, rounded by the fourth. */
    private static int thousandths(String fraction) {
        int found = 0;
        for (int i = 0; i < 3; i++) {
            int digit = i < fraction.length() ? fraction.charAt(i) - '0' : 0;
            found = found * 10 + (digit < 0 || digit > 9 ? 0 : digit);
        }
        return fraction.length() > 3 && fraction.charAt(3) >= '5' ? found + 1 : found;
    }

    /** Numbers with a colon between, at most so many; null of another text. */
    private static int[] numbers(String text, int most) {
        String[] fields = text.split(":", -1);
        int[] found = new int[3];
        for (int i = 0; i < fields.length; i++) {
            Integer number = i < most ? digits(fields[i].trim()) : null;
            if (number == null) {
                return null;
            }
            found[i] = number;
        }
        return found;
    }

    /** A wall time as CAST to STRING writes it, with so many digits behind the second: a year has four digits. */
    @SqlFunction
    public static UTF8String timestampText(long wall, int digits) {
        LocalDateTime time = time(wall);
        if (time.getYear() < 0) {
            throw Failure.of("A time is before the year 0.");
        }
        byte[] text = new byte[digits == 0 ? 19 : 20 + digits];
        date(text, time.getYear(), time.getMonthValue(), time.getDayOfMonth());
        text[10] = ' ';
        number(text, 11, 2, time.getHour());
        text[13] = ':';
        number(text, 14, 2, time.getMinute());
        text[16] = ':';
        number(text, 17, 2, time.getSecond());
        if (digits > 0) {
            text[19] = '.';
            int kept = time.getNano();
            for (int i = digits; i < 9; i++) {
                kept /= 10;
            }
            number(text, 20, digits, kept);
        }
        return UTF8String.fromBytes(text);
    }

    /** A date as CAST to STRING writes it: a year has four digits. */
    @SqlFunction
    public static UTF8String dateText(int days) {
        LocalDate day = LocalDate.ofEpochDay(days);
        byte[] text = new byte[10];
        date(text, day.getYear(), day.getMonthValue(), day.getDayOfMonth());
        return UTF8String.fromBytes(text);
    }

    /** An interval of microseconds as CAST to STRING writes it. */
    @SqlFunction
    public static UTF8String intervalText(long micros) {
        long millis = Math.abs(micros / 1000);
        return UTF8String.fromString(String.format(
                Locale.US,
                "%s%d %02d:%02d:%02d.%03d",
                micros < 0 ? "-" : "+",
                millis / DAY,
                millis / 3_600_000 % 24,
                millis / 60_000 % 60,
                millis / 1000 % 60,
                millis % 1000));
    }

    /** An interval of months as CAST to STRING writes it. */
    @SqlFunction
    public static UTF8String monthsText(int months) {
        return UTF8String.fromString(String.format(
                Locale.US, "%s%d-%02d", months < 0 ? "-" : "+", Math.abs(months) / 12, Math.abs(months) % 12));
    }

    private static void date(byte[] text, int year, int month, int day) {
        number(text, 0, 4, year);
        text[4] = '-';
        number(text, 5, 2, month);
        text[7] = '-';
        number(text, 8, 2, day);
    }

    private static void number(byte[] text, int from, int digits, int number) {
        for (int i = from + digits - 1, left = number; i >= from; i--, left /= 10) {
            text[i] = (byte) ('0' + left % 10);
        }
    }

    /** A number of digits alone; null of anything else. */
    private static Integer digits(String text) {
        boolean number = !text.isEmpty() && text.length() < 10 && text.chars().allMatch(c -> c >= '0' && c <= '9');
        return number ? Integer.valueOf(text) : null;
    }

    private static Long millis(UTF8String text, UTF8String pattern, UTF8String zone) {
        SimpleDateFormat format = OLD_FORMATS.of(pattern);
        format.setTimeZone(ZONES.of(zone));
        try {
            return format.parse(text.toString()).getTime();
        } catch (ParseException e) {
            return null;
        }
    }

    private static UTF8String written(long millis, UTF8String pattern, UTF8String zone) {
        SimpleDateFormat format = OLD_FORMATS.of(pattern);
        format.setTimeZone(ZONES.of(zone));
        return UTF8String.fromString(format.format(new Date(millis)));
    }

    /** {@code yyyy-M-d[ H:m:s[.fraction]]}, where days and hours run over; null of another text. */
    private static Long rolledOver(String text) {
        try {
            return micros(
                    text.indexOf(' ') >= 0
                            ? Timestamp.valueOf(text).toLocalDateTime()
                            : LocalDateTime.of(java.sql.Date.valueOf(text).toLocalDate(), LocalTime.MIDNIGHT));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /** What a text has of a time; the rest is that of 1970-01-01 00:00:00. */
    private static LocalDateTime completed(TemporalAccessor read) {
        return LocalDateTime.of(
                field(read, ChronoField.YEAR, 1970),
                field(read, ChronoField.MONTH_OF_YEAR, 1),
                field(read, ChronoField.DAY_OF_MONTH, 1),
                field(read, ChronoField.HOUR_OF_DAY, 0),
                field(read, ChronoField.MINUTE_OF_HOUR, 0),
                field(read, ChronoField.SECOND_OF_MINUTE, 0),
                field(read, ChronoField.NANO_OF_SECOND, 0));
    }

    private static int field(TemporalAccessor read, TemporalField field, int otherwise) {
        return read.isSupported(field) ? read.get(field) : otherwise;
    }

    private static LocalDateTime time(long wall) {
        return LocalDateTime.ofEpochSecond(
                Math.floorDiv(wall, MICROS), (int) Math.floorMod(wall, MICROS) * 1000, ZoneOffset.UTC);
    }

    private static long micros(LocalDateTime time) {
        return time.toEpochSecond(ZoneOffset.UTC) * MICROS + time.getNano() / 1000;
    }
}
