package sqlstream.formats;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.temporal.ChronoField;

/**
 * The text of a date or a time, read from left to right. What is none raises IllegalArgumentException or a
 * DateTimeException. As Flink's, a timestamp on a day up to the 31st that its month has not is on the month's last, and
 * 24:00:00 is the end of a day.
 */
final class Times {
    private static final long DAY = 86_400_000_000_000L;

    private final char[] text;
    private final int end;
    private int at;

    private Times(char[] text, int from, int length) {
        this.text = text;
        this.at = from;
        this.end = from + length;
    }

    static Times of(JsonParser parser, JsonToken token) throws IOException {
        if (token != JsonToken.VALUE_STRING) {
            throw new IllegalArgumentException();
        }
        return new Times(parser.getTextCharacters(), parser.getTextOffset(), parser.getTextLength());
    }

    /** {@code 2020-12-30} as days since 1970. */
    long date() {
        LocalDate day = LocalDate.of(year(), monthOrDay(), monthOrDay());
        finish();
        return day.toEpochDay();
    }

    /** {@code 12:13:14.123} as nanoseconds of the day, cut to {@code precision} digits of a second. */
    long time(int precision) {
        long nanos = clock(false) % DAY;
        finish();
        return nanos - nanos % powerOfTen(9 - Math.min(precision, 9));
    }

    /** {@code 2020-12-30 12:13:14.123} (iso: with T), behind it Z where {@code zoned}, as microseconds since 1970. */
    long timestamp(boolean iso, boolean zoned, int precision) {
        int year = year();
        YearMonth month = YearMonth.of(year, monthOrDay());
        long day = month.atDay(
                        Math.min(ChronoField.DAY_OF_MONTH.checkValidIntValue(monthOrDay()), month.lengthOfMonth()))
                .toEpochDay();
        expect(iso ? 'T' : ' ');
        long micros = clock(iso) / 1000L;
        if (zoned) {
            expect('Z');
        }
        finish();
        return Math.multiplyExact(day, DAY / 1000L) + micros - micros % powerOfTen(6 - Math.min(precision, 6));
    }

    /** Microseconds cut to {@code precision} digits of a second. */
    static long cut(long micros, int precision) {
        return micros - Math.floorMod(micros, powerOfTen(6 - Math.min(precision, 6)));
    }

    /** Four digits, or more behind a sign. */
    private int year() {
        char sign = at < end ? text[at] : '0';
        if (sign != '-' && sign != '+') {
            return number(4);
        }
        at++;
        int from = at;
        while (at < end && Character.isDigit(text[at])) {
            at++;
        }
        int digits = at - from;
        if (digits < (sign == '+' ? 5 : 4) || digits > 9) {
            throw new IllegalArgumentException();
        }
        at = from;
        return sign == '-' ? -number(digits) : number(digits);
    }

    /** Behind the year: {@code -02}. */
    private int monthOrDay() {
        expect('-');
        return number(2);
    }

    /** Nanoseconds of the day. Only iso can do without seconds. */
    private long clock(boolean iso) {
        long hour = below(number(2), 25);
        expect(':');
        long minute = below(number(2), 60);
        long nanos = (hour * 60 + minute) * 60_000_000_000L;
        if (iso && (at == end || text[at] != ':')) {
            return below(nanos, DAY + 1);
        }
        expect(':');
        nanos += below(number(2), 60) * 1_000_000_000L;
        if (at < end && text[at] == '.') {
            at++;
            long unit = 100_000_000L;
            for (int digits = 0; digits < 9 && at < end && Character.digit(text[at], 10) >= 0; digits++, unit /= 10) {
                nanos += number(1) * unit;
            }
        }
        return below(nanos, DAY + 1);
    }

    private static long below(long value, long limit) {
        if (value >= limit) {
            throw new IllegalArgumentException();
        }
        return value;
    }

    private int number(int digits) {
        int value = 0;
        for (int i = 0; i < digits; i++) {
            if (at == end || text[at] < '0' || text[at] > '9') {
                throw new IllegalArgumentException();
            }
            value = value * 10 + (text[at++] - '0');
        }
        return value;
    }

    private void expect(char wanted) {
        if (at == end || text[at++] != wanted) {
            throw new IllegalArgumentException();
        }
    }

    private void finish() {
        if (at != end) {
            throw new IllegalArgumentException();
        }
    }

    private static long powerOfTen(int digits) {
        long power = 1;
        for (int i = 0; i < digits; i++) {
            power *= 10;
        }
        return power;
    }
}
