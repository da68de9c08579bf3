package sqlstream.realtime;

import java.io.IOException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead;

/**
 * Readers of a source in real-time mode, which end their micro-batch when a {@link Pause} begins, wherever they are, or
 * after {@code most} milliseconds: Spark's own read until the time of a micro-batch is over.
 */
final class PausableReaders implements PartitionReaderFactory {
    private static final long serialVersionUID = 1;

    private final PartitionReaderFactory readers;
    private final Pause pause;
    private final RealTime.Progress progress;
    private final long most;

    PausableReaders(PartitionReaderFactory readers, Pause pause, RealTime.Progress progress, long most) {
        this.readers = readers;
        this.pause = pause;
        this.progress = progress;
        this.most = most;
    }

    @Override
    public PartitionReader<InternalRow> createReader(InputPartition partition) {
        SupportsRealTimeRead<InternalRow> reader = (SupportsRealTimeRead<InternalRow>) readers.createReader(partition);
        return new Pausable(reader, pause, progress, most);
    }

    private static final class Pausable implements SupportsRealTimeRead<InternalRow> {
        private static final long LOOK_MS = 50;

        private final SupportsRealTimeRead<InternalRow> reader;
        private final Pause pause;
        private final RealTime.Progress progress;
        private final long most;
        private final long began = System.currentTimeMillis();
        private long looked;

        Pausable(SupportsRealTimeRead<InternalRow> reader, Pause pause, RealTime.Progress progress, long most) {
            this.reader = reader;
            this.pause = pause;
            this.progress = progress;
            this.most = most;
        }

        @Override
        public RecordStatus nextWithTimeout(Long start, Long timeout) throws IOException {
            long end = System.currentTimeMillis() + timeout;
            while (true) {
                long now = System.currentTimeMillis();
                if (now - looked >= LOOK_MS) {
                    looked = now;
                    progress.at(reader.getOffset());
                    if (pause.isOn() || now - began >= most) {
                        return RecordStatus.newStatusWithoutArrivalTime(false);
                    }
                }
                RecordStatus found = reader.nextWithTimeout(now, Math.min(LOOK_MS, Math.max(0, end - now)));
                if (found.hasRecord() || System.currentTimeMillis() >= end) {
                    return found;
                }
            }
        }

        @Override
        public PartitionOffset getOffset() {
            return reader.getOffset();
        }

        @Override
        public boolean next() throws IOException {
            return reader.next();
        }

        @Override
        public InternalRow get() {
            return reader.get();
        }

        @Override
        public CustomTaskMetric[] currentMetricsValues() {
            return reader.currentMetricsValues();
        }

        @Override
        public void close() throws IOException {
            reader.close();
        }
    }
}
