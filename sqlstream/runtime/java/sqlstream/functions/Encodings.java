package sqlstream.functions;

import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLDecoder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.apache.spark.unsafe.types.UTF8String;

/** Functions of character sets, URLs and internet addresses. */
public final class Encodings {
    private static final Compiled<Charset> CHARSETS = new Compiled<>(name -> {
        try {
            return Charset.forName(name);
        } catch (IllegalArgumentException e) {
            return null;
        }
    });
    // What Flink parses with. Java 20 advises against it, and has nothing else that takes the same texts. On 17
    // a compiler calls the suppression of just that warning needless.
    @SuppressWarnings("all")
    private static final Compiled<URL> URLS = new Compiled<>(text -> {
        try {
            return new URL(text);
        } catch (MalformedURLException e) {
            return null;
        }
    });

    private Encodings() {}

    /** ENCODE: the bytes of a text in a character set. */
    @SqlFunction
    public static byte[] encode(UTF8String text, UTF8String charset) {
        return text.toString().getBytes(charset(charset));
    }

    /** DECODE: the text of bytes in a character set. */
    @SqlFunction
    public static UTF8String decode(byte[] bytes, UTF8String charset) {
        return UTF8String.fromString(new String(bytes, charset(charset)));
    }

    private static Charset charset(UTF8String name) {
        Charset found = CHARSETS.of(name);
        if (found == null) {
            throw Failure.of("Unsupported encoding: " + name + ".");
        }
        return found;
    }

    /** PARSE_URL: a part of a URL; NULL of what is none. */
    @SqlFunction
    public static UTF8String parseUrl(UTF8String text, UTF8String part) {
        URL url = URLS.of(text);
        return url == null ? null : UTF8String.fromString(part(url, part.toString()));
    }

    private static String part(URL url, String part) {
        switch (part) {
            case "HOST":
                return url.getHost();
            case "PATH":
                return url.getPath();
            case "QUERY":
                return url.getQuery();
            case "REF":
                return url.getRef();
            case "PROTOCOL":
                return url.getProtocol();
            case "FILE":
                return url.getFile();
            case "AUTHORITY":
                return url.getAuthority();
            case "USERINFO":
                return url.getUserInfo();
            default:
                return null;
        }
    }

    /** PARSE_URL: a parameter of a URL's query. */
    @SqlFunction
    public static UTF8String parseUrlParameter(UTF8String text, UTF8String part, UTF8String key) {
        URL url = part.toString().equals("QUERY") ? URLS.of(text) : null;
        if (url == null || url.getQuery() == null) {
            return null;
        }
        String start = key + "=";
        for (String parameter : url.getQuery().split("&", -1)) {
            if (parameter.startsWith(start)) {
                return UTF8String.fromString(parameter.substring(start.length()));
            }
        }
        return null;
    }

    /** URL_DECODE: a URL's escapes undone; NULL where they are wrong. */
    @SqlFunction
    public static UTF8String urlDecode(UTF8String text) {
        try {
            return UTF8String.fromString(URLDecoder.decode(text.toString(), StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /** INET_ATON: the number of an IPv4 address, of which parts in the middle may be missing; NULL of what is none. */
    @SqlFunction
    public static Long inetAton(UTF8String address) {
        String[] parts = address.toString().split("\\.", -1);
        long number = 0;
        for (int i = 0; i < parts.length; i++) {
            long part = number(parts[i]);
            if (part < 0 || i > 3) {
                return null;
            }
            number |= part << (i < parts.length - 1 ? 24 - 8 * i : 0);
        }
        return number;
    }

    /** What ASCII digits say, -1 above 255 or where there is something else. */
    private static long number(String digits) {
        long value = digits.isEmpty() ? -1 : 0;
        for (int i = 0; i < digits.length() && value >= 0; i++) {
            int digit = digits.charAt(i) - '0';
            value = digit < 0 || digit > 9 || value * 10 + digit > 255 ? -1 : value * 10 + digit;
        }
        return value;
    }

    /** INET_NTOA: the IPv4 address of a number. */
    @SqlFunction
    public static UTF8String inetNtoa(long number) {
        if (number < 0 || number > 0xFFFFFFFFL) {
            return null;
        }
        return UTF8String.fromString(
                (number >> 24) + "." + (number >> 16 & 255) + "." + (number >> 8 & 255) + "." + (number & 255));
    }

    /** TO_BASE64: without line breaks. */
    @SqlFunction
    public static UTF8String toBase64(byte[] bytes) {
        return UTF8String.fromBytes(java.util.Base64.getEncoder().encode(bytes));
    }
}
