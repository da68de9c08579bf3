package sqlstream.functions;

import java.math.BigDecimal;
import java.math.RoundingMode;

/** Functions of numbers, by Java's Math: Spark takes StrictMath, or has NULL where Java has NaN and -Infinity. */
public final class Numbers {
    private Numbers() {}

    @SqlFunction
    public static Double exp(double x) {
        return Math.exp(x);
    }

    @SqlFunction
    public static Double power(double x, double y) {
        return Math.pow(x, y);
    }

    @SqlFunction
    public static Double ln(double x) {
        return Math.log(x);
    }

    @SqlFunction
    public static Double log10(double x) {
        return Math.log10(x);
    }

    @SqlFunction
    public static Double log2(double x) {
        return Math.log(x) / Math.log(2);
    }

    @SqlFunction
    public static Double log(double base, double x) {
        return Math.log(x) / Math.log(base);
    }

    /** CEIL: Spark's gives a BIGINT. */
    @SqlFunction
    public static Double ceil(double x) {
        return Math.ceil(x);
    }

    /** FLOOR: Spark's gives a BIGINT. */
    @SqlFunction
    public static Double floor(double x) {
        return Math.floor(x);
    }

    /** ROUND of a DOUBLE or FLOAT: half away from zero, of the digits that a DOUBLE shows. */
    @SqlFunction
    public static Double round(double x, int digits) {
        return cut(x, digits, RoundingMode.HALF_UP);
    }

    /** TRUNCATE of a DOUBLE or FLOAT. */
    @SqlFunction
    public static Double truncate(double x, int digits) {
        return cut(x, digits, RoundingMode.DOWN);
    }

    private static double cut(double x, int digits, RoundingMode mode) {
        if (Double.isNaN(x) || Double.isInfinite(x)) {
            throw Failure.of("Infinite or NaN");
        }
        return cut(BigDecimal.valueOf(x), digits, mode).doubleValue();
    }

    private static BigDecimal cut(BigDecimal x, int digits, RoundingMode mode) {
        if (digits >= x.scale()) {
            return x;
        }
        return digits < x.scale() - x.precision() - 1 ? BigDecimal.ZERO : x.setScale(digits, mode);
    }

    /** ROUND of a whole number, which may wrap. */
    @SqlFunction
    public static Long roundWhole(long x, int digits) {
        return cut(BigDecimal.valueOf(x), digits, RoundingMode.HALF_UP).longValue();
    }

    /** TRUNCATE of a whole number. */
    @SqlFunction
    public static Long truncateWhole(long x, int digits) {
        return cut(BigDecimal.valueOf(x), digits, RoundingMode.DOWN).longValue();
    }
}
