package sqlstream.gateway;

import org.apache.spark.api.python.PythonGatewayServer;

/** Spark's gateway for Python, in a JVM whose threads look classes up through {@link Misses}. */
public final class Gateway {
    private Gateway() {}

    /** Runs it: what Spark starts from here on has this thread's class loader, tasks and streams included. */
    public static void main(String[] arguments) {
        Thread.currentThread().setContextClassLoader(new Misses(Gateway.class.getClassLoader()));
        PythonGatewayServer.main(arguments);
    }
}
