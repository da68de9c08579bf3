package sqlstream.functions;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.unsafe.types.UTF8String;

/** Functions of regular expressions; most give NULL or FALSE for a pattern that is none, where Spark fails. */
public final class RegularExpressions {
    private static final Compiled<Pattern> PATTERNS = new Compiled<>(text -> {
        try {
            return Pattern.compile(text);
        } catch (PatternSyntaxException e) {
            return null;
        }
    });

    private RegularExpressions() {}

    /** REGEXP: whether a part of the text matches. */
    @SqlFunction
    public static Boolean regexp(UTF8String text, UTF8String pattern) {
        Matcher matcher = matcher(text, pattern);
        return pattern.numBytes() != 0 && matcher != null && matcher.find();
    }

    /**
     * REGEXP_EXTRACT: what the group matches; NULL without a match, without the group, or by a pattern that is none.
     */
    @SqlFunction
    public static UTF8String regexpExtract(UTF8String text, UTF8String pattern, int group) {
        Matcher matcher = matcher(text, pattern);
        boolean found = matcher != null && group >= 0 && group <= matcher.groupCount() && matcher.find();
        return found ? UTF8String.fromString(matcher.group(group)) : null;
    }

    /** REGEXP_REPLACE: each match replaced by a text that stands for itself. */
    @SqlFunction
    public static UTF8String regexpReplace(UTF8String text, UTF8String pattern, UTF8String replacement) {
        Matcher matcher = matcher(text, pattern);
        return matcher == null
                ? null
                : UTF8String.fromString(matcher.replaceAll(Matcher.quoteReplacement(replacement.toString())));
    }

    /** REGEXP_COUNT: how often it matches. */
    @SqlFunction
    public static Integer regexpCount(UTF8String text, UTF8String pattern) {
        Matcher matcher = matcher(text, pattern);
        if (matcher == null) {
            return null;
        }
        int count = 0;
        while (matcher.find()) {
            count++;
        }
        return count;
    }

    /**
     * REGEXP_EXTRACT_ALL: what the group matches, for each match; a number beyond INT is not that of a group, where
     * REGEXP_EXTRACT takes its lower half.
     */
    @SqlFunction(type = "ARRAY<STRING>")
    public static ArrayData regexpExtractAll(UTF8String text, UTF8String pattern, long group) {
        Matcher matcher = matcher(text, pattern);
        if (matcher == null || group < 0 || group > matcher.groupCount()) {
            return null;
        }
        List<UTF8String> found = new ArrayList<>();
        while (matcher.find()) {
            found.add(UTF8String.fromString(matcher.group((int) group)));
        }
        return new GenericArrayData(found.toArray());
    }

    /** REGEXP_INSTR: where the first match begins, from 1; 0 without one. */
    @SqlFunction
    public static Integer regexpInstr(UTF8String text, UTF8String pattern) {
        Matcher matcher = matcher(text, pattern);
        if (matcher == null) {
            return null;
        }
        return matcher.find() ? matcher.start() + 1 : 0;
    }

    /** REGEXP_SUBSTR: the first match. */
    @SqlFunction
    public static UTF8String regexpSubstr(UTF8String text, UTF8String pattern) {
        return regexpExtract(text, pattern, 0);
    }

    /**
     * STR_TO_MAP: pairs of a text, parted by one regular expression, their keys and values by another; the order is
     * that of a hash map.
     */
    @SqlFunction(type = "MAP<STRING,STRING>")
    public static MapData strToMap(UTF8String text, UTF8String pairs, UTF8String values) {
        Map<String, String> found = new HashMap<>();
        if (text.numBytes() > 0) {
            Pattern inside = required(values);
            for (String pair : required(pairs).split(text.toString())) {
                String[] parts = inside.split(pair, 2);
                found.put(parts.length < 2 ? pair : parts[0], parts.length < 2 ? null : parts[1]);
            }
        }
        return new ArrayBasedMapData(
                array(found.keySet().toArray()), array(found.values().toArray()));
    }

    private static GenericArrayData array(Object[] texts) {
        for (int i = 0; i < texts.length; i++) {
            texts[i] = UTF8String.fromString((String) texts[i]);
        }
        return new GenericArrayData(texts);
    }

    private static Pattern required(UTF8String pattern) {
        Pattern compiled = PATTERNS.of(pattern);
        if (compiled == null) {
            throw Failure.of("'" + pattern + "' is not a regular expression.");
        }
        return compiled;
    }

    /** Of a pattern that is none, null. */
    private static Matcher matcher(UTF8String text, UTF8String pattern) {
        Pattern compiled = PATTERNS.of(pattern);
        return compiled == null ? null : compiled.matcher(text.toString());
    }
}
