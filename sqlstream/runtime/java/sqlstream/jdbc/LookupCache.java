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
final class LookupCache implements Serializable {
    // Those of queries that run no more go.
    private static final Cache<String, Cache<UnsafeRow, List<UnsafeRow>>> CACHES =
            CacheBuilder.newBuilder().expireAfterAccess(Duration.ofHours(1)).build();

    private final String id = UUID.randomUUID().toString();
    private final Lookup how;

    LookupCache(Lookup how) {
        this.how = how;
    }

    /** The rows that are kept for a key; null where there is nothing. */
    List<UnsafeRow> get(UnsafeRow key) {
        return here().getIfPresent(key);
    }

    void put(UnsafeRow key, List<UnsafeRow> rows) {
        if (how.misses() || !rows.isEmpty()) {
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
        if (how.maxKeys() != null) {
            // One segment: else each has a share of the limit, and evicts by itself.
            builder.maximumSize(how.maxKeys()).concurrencyLevel(1);
        }
        if (how.afterWriteMs() != null) {
            builder.expireAfterWrite(Duration.ofMillis(how.afterWriteMs()));
        }
        if (how.afterAccessMs() != null) {
            builder.expireAfterAccess(Duration.ofMillis(how.afterAccessMs()));
        }
        return builder.build();
    }
}
