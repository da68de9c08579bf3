package sqlstream.watermark;

import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import sqlstream.catalyst.Scala;

/**
 * The splits of a source by their names, numbered from 0 in the order in which they were found. More can be found while
 * the query runs, on the driver, before rows of theirs are read: tasks have the splits of their micro-batch.
 */
public final class SourceSplits implements Serializable {
    private static final long serialVersionUID = 1;

    private final List<String> names = new CopyOnWriteArrayList<>();
    private final Map<String, Integer> numbers = new ConcurrentHashMap<>();
    private final List<Long> found = new CopyOnWriteArrayList<>();
    // The split of the last row, in a task.
    private transient UTF8String topic;
    private transient int partition;
    private transient int number;

    public SourceSplits(List<String> names) {
        names.forEach(this::add);
    }

    /** Numbers the split {@code name}, if it has no number yet. */
    public synchronized void add(String name) {
        if (numbers.putIfAbsent(name, names.size()) == null) {
            found.add(System.currentTimeMillis());
            names.add(name);
        }
    }

    int count() {
        return names.size();
    }

    String name(int number) {
        return names.get(number);
    }

    public boolean has(String name) {
        return numbers.containsKey(name);
    }

    /** When the split was found, in milliseconds since 1970. */
    long since(int number) {
        return found.get(number);
    }

    /** The number of a record's split as a column, from those of its topic and partition. */
    public Column number(Column topic, Column partition) {
        List<AbstractDataType> types = List.of(DataTypes.StringType, DataTypes.IntegerType);
        return Scala.column(this, "numberOf", DataTypes.IntegerType, List.of(topic, partition), types, true);
    }

    /** The number of the split of a record of this topic and partition. */
    public int numberOf(UTF8String topic, int partition) {
        if (partition != this.partition || !topic.equals(this.topic)) {
            number = numbers.get(topic + "-" + partition);
            this.topic = topic.clone();
            this.partition = partition;
        }
        return number;
    }
}
