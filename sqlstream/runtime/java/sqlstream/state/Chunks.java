package sqlstream.state;

import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;

/**
 * Bytes of a key by their number, in a state of their own: what of its rows is not read and written with each
 * micro-batch.
 */
final class Chunks {
    /** The bytes of no row. */
    static final byte[] NONE = new byte[0];
    /** So many bytes that an open chunk goes to the state. */
    static final int FULL = 1 << 16;

    private final MapState<Long, byte[]> state;

    Chunks(StatefulProcessorHandle handle, String name) {
        state = handle.getMapState(name, Encoders.LONG(), Encoders.BINARY(), TTLConfig.NONE());
    }

    byte[] get(long number) {
        return state.getValue(number);
    }

    void put(long number, byte[] bytes) {
        state.updateValue(number, bytes);
    }

    void remove(long number) {
        state.removeKey(number);
    }

    void clear() {
        state.clear();
    }
}
