package sqlstream.monitor;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;

/**
 * Spark's status store hears of work by a queue, and so later than whoever waits for the work. To have all of what has
 * ended counted, an event of ours is sent after it.
 */
final class StatusEvents extends SparkListener {
    private static final long WAIT_MS = 5_000;

    private final CountDownLatch heard = new CountDownLatch(1);
    private final Mark mark = new Mark();

    /** Returns when the status store knows of all that has happened by now, after five seconds at the latest. */
    static void await(SparkContext context) {
        StatusEvents events = new StatusEvents();
        context.listenerBus().addToStatusQueue(events);
        try {
            context.listenerBus().post(events.mark);
            events.heard.await(WAIT_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        } finally {
            context.listenerBus().removeListener(events);
        }
    }

    @Override
    public void onOtherEvent(SparkListenerEvent event) {
        if (event == mark) {
            heard.countDown();
        }
    }

    private static final class Mark implements SparkListenerEvent {
        @Override
        public boolean logEvent() {
            return false;
        }
    }
}
