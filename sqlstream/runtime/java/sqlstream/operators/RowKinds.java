package sqlstream.operators;

/** Kinds of rows as numbers, as Python's RowKind has them. */
final class RowKinds {
    static final String COLUMN = "__sqlstream_kind";
    static final byte INSERT = 0;
    static final byte UPDATE_BEFORE = 1;
    static final byte UPDATE_AFTER = 2;
    static final byte DELETE = 3;

    private RowKinds() {}

    /** Whether a row of this kind takes an earlier one away. */
    static boolean retracts(byte kind) {
        return kind == UPDATE_BEFORE || kind == DELETE;
    }
}
