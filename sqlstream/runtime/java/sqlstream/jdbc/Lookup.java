package sqlstream.jdbc;

import java.io.Serializable;

/**
 * How a database's table is queried for the rows of keys.
 *
 * @param cached whether what was found is kept
 * @param maxKeys of how many keys; null for no limit, here and for times
 * @param afterWriteMs for how long after it was found
 * @param afterAccessMs for how long after it was used
 * @param misses whether keys that have no row are kept too
 * @param retries how often a request that failed is tried again
 */
record Lookup(boolean cached, Long maxKeys, Long afterWriteMs, Long afterAccessMs, boolean misses, int retries)
        implements Serializable {}
