package sqlstream.functions;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * What a function makes of a text that is mostly constant (a pattern, a path): kept for the last texts of each thread.
 */
final class Compiled<V> {
    private static final int KEPT = 64;

    private final Function<String, V> compile;
    private final ThreadLocal<Map<UTF8String, V>> kept = ThreadLocal.withInitial(Last<V>::new);

    /** {@code compile} gives null for a text of which nothing can be made. */
    Compiled(Function<String, V> compile) {
        this.compile = compile;
    }

    V of(UTF8String text) {
        Map<UTF8String, V> known = kept.get();
        V value = known.get(text);
        if (value == null && !known.containsKey(text)) {
            value = compile.apply(text.toString());
            known.put(text.clone(), value);
        }
        return value;
    }

    private static final class Last<V> extends LinkedHashMap<UTF8String, V> {
        private static final long serialVersionUID = 1L;

        Last() {
            super(KEPT, 0.75f, true);
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<UTF8String, V> eldest) {
            return size() > KEPT;
        }
    }
}
