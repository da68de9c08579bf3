package acme;

import org.apache.flink.table.functions.ScalarFunction;

/** A text in upper case. */
public class Up extends ScalarFunction {
    public String eval(String text) {
        return text == null ? "none" : text.toUpperCase();
    }
}
