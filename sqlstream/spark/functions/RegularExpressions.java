package sqlstream;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.apache.spark.unsafe.types.UTF8String;

/** Functions of regular expressions that give NULL or FALSE for a pattern that is none, where Spark fails. */
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

    /** REGEXP_EXTRACT: what the group matches; NULL without a match, without the group, or by a pattern that is none. */
    @SqlFunction
    public static UTF8String regexpExtract(UTF8String text, UTF8String pattern, int group) {
        Matcher matcher = matcher(text, pattern);
        boolean found = matcher != null && group >= 0 && group <= matcher.groupCount() && matcher.find();
        return found ? UTF8String.fromString(matcher.group(group)) : null;
    }

    /** Of a pattern that is none, null. */
    private static Matcher matcher(UTF8String text, UTF8String pattern) {
        Pattern compiled = PATTERNS.of(pattern);
        return compiled == null ? null : compiled.matcher(text.toString());
    }
}
