package sqlstream.state;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.streaming.ListState;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.QueryInfo;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.ValueState;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The state of one key, in memory. As with Spark's what is written and what is read are copies; rows that are iterated
 * over share one object.
 */
final class MemoryState implements StatefulProcessorHandle {
    private static final long serialVersionUID = 1;

    final Map<String, Object> values = new TreeMap<>();
    final Map<String, Map<Object, Object>> maps = new TreeMap<>();

    /** How many entries there are. */
    int size() {
        return values.size() + maps.values().stream().mapToInt(Map::size).sum();
    }

    @SuppressWarnings("unchecked")
    private static <T> T copy(T value) {
        if (value instanceof byte[] bytes) {
            return (T) bytes.clone();
        }
        return value instanceof UnsafeRow row ? (T) row.copy() : value;
    }

    private record Value<T>(MemoryState of, String name) implements ValueState<T> {
        @Override
        public boolean exists() {
            return of.values.containsKey(name);
        }

        @Override
        @SuppressWarnings("unchecked")
        public T get() {
            return (T) copy(of.values.get(name));
        }

        @Override
        public void update(T value) {
            of.values.put(name, copy(value));
        }

        @Override
        public void clear() {
            of.values.remove(name);
        }
    }

    private static final class Entries<K, V> implements MapState<K, V> {
        private static final long serialVersionUID = 1;

        private final Map<Object, Object> entries;

        private Entries(Map<Object, Object> entries) {
            this.entries = entries;
        }

        @Override
        public boolean exists() {
            return !entries.isEmpty();
        }

        @Override
        @SuppressWarnings("unchecked")
        public V getValue(K key) {
            return (V) copy(entries.get(key));
        }

        @Override
        public boolean containsKey(K key) {
            return entries.containsKey(key);
        }

        @Override
        public void updateValue(K key, V value) {
            entries.put(copy(key), copy(value));
        }

        @Override
        public scala.collection.Iterator<Tuple2<K, V>> iterator() {
            throw new UnsupportedOperationException();
        }

        @Override
        @SuppressWarnings("unchecked")
        public scala.collection.Iterator<K> keys() {
            Iterator<Object> keys = entries.keySet().iterator();
            return CollectionConverters.asScala(new Iterator<K>() {
                private UnsafeRow shared;

                @Override
                public boolean hasNext() {
                    return keys.hasNext();
                }

                @Override
                public K next() {
                    Object key = keys.next();
                    if (!(key instanceof UnsafeRow row)) {
                        return (K) key;
                    }
                    shared = shared == null ? new UnsafeRow(row.numFields()) : shared;
                    shared.pointTo(row.getBytes(), row.getSizeInBytes());
                    return (K) shared;
                }
            });
        }

        @Override
        public scala.collection.Iterator<V> values() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void removeKey(K key) {
            entries.remove(key);
        }

        @Override
        public void clear() {
            entries.clear();
        }
    }

    @Override
    public <T> ValueState<T> getValueState(String name, Encoder<T> encoder, TTLConfig ttl) {
        return new Value<>(this, name);
    }

    @Override
    public <T> ValueState<T> getValueState(String name, TTLConfig ttl, Encoder<T> encoder) {
        return new Value<>(this, name);
    }

    @Override
    public <K, V> MapState<K, V> getMapState(String name, Encoder<K> keys, Encoder<V> entries, TTLConfig ttl) {
        return new Entries<>(maps.computeIfAbsent(name, n -> new HashMap<>()));
    }

    @Override
    public <K, V> MapState<K, V> getMapState(String name, TTLConfig ttl, Encoder<K> keys, Encoder<V> entries) {
        return getMapState(name, keys, entries, ttl);
    }

    @Override
    public <T> ListState<T> getListState(String name, Encoder<T> encoder, TTLConfig ttl) {
        throw new UnsupportedOperationException();
    }

    @Override
    public <T> ListState<T> getListState(String name, TTLConfig ttl, Encoder<T> encoder) {
        throw new UnsupportedOperationException();
    }

    @Override
    public QueryInfo getQueryInfo() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void registerTimer(long moment) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void deleteTimer(long moment) {
        throw new UnsupportedOperationException();
    }

    @Override
    public scala.collection.Iterator<Object> listTimers() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void deleteIfExists(String name) {
        maps.remove(name);
        values.remove(name);
    }
}
