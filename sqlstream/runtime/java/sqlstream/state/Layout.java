package sqlstream.state;

import java.io.Serializable;

/**
 * What the bytes in a state are: of an operator's own values, or of a container. {@link StateSchema} writes the layouts
 * of a state beside it.
 *
 * <p>To change a layout, give it the next version here. A state keeps the version that it began with: what reads and
 * writes the bytes asks {@link KeyedOperator#version} which that is, and so continues with a state of an earlier
 * release. Names stay what they are when classes are renamed.
 */
public record Layout(String name, int version) implements Serializable {
    // Operators: their own values, and which states they have.
    public static final Layout KEYED_AGGREGATE = new Layout("KeyedAggregate", 1);
    public static final Layout KEYED_JOIN = new Layout("KeyedJoin", 1);
    public static final Layout KEYED_RANK = new Layout("KeyedRank", 1);
    public static final Layout CHANGELOG_NORMALIZE = new Layout("Normalize", 1);
    public static final Layout INTERVAL_JOIN = new Layout("IntervalJoin", 1);
    public static final Layout TEMPORAL_JOIN = new Layout("TemporalJoin", 1);
    public static final Layout OVER_AGGREGATE = new Layout("OverAggregate", 1);
    public static final Layout OVER_AGGREGATE_BY_ARRIVAL = new Layout("Arriving", 1);
    public static final Layout FIRST_ROW = new Layout("FirstRow", 1);
    public static final Layout TEMPORAL_SORT = new Layout("TimeSort", 1);
    public static final Layout PATTERN_MATCH = new Layout("PatternMatch", 1);
    public static final Layout STATE_TTL = new Layout("Expiring", 1);

    // Containers of rows and values.
    public static final Layout ROW_LISTS = new Layout("KeptRows", 1);
    public static final Layout EVENT_TIME_BUFFER = new Layout("WaitingRows", 1);
    public static final Layout JOIN_BUFFER = new Layout("TimedRows", 1);
    public static final Layout NUMBERED_ROWS = new Layout("NumberedRows", 1);
    public static final Layout SLIDING_FRAME = new Layout("SlidingFrame", 1);
    public static final Layout VALUE_COUNTS = new Layout("ValueCounts", 1);

    // Buffers of aggregate functions.
    public static final Layout ACCUMULATED = new Layout("Accumulated", 1);

    @Override
    public String toString() {
        return name + " " + version;
    }
}
