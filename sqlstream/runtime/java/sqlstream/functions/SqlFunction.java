package sqlstream.functions;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A static method that Spark SQL can call: {@code jsonValue} as {@code sqlstream_json_value}.
 *
 * <p>Its parameters are of Spark's own classes (UTF8String, int, Long, Decimal, ArrayData, ...), its result is NULL
 * where it is null.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@interface SqlFunction {
    /** The result's type in Spark SQL, where the method's return type does not say it. */
    String type() default "";

    /** Whether it is called for NULLs too; else NULL for any argument gives NULL. */
    boolean nulls() default false;

    /** Whether it gives the same result for the same arguments. */
    boolean deterministic() default true;
}
