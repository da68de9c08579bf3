package sqlstream.files;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.InMemoryFileIndex;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The files of a folder as they are each time it is read. Spark's own index knows those that were there when a query
 * began.
 */
public final class LatestFiles implements FileIndex {
    private final FileIndex files;

    private LatestFiles(FileIndex files) {
        this.files = files;
    }

    /** {@code frame} with every folder that it reads listed anew each time: for each micro-batch of a query. */
    public static Dataset<Row> of(Dataset<Row> frame) {
        var rows = (org.apache.spark.sql.classic.Dataset<Row>) frame;
        return Dataset$.MODULE$.ofRows(
                rows.sparkSession(), latest(rows.queryExecution().analyzed()));
    }

    private static LogicalPlan latest(LogicalPlan plan) {
        if (plan instanceof LogicalRelation leaf
                && leaf.relation() instanceof HadoopFsRelation folder
                && folder.location() instanceof InMemoryFileIndex index) {
            HadoopFsRelation fresh = folder.copy(
                    new LatestFiles(index),
                    folder.partitionSchema(),
                    folder.dataSchema(),
                    folder.bucketSpec(),
                    folder.fileFormat(),
                    folder.options(),
                    folder.sparkSession());
            return leaf.copy(fresh, leaf.output(), leaf.catalogTable(), leaf.isStreaming(), leaf.stream());
        }
        List<LogicalPlan> inputs = new ArrayList<>();
        for (LogicalPlan input : CollectionConverters.asJava(plan.children())) {
            inputs.add(latest(input));
        }
        return inputs.isEmpty() ? plan : (LogicalPlan) plan.withNewChildren(PythonUtils.toSeq(inputs));
    }

    @Override
    public Seq<Path> rootPaths() {
        return files.rootPaths();
    }

    @Override
    public Seq<PartitionDirectory> listFiles(Seq<Expression> partitionFilters, Seq<Expression> dataFilters) {
        files.refresh();
        return files.listFiles(partitionFilters, dataFilters);
    }

    @Override
    public String[] inputFiles() {
        return files.inputFiles();
    }

    @Override
    public void refresh() {
        files.refresh();
    }

    @Override
    public long sizeInBytes() {
        return files.sizeInBytes();
    }

    @Override
    public StructType partitionSchema() {
        return files.partitionSchema();
    }
}
