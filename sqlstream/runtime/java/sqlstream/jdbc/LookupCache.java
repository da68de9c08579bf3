package sqlstream.jdbc;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/** The rows of keys that a lookup join keeps, once in each executor. */
public final class LookupCache implements Serializable {
    // Those of queries that run no more go.
    private static final Cache<String, Cache<UnsafeRow, List<UnsafeRow>>> CACHES =
            CacheBuilder.newBuilder().expireAfterAccess(Duration.ofHours(1)).build();

    private final String id = UUID.randomUUID().toString();
    private final long keys;
    private final long afterWrite;
    private final long afterAccess;
    private final boolean misses;

    /**
     * How many keys are kept, and for how many milliseconds; -1 for no limit. {@code misses}: also keys that have no
     * row.
     */
    public LookupCache(long keys, long afterWrite, long afterAccess, boolean misses) {
        this.keys = keys;
        this.afterWrite = afterWrite;
        this.afterAccess = afterAccess;
        this.misses = misses;
    }

    /** The rows that are kept for a key; null where there is nothing. */
    List<UnsafeRow> get(UnsafeRow key) {
        return here().getIfPresent(key);
    }

    void put(UnsafeRow key, List<UnsafeRow> rows) {
        if (misses || !rows.isEmpty()) {
            here().put(key, rows);
        }
    }

    private Cache<UnsafeRow, List<UnsafeRow>> here() {
        try {
            return CACHES.get(id, this::fresh);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private Cache<UnsafeRow, List<UnsafeRow>> fresh() {
        CacheBuilder<Object, Object> builder = CacheBuilder.newBuilder();
        if (keys >= 0) {
            // One segment: else each has a share of the limit, and evicts by itself.
            builder.maximumSize(keys).concurrencyLevel(1);
        }
        if (afterWrite >= 0) {
            builder.expireAfterWrite(Duration.ofMillis(afterWrite));
        }
        if (afterAccess >= 0) {
            builder.expireAfterAccess(Duration.ofMillis(afterAccess));
        }
        return builder.build();
    }
}
