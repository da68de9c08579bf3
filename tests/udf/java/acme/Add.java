package acme;

import java.util.Arrays;
import org.apache.flink.table.functions.ScalarFunction;

/** Overloads, of primitive types too, and any number of arguments. */
public class Add extends ScalarFunction {
    public int eval(int a, int b) {
        return a + b;
    }

    public Long eval(Long a, Long b) {
        return a == null || b == null ? null : a + b;
    }

    public String eval(String... parts) {
        return Arrays.toString(parts);
    }
}
