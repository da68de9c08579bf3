package acme;

import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.ScalarFunction;

/** A parameter of the job, read when it is opened, and how often it was called. */
public class Opened extends ScalarFunction {
    private transient String greeting;
    private transient int calls;

    @Override
    public void open(FunctionContext context) {
        greeting = context.getJobParameter("greeting", "none");
    }

    public String eval(String name) {
        if (name.equals("bad")) {
            throw new IllegalArgumentException("no '" + name + "' is known");
        }
        return greeting + " " + name + " " + (++calls > 0);
    }

    @Override
    public boolean isDeterministic() {
        return false;
    }
}
