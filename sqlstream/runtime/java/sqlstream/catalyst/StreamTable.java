package sqlstream.catalyst;

import java.io.Serializable;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** What Spark asks of a source that is read in micro-batches alone, besides its stream. */
public final class StreamTable implements SupportsRead {
    private final String name;
    private final StructType schema;
    private final Opening opening;

    /** Makes the stream of a source that keeps its place in the folder {@code checkpoint}. */
    public interface Opening extends Serializable {
        MicroBatchStream stream(CaseInsensitiveStringMap options, String checkpoint);
    }

    public StreamTable(String name, StructType schema, Opening opening) {
        this.name = name;
        this.schema = schema;
        this.opening = opening;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public StructType schema() {
        return schema;
    }

    @Override
    public Set<TableCapability> capabilities() {
        return Set.of(TableCapability.MICRO_BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
        return () -> new Scan() {
            @Override
            public StructType readSchema() {
                return schema;
            }

            @Override
            public MicroBatchStream toMicroBatchStream(String checkpoint) {
                return opening.stream(options, checkpoint);
            }
        };
    }
}
