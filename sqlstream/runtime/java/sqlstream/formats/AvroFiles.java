package sqlstream.formats;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.avro.Schema;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.IndexedRecord;
import org.apache.avro.mapred.FsInput;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.spark.TaskContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.OutputWriter;
import org.apache.spark.sql.execution.datasources.OutputWriterFactory;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import org.apache.spark.util.TaskCompletionListener;
import scala.Function1;
import scala.Option;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;

/**
 * Files of Avro, with the option {@code schema} for the records' schema, by which files of others are read too, and
 * {@code codec}.
 */
public final class AvroFiles implements FileFormat {
    @Override
    public Option<StructType> inferSchema(SparkSession spark, Map<String, String> options, Seq<FileStatus> files) {
        return Option.empty();
    }

    @Override
    public boolean isSplitable(SparkSession spark, Map<String, String> options, Path path) {
        return true;
    }

    @Override
    public OutputWriterFactory prepareWrite(SparkSession spark, Job job, Map<String, String> options, StructType type) {
        return new Writers(
                CollectionConverters.asJava(options).get("schema"),
                CollectionConverters.asJava(options).get("codec"));
    }

    @Override
    public Function1<PartitionedFile, scala.collection.Iterator<InternalRow>> buildReader(
            SparkSession spark,
            StructType all,
            StructType partitions,
            StructType asked,
            Seq<Filter> filters,
            Map<String, String> options,
            Configuration configuration) {
        Broadcast<SerializableConfiguration> shared = spark.sparkContext()
                .broadcast(
                        new SerializableConfiguration(configuration),
                        ClassTag$.MODULE$.apply(SerializableConfiguration.class));
        return new Reader(CollectionConverters.asJava(options).get("schema"), asked, shared);
    }

    private static final class Reader extends AbstractFunction1<PartitionedFile, scala.collection.Iterator<InternalRow>>
            implements java.io.Serializable {
        private final String schema;
        private final StructType type;
        private final Broadcast<SerializableConfiguration> configuration;

        Reader(String schema, StructType type, Broadcast<SerializableConfiguration> configuration) {
            this.schema = schema;
            this.type = type;
            this.configuration = configuration;
        }

        @Override
        public scala.collection.Iterator<InternalRow> apply(PartitionedFile file) {
            try {
                Schema asked = AvroValues.project(new Schema.Parser().parse(schema), type);
                FsInput input = new FsInput(file.toPath(), configuration.value().value());
                DataFileReader<IndexedRecord> records =
                        new DataFileReader<>(input, new GenericDatumReader<>(null, asked));
                TaskContext.get().addTaskCompletionListener((TaskCompletionListener) context -> close(records));
                records.sync(file.start());
                return CollectionConverters.asScala(
                        new Rows(records, AvroValues.reader(type, asked), file.start() + file.length()));
            } catch (IOException problem) {
                throw new UncheckedIOException(problem);
            }
        }

        private static void close(DataFileReader<?> records) {
            try {
                records.close();
            } catch (IOException problem) {
                throw new UncheckedIOException(problem);
            }
        }
    }

    /** The rows of the blocks that begin before {@code end}. */
    private record Rows(DataFileReader<IndexedRecord> records, AvroValues.Rows values, long end)
            implements Iterator<InternalRow> {
        @Override
        public boolean hasNext() {
            try {
                return records.hasNext() && !records.pastSync(end);
            } catch (IOException problem) {
                throw new UncheckedIOException(problem);
            }
        }

        @Override
        public InternalRow next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            return values.row(records.next());
        }
    }

    private static final class Writers extends OutputWriterFactory {
        private final String schema;
        private final String codec;

        Writers(String schema, String codec) {
            this.schema = schema;
            this.codec = codec;
        }

        @Override
        public String getFileExtension(TaskAttemptContext context) {
            return ".avro";
        }

        @Override
        public OutputWriter newInstance(String path, StructType type, TaskAttemptContext context) {
            try {
                return new Writer(path, new Schema.Parser().parse(schema), codec, type, context.getConfiguration());
            } catch (IOException problem) {
                throw new UncheckedIOException(problem);
            }
        }
    }

    private static final class Writer extends OutputWriter {
        private final String path;
        private final AvroValues.Rows values;
        private final DataFileWriter<IndexedRecord> records;

        Writer(String path, Schema schema, String codec, StructType type, Configuration configuration)
                throws IOException {
            this.path = path;
            values = AvroValues.writer(type, schema);
            // As in Flink's files, a record could be NULL.
            Schema nullable = Schema.createUnion(Schema.create(Schema.Type.NULL), schema);
            records = new DataFileWriter<>(new GenericDatumWriter<>(nullable));
            records.setCodec(CodecFactory.fromString(codec));
            Path target = new Path(path);
            records.create(nullable, target.getFileSystem(configuration).create(target, false));
        }

        @Override
        public void write(InternalRow row) {
            try {
                records.append(values.record(row));
            } catch (IOException problem) {
                throw new UncheckedIOException(problem);
            }
        }

        @Override
        public void close() {
            try {
                records.close();
            } catch (IOException problem) {
                throw new UncheckedIOException(problem);
            }
        }

        @Override
        public String path() {
            return path;
        }
    }
}
