package acme;

import org.apache.flink.table.functions.ScalarFunction;

/** A primitive parameter, and none at all. */
public class Small extends ScalarFunction {
    public int eval() {
        return 42;
    }

    public short eval(short value) {
        return (short) (value + 1);
    }
}
