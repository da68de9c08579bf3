package sqlstream.functions;

import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Base64;
import java.util.IllegalFormatException;
import org.apache.commons.lang3.StringUtils;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DayTimeIntervalType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.types.UTF8String;

/** Functions of texts. Those that build on Java's strings count UTF-16 units, as Flink's do. */
public final class TextFunctions {
    private static final Compiled<StructType> TYPES = new Compiled<>(StructType::fromDDL);

    private TextFunctions() {}

    /** PRINTF: NULL where the format does not fit the values. */
    @SqlFunction
    public static UTF8String printf(UTF8String format, InternalRow values, UTF8String types) {
        StructType schema = TYPES.of(types);
        Object[] arguments = new Object[schema.length()];
        for (int i = 0; i < arguments.length; i++) {
            DataType type = schema.fields()[i].dataType();
            arguments[i] = values.isNullAt(i) ? null : formatted(values.get(i, type), type);
        }
        try {
            return UTF8String.fromString(String.format(format.toString(), arguments));
        } catch (IllegalFormatException e) {
            return null;
        }
    }

    /** What a format sees of a value: a date is a number of days, a time of milliseconds, a decimal a text. */
    private static Object formatted(Object value, DataType type) {
        if (type instanceof TimestampType || type instanceof TimestampNTZType) {
            long micros = (Long) value;
            return LocalDateTime.ofEpochSecond(
                            Math.floorDiv(micros, 1_000_000L),
                            (int) Math.floorMod(micros, 1_000_000L) * 1000,
                            ZoneOffset.UTC)
                    .toString();
        } else if (type instanceof DayTimeIntervalType) {
            return (Long) value / 1000;
        } else if (type instanceof TimeType) {
            return (int) ((Long) value / 1_000_000L);
        }
        return value instanceof Decimal
                ? ((Decimal) value).toJavaBigDecimal().toPlainString()
                : value instanceof UTF8String ? value.toString() : value;
    }

    /** LPAD: padded on the left, or cut, to a length; NULL where it can't be. */
    @SqlFunction
    public static UTF8String lpad(UTF8String text, int length, UTF8String pad) {
        return padded(text.toString(), length, pad.toString(), true);
    }

    /** RPAD: padded on the right, or cut, to a length; NULL where it can't be. */
    @SqlFunction
    public static UTF8String rpad(UTF8String text, int length, UTF8String pad) {
        return padded(text.toString(), length, pad.toString(), false);
    }

    private static UTF8String padded(String text, int length, String pad, boolean left) {
        if (length < 0 || pad.isEmpty()) {
            return null;
        }
        String padding = filled(pad, length - text.length());
        String kept = text.substring(0, Math.min(text.length(), length));
        return UTF8String.fromString(left ? padding + kept : kept + padding);
    }

    private static String filled(String pad, int length) {
        return length <= 0 ? "" : pad.repeat(length / pad.length()) + pad.substring(0, length % pad.length());
    }

    /**
     * SUBSTRING: so many characters from a position; from the end where negative, nothing where that is before the
     * beginning.
     */
    @SqlFunction
    public static UTF8String substring(UTF8String text, int start, int length) {
        if (length < 0) {
            return null;
        }
        // Spark copies as many bytes as the first byte of a character tells, whether they are there or not.
        UTF8String valid = text.makeValid();
        return start < 0 && -(long) start > valid.numChars()
                ? UTF8String.EMPTY_UTF8
                : valid.substringSQL(start, length);
    }

    /** OVERLAY: a part replaced by another text; unchanged where the part begins outside. */
    @SqlFunction
    public static UTF8String overlay(UTF8String text, UTF8String part, long start, long length) {
        String whole = text.toString();
        if (start <= 0 || start > whole.length()) {
            return text;
        }
        // Not start + length, which may be beyond all numbers.
        String behind =
                length > 0 && length <= whole.length() - start ? whole.substring((int) (start - 1 + length)) : "";
        return UTF8String.fromString(whole.substring(0, (int) start - 1) + part + behind);
    }

    /**
     * INSTR: where the n-th occurrence begins that is found from a position on, backwards from the end where it is
     * negative; 0 if nowhere.
     */
    @SqlFunction
    public static Integer instr(UTF8String text, UTF8String part, int start, int occurrence) {
        if (occurrence <= 0) {
            throw Failure.of("nthAppearance must be positive!");
        }
        if (start >= 0) {
            return start == 0 ? 0 : forwards(text, part, start, occurrence);
        }
        int found = forwards(text.reverse(), part.reverse(), -start, occurrence);
        return found == 0 ? 0 : text.numChars() + 2 - found - part.numChars();
    }

    private static int forwards(UTF8String text, UTF8String part, int start, int occurrence) {
        int found = start - 1;
        for (int i = 0; i < occurrence; i++) {
            found = text.indexOf(part, found) + 1;
            if (found == 0) {
                return 0;
            }
        }
        return found;
    }

