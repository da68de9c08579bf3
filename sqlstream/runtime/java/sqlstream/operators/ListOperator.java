package sqlstream.operators;

import sqlstream.state.KeyedOperator;
import sqlstream.state.RowLists;

/** An operator whose state of a key is lists of rows. */
abstract class ListOperator extends KeyedOperator implements StateTtl.Clearable, ArrivalOrder {
    /** Which column of its input has the kind of a row; -1 where all are inserts. */
    protected final int kind;

    /** Made by {@code init}. */
    protected transient RowLists kept;

    ListOperator(int kind) {
        this.kind = kind;
    }

    @Override
    public final boolean byArrival() {
        return kind >= 0;
    }

    @Override
    public final void clearKey() {
        kept.load();
        kept.clear();
    }
}
