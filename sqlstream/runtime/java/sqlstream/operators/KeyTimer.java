package sqlstream.operators;

import org.apache.spark.sql.streaming.StatefulProcessorHandle;

/**
 * The only timer of a key on Spark's list: an operator keeps for which moment, in milliseconds since 1970, it is there.
 */
final class KeyTimer {
    static final long NONE = Long.MIN_VALUE;

    private KeyTimer() {}

    /**
     * Moves the key's timer to another moment, or NONE. {@code fired}: Spark takes the one that is there off its list.
     */
    static void move(StatefulProcessorHandle handle, long from, long to, boolean fired) {
        if (from == to) {
            return;
        }
        if (from != NONE && !fired) {
            handle.deleteTimer(from);
        }
        if (to != NONE) {
            handle.registerTimer(to);
        }
    }
}