    /** REPLACE: each occurrence replaced; an empty text occurs between all characters and at both ends. */
    @SqlFunction
    public static UTF8String replace(UTF8String text, UTF8String search, UTF8String replacement) {
        return UTF8String.fromString(text.toString().replace(search.toString(), replacement.toString()));
    }

    /**
     * TRANSLATE: each character of one text replaced by that of another at the same place, or dropped where there is
     * none.
     */
    @SqlFunction
    public static UTF8String translate(UTF8String text, UTF8String from, UTF8String to) {
        int[] sought = from.toString().codePoints().toArray();
        int[] others = to.toString().codePoints().toArray();
        StringBuilder out = new StringBuilder();
        text.toString().codePoints().forEach(c -> {
            int i = 0;
            while (i < sought.length && sought[i] != c) {
                i++;
            }
            if (i == sought.length) {
                out.appendCodePoint(c);
            } else if (i < others.length) {
                out.appendCodePoint(others[i]);
            }
        });
        return UTF8String.fromString(out.toString());
    }

    /** INITCAP: each run of ASCII letters and digits with a capital; no other letters change. */
    @SqlFunction
    public static UTF8String initcap(UTF8String text) {
        byte[] bytes = text.getBytes().clone();
        boolean inside = false;
        for (int i = 0; i < bytes.length; i++) {
            byte b = bytes[i];
            boolean upper = b >= 'A' && b <= 'Z';
            boolean lower = b >= 'a' && b <= 'z';
            if (inside ? upper : lower) {
                bytes[i] ^= 0x20;
            }
            inside = upper || lower || (b >= '0' && b <= '9');
        }
        return UTF8String.fromBytes(bytes);
    }

    /** ASCII: the first byte, signed. */
    @SqlFunction
    public static Integer ascii(UTF8String text) {
        return text.numBytes() == 0 ? 0 : (int) text.getByte(0);
    }

    /**
     * SPLIT_INDEX: the part of an index between delimiters, of which an empty one is white space; an empty text has no
     * parts.
     */
    @SqlFunction
    public static UTF8String splitIndex(UTF8String text, UTF8String delimiter, int index) {
        if (delimiter.numBytes() == 0) {
            return spaced(text, index);
        }
        return index < 0 || text.numBytes() == 0 ? null : part(text.getBytes(), delimiter.getBytes(), index);
    }

    /** SPLIT_INDEX by a character's code, which is at most 255. */
    @SqlFunction
    public static UTF8String splitIndexByCode(UTF8String text, int code, int index) {
        return code < 1 || code > 255
                ? null
                : splitIndex(text, UTF8String.fromString(String.valueOf((char) code)), index);
    }

    private static UTF8String spaced(UTF8String text, int index) {
        String[] parts = StringUtils.splitPreserveAllTokens(text.toString());
        return index < 0 || index >= parts.length ? null : UTF8String.fromString(parts[index]);
    }

    /** Among UTF-8 bytes, those of a character are found only where the character is. */
    private static UTF8String part(byte[] text, byte[] delimiter, int index) {
        int begin = 0;
        int count = 0;
        for (int i = 0; i <= text.length - delimiter.length; ) {
            if (!startsAt(text, i, delimiter)) {
                i++;
            } else if (count == index) {
                return UTF8String.fromBytes(text, begin, i - begin);
            } else {
                count++;
                i += delimiter.length;
                begin = i;
            }
        }
        return count == index ? UTF8String.fromBytes(text, begin, text.length - begin) : null;
    }

    private static boolean startsAt(byte[] text, int place, byte[] delimiter) {
        for (int i = 0; i < delimiter.length; i++) {
            if (text[place + i] != delimiter[i]) {
                return false;
            }
        }
        return true;
    }

    /** IS_ALPHA: whether all UTF-16 units are letters. */
    @SqlFunction
    public static Boolean isAlpha(UTF8String text) {
        return text.numBytes() > 0 && text.toString().chars().allMatch(Character::isLetter);
    }

    /** IS_DIGIT: whether all UTF-16 units are digits. */
    @SqlFunction
    public static Boolean isDigit(UTF8String text) {
        return text.numBytes() > 0 && text.toString().chars().allMatch(Character::isDigit);
    }

    /** IS_DECIMAL: whether Java reads it as a number. */
    @SqlFunction
    public static Boolean isDecimal(UTF8String text) {
        try {
            Double.parseDouble(text.toString());
            return true;
        } catch (NumberFormatException e) {
            return false;
        }
    }

    /** FROM_BASE64: the text of UTF-8 bytes in base 64. */
    @SqlFunction
    public static UTF8String fromBase64(UTF8String text) {
        try {
            return UTF8String.fromBytes(Base64.getDecoder().decode(text.getBytes()));
        } catch (IllegalArgumentException e) {
            throw Failure.of("'" + text + "' is not in base 64: " + e.getMessage());
        }
    }
}
