package acme;

import java.util.concurrent.CompletableFuture;
import org.apache.flink.table.functions.AsyncScalarFunction;

/** A value that comes later. */
public class Later extends AsyncScalarFunction {
    public void eval(CompletableFuture<Integer> result, Integer value) {
        new Thread(() -> result.complete(value + 1)).start();
    }
}
