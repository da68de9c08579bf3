package sqlstream.gateway;

import java.lang.reflect.Field;
import java.util.Deque;
import java.util.concurrent.locks.Lock;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent;
import py4j.CallbackClient;
import py4j.ClientServerConnection;
import py4j.GatewayServer;
import py4j.Py4JClientConnection;

/**
 * Closes connections to Python that nobody needs any more. Py4J opens one for each thread that calls Python, as that of
 * a streaming query does for its micro-batches, and closes none: of each query that has ended a socket would be left
 * here, and a socket and a thread at Python's end.
 */
public final class Callbacks extends SparkListener {
    private final GatewayServer server;

    private Callbacks(GatewayServer server) {
        this.server = server;
    }

    /** Close them whenever a streaming query of {@code spark} has ended. */
    public static void closeWhenQueriesEnd(SparkContext spark, GatewayServer server) {
        spark.addSparkListener(new Callbacks(server));
    }

    @Override
    public void onOtherEvent(SparkListenerEvent event) {
        if (event instanceof QueryTerminatedEvent && server.getCallbackClient() instanceof CallbackClient client) {
            closeUnused(client);
        }
    }

    /**
     * Closes those in which no call is under way. Whose thread lives gets another with its next call. Those that Python
     * opened stay: by them it waits for an answer of ours.
     */
    private static void closeUnused(CallbackClient client) {
        @SuppressWarnings("unchecked")
        var unused = (Deque<Py4JClientConnection>) field(client, "connections");
        Lock lock = (Lock) field(client, "lock");
        lock.lock();
        try {
            unused.removeIf(connection -> {
                boolean ours = connection instanceof ClientServerConnection each && each.isInitiatedFromClient();
                if (ours) {
                    connection.shutdown();
                }
                return ours;
            });
        } finally {
            lock.unlock();
        }
    }

    private static Object field(CallbackClient client, String name) {
        try {
            Field field = CallbackClient.class.getDeclaredField(name);
            field.setAccessible(true);
            return field.get(client);
        } catch (ReflectiveOperationException absent) {
            throw new IllegalStateException(absent);
        }
    }
}
