package acme;

import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.InputGroup;
import org.apache.flink.table.functions.ScalarFunction;

/** What class a value has. */
public class Any extends ScalarFunction {
    public String eval(@DataTypeHint(inputGroup = InputGroup.ANY) Object value) {
        return value == null ? "null" : value.getClass().getSimpleName() + " " + value;
    }
}
