package sqlstream.functions;

import java.util.Map;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.apache.spark.unsafe.types.UTF8String;

/** LIKE and SIMILAR TO as Java's regular expressions: % is any text, _ any character but a line break. */
public final class SqlPatterns {
    private static final UTF8String BETWEEN = UTF8String.fromString("\0");
    private static final String JAVA_SPECIAL = "[]()|^-+*?{}$\\.";
    private static final String SIMILAR_SPECIAL = "[]()|^-+*_%?{}";
    private static final Map<String, String> CLASSES = Map.of(
            "alpha",
            "\\p{Alpha}",
            "upper",
            "\\p{Upper}",
            "lower",
            "\\p{Lower}",
            "digit",
            "\\d",
            "space",
            " ",
            "whitespace",
            "\\s",
            "alnum",
            "\\p{Alnum}");

    private static final Compiled<Pattern> LIKE = new Compiled<>(key -> compiled(key, SqlPatterns::like));
    private static final Compiled<Pattern> SIMILAR = new Compiled<>(key -> compiled(key, SqlPatterns::similar));

    private SqlPatterns() {}

    /** LIKE; the escape is empty where there is none. */
    @SqlFunction
    public static Boolean like(UTF8String text, UTF8String pattern, UTF8String escape) {
        return LIKE.of(key(pattern, escape)).matcher(text.toString()).matches();
    }

    /** SIMILAR TO; the escape is empty where there is none. */
    @SqlFunction
    public static Boolean similarTo(UTF8String text, UTF8String pattern, UTF8String escape) {
        return SIMILAR.of(key(pattern, escape)).matcher(text.toString()).matches();
    }

    private static UTF8String key(UTF8String pattern, UTF8String escape) {
        return escape.numBytes() == 0 ? pattern : UTF8String.concat(pattern, BETWEEN, escape);
    }

    private interface Rewrite {
        /** The regular expression; an escape of -1 is none. */
        String of(String pattern, int escape);
    }

    private static Pattern compiled(String key, Rewrite rewrite) {
        int end = key.indexOf('\0');
        String escape = end < 0 ? "" : key.substring(end + 1);
        if (escape.length() > 1) {
            throw Failure.of("Invalid escape character '" + escape + "'");
        }
        try {
            return Pattern.compile(
                    rewrite.of(end < 0 ? key : key.substring(0, end), escape.isEmpty() ? -1 : escape.charAt(0)));
        } catch (PatternSyntaxException e) {
            throw Failure.of("Invalid regular expression '" + key + "'");
        }
    }

    private static String like(String pattern, int escape) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < pattern.length(); i++) {
            char c = pattern.charAt(i);
            if (c == escape) {
                char next = next(pattern, i++);
                if (next != '_' && next != '%' && next != escape) {
                    throw invalid(pattern, i);
                }
                literal(next, out);
            } else if (c == '_') {
                out.append('.');
            } else if (c == '%') {
                out.append("(?s:.*)");
            } else {
                literal(c, out);
            }
        }
        return out.toString();
    }

    private static String similar(String pattern, int escape) {
        StringBuilder out = new StringBuilder();
        boolean inside = false;
        for (int i = 0; i < pattern.length(); i++) {
            char c = pattern.charAt(i);
            if (c == escape) {
                char next = next(pattern, i++);
                if (next != escape && SIMILAR_SPECIAL.indexOf(next) < 0) {
                    throw invalid(pattern, i);
                }
                literal(next, out);
            } else if (inside && c == '[') {
                int end = pattern.indexOf(":]", i);
                String found = end < 0 || pattern.charAt(i + 1) != ':'
                        ? null
                        : CLASSES.get(pattern.substring(i + 2, end).toLowerCase(java.util.Locale.ROOT));
                if (found == null) {
                    throw Failure.of("Invalid regular expression '" + pattern + "'");
                }
                out.append(found);
                i = end + 1;
            } else if (c == '\\' || (!inside && (c == '$' || c == '^'))) {
                literal(c, out);
            } else if (!inside && c == '_') {
                out.append('.');
            } else if (!inside && c == '%') {
                out.append("(?s:.*)");
            } else {
                inside = c == '[' || (inside && c != ']');
                out.append(c);
            }
        }
        return out.toString();
    }

    private static void literal(char c, StringBuilder out) {
        if (JAVA_SPECIAL.indexOf(c) >= 0) {
            out.append('\\');
        }
        out.append(c);
    }

    private static char next(String pattern, int i) {
        if (i == pattern.length() - 1) {
            throw invalid(pattern, i);
        }
        return pattern.charAt(i + 1);
    }

    private static RuntimeException invalid(String pattern, int i) {
        return Failure.of("Invalid escape sequence '" + pattern + "', " + i);
    }
}
