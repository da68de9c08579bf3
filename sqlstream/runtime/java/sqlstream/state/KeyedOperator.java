package sqlstream.state;

import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.types.StructType;

/** An operator that sees the rows of one key at a time and keeps a state for it, whose layouts it names. */
public abstract class KeyedOperator extends StatefulProcessor<InternalRow, InternalRow, InternalRow> {
    private Map<String, Integer> versions = Map.of();

    /** The layouts of what is kept, the operator's own first. */
    public abstract List<Layout> layouts();

    /** The aggregates whose buffers are all that is kept of a key; null where more is kept, or something else. */
    public Aggregate aggregates() {
        return null;
    }

    /** On what the state depends besides the layouts and the types of the rows, in words; nothing where that is all. */
    public String dependsOn() {
        return "";
    }

    /**
     * Says what the state keeps of a key.
     *
     * @param table has the key's columns
     * @param rows the columns of the frame whose rows the operator gets
     */
    public abstract void describe(StateTable table, StructType rows);

    /** Says which versions of layouts the state has: on the driver, before tasks get the operator. */
    public void reads(Map<String, Integer> versions) {
        this.versions = Map.copyOf(versions);
    }

    /**
     * The version of {@code layout} that the state has, which is to be read and written: known when {@code init} is
     * called on a task.
     */
    protected final int version(Layout layout) {
        return versions.getOrDefault(layout.name(), layout.version());
    }
}
