package sqlstream.gateway;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.SparkException;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.python.PythonRDD;
import org.apache.spark.api.python.SerDeUtil;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.execution.LocalTableScanExec;
import org.apache.spark.sql.execution.SQLExecution;
import org.apache.spark.sql.execution.python.EvaluatePython;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.storage.BlockData;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.RDDBlockId;
import org.apache.spark.util.io.ChunkedByteBuffer;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction0;
import scala.runtime.AbstractFunction2;
import scala.runtime.BoxedUnit;
import sqlstream.catalyst.Scala;
import sqlstream.catalyst.SparkCalls;

/**
 * The rows of a frame on their way to Python, in pieces: tasks put them on the disk, in Spark's blocks, and Python
 * takes one after the other, in the order of the partitions. However many rows there are, however slowly they are
 * taken, the memory has a few pieces of them, and a task that is done has no slot any more.
 */
public final class RowPieces {
    /** A piece is put by when it has so many bytes. What a task has left over goes with its result. */
    private static final int BYTES = 1 << 20;
    /** A number of a block has room for so many attempts of a task. */
    private static final int ATTEMPTS = 64;
    /** By the id of their RDD, those whose tasks may run in this JVM: they hear of each piece at once. */
    private static final Map<Integer, RowPieces> HERE = new ConcurrentHashMap<>();

    /**
     * Rows as Python's pickle has them, each batch behind its length: in a block, or here. What goes with the results
     * of tasks is no record, which Kryo could not write.
     */
    private static final class Piece implements Serializable {
        private final BlockId block;
        private final byte[] rows;

        Piece(BlockId block, byte[] rows) {
            this.block = block;
            this.rows = rows;
        }
    }

    /** What a task has put by, and the number of its attempt. */
    private static final class Written implements Serializable {
        private final int attempt;
        private final ArrayList<Piece> pieces;

        Written(int attempt, ArrayList<Piece> pieces) {
            this.attempt = attempt;
            this.pieces = pieces;
        }
    }

    private final SparkContext context;
    /** Not known before the query is planned. */
    private int rdd = -1;

    private int partitions = -1;
    private final String tag = "rows-" + UUID.randomUUID();
    /** By partition, those that have come and were not taken. */
    private final TreeMap<Integer, Deque<Piece>> waiting = new TreeMap<>();
    /** By partition, how many of those have come of which a task has told before its end. */
    private final Map<Integer, Integer> told = new TreeMap<>();
    /** Those whose tasks are done. */
    private final Set<Integer> done = new HashSet<>();

    /** Whether the query has ended, and whether nobody reads its rows any more. */
    private boolean over;

    private boolean closed;
    private int partition;
    private Throwable failure;

    private RowPieces(SparkContext context) {
        this.context = context;
    }

    /** Those of {@code frame}, whose query begins. */
    public static RowPieces of(org.apache.spark.sql.Dataset<Row> frame) throws IOException {
        Dataset<Row> dataset = (Dataset<Row>) frame;
        RowPieces pieces = new RowPieces(dataset.sparkSession().sparkContext());
        if (dataset.queryExecution().executedPlan() instanceof LocalTableScanExec local) {
            // No task is needed for rows that are there.
            pieces.partitions = 1;
            pieces.over = true;
            pieces.add(0, new Written(0, new ArrayList<>(List.of(new Piece(null, pickled(local))))));
            return pieces;
        }
        // What is set for this thread, as the group of its jobs, that one inherits.
        Thread thread = new Thread(() -> pieces.run(dataset), pieces.tag);
        thread.setDaemon(true);
        thread.start();
        return pieces;
    }

    private static byte[] pickled(LocalTableScanExec local) throws IOException {
        EvaluatePython.registerPicklers();
        List<Object> rows = new ArrayList<>();
        for (InternalRow row : local.executeCollect()) {
            rows.add(SparkCalls.forPython(row, local.schema(), SQLConf.get().pysparkBinaryAsBytes()));
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        var batches = new SerDeUtil.AutoBatchedPickler(CollectionConverters.asScala(rows.iterator()));
        while (batches.hasNext()) {
            write(batches.next(), bytes);
        }
        return bytes.toByteArray();
    }

    private static void write(byte[] batch, ByteArrayOutputStream bytes) throws IOException {
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(batch.length);
        out.write(batch);
    }

    private void run(Dataset<Row> dataset) {
        try {
            context.addJobTag(tag);
            var body = new AbstractFunction0<BoxedUnit>() {
                @Override
                public BoxedUnit apply() {
                    run(dataset.javaToPython());
                    return BoxedUnit.UNIT;
                }
            };
            SQLExecution.withNewExecutionId(dataset.queryExecution(), Option.apply("rows"), body);
        } catch (Throwable error) {
            fail(error);
        } finally {
            over();
        }
    }

    /** The query has ended: if nobody wants its rows any more, they go. */
    private synchronized void over() {
        over = true;
        if (closed) {
            forget();
        }
    }

    private void run(JavaRDD<byte[]> rows) {
        if (!begin(rows.id(), rows.getNumPartitions())) {
            return;
        }
        List<Object> all = new ArrayList<>();
        IntStream.range(0, partitions).forEach(all::add);
        var take = new AbstractFunction2<Object, Written, BoxedUnit>() {
            @Override
            public BoxedUnit apply(Object partition, Written written) {
                add((Integer) partition, written);
                return BoxedUnit.UNIT;
            }
        };
        var task = new Task(rdd, partitions);
        context.runJob(rows.rdd(), task, Scala.seq(all), take, ClassTag$.MODULE$.apply(Written.class));
    }

    /** The query is planned; whether anybody still wants its rows. */
    private synchronized boolean begin(int id, int count) {
        rdd = id;
        partitions = count;
        if (failure == null) {
            HERE.put(rdd, this);
        }
        notifyAll();
        return failure == null;
    }

    private synchronized void fail(Throwable error) {
        failure = failure == null ? error : failure;
        notifyAll();
    }

    /** A task has told of a piece before its end. */
    private synchronized void tell(int of, Piece piece) {
        waiting.computeIfAbsent(of, none -> new ArrayDeque<>()).add(piece);
        told.merge(of, 1, Integer::sum);
        notifyAll();
    }

    /** A task is done. */
    private synchronized void add(int of, Written written) {
        int known = told.getOrDefault(of, 0);
        Deque<Piece> there = waiting.computeIfAbsent(of, none -> new ArrayDeque<>());
        if (written.attempt > 0 && known > 0) {
            if (there.size() < known) {
                // Another attempt may have them in another order.
                fail(new SparkException("A task failed when some of its rows had been read already."));
                return;
            }
            there.clear();
            known = 0;
        }
        there.addAll(written.pieces.subList(known, written.pieces.size()));
        done.add(of);
        notifyAll();
    }

    /**
     * Where Python reads the pieces, each behind its length: what Spark says of a socket. By Py4J they would take three
     * times as long. They may end early: see {@link #checkRead}.
     */
    public Object[] serve() {
        return PythonRDD.serveIterator(CollectionConverters.asScala(new Pieces()), tag);
    }

    /** Whether the pieces that were read are all. Throws what the query has met, or what has ended the reading. */
    public synchronized void checkRead() throws Throwable {
        if (failure != null) {
            throw failure;
        }
        if (partition != partitions) {
            throw new SparkException("The rows of the query were cut off.");
        }
    }

    /** Those that come, one after the other. */
    private final class Pieces implements Iterator<Object> {
        private Piece next;

        @Override
        public boolean hasNext() {
            try {
                next = next == null ? awaited() : next;
                return next != null;
            } catch (Throwable error) {
                throw Scala.unchecked(error);
            }
        }

        @Override
        public byte[] next() {
            Piece piece = next;
            next = null;
            try {
                return piece.block == null ? piece.rows : read(piece.block);
            } catch (Throwable error) {
                fail(error);
                throw Scala.unchecked(error);
            }
        }
    }

    private synchronized Piece awaited() throws Throwable {
        while (true) {
            Deque<Piece> there = waiting.get(partition);
            if (there != null && !there.isEmpty()) {
                return there.poll();
            }
            if (done.contains(partition)) {
                waiting.remove(partition++);
            } else if (failure != null) {
                throw failure;
            } else if (partition == partitions) {
                return null;
            } else {
                wait();
            }
        }
    }

    /** Waits for the end of the query. */
    public synchronized void awaitAll() throws Throwable {
        while (done.size() != partitions) {
            if (failure != null) {
                throw failure;
            }
            wait();
        }
    }

    private static byte[] read(BlockId block) throws SparkException {
        BlockManager blocks = SparkEnv.get().blockManager();
        Option<BlockData> here = blocks.getLocalBytes(block);
        if (here.isDefined()) {
            try {
                return bytes(here.get().toByteBuffer());
            } finally {
                here.get().dispose();
                blocks.releaseLock(block, Option.empty());
            }
        }
        Option<ChunkedByteBuffer> there = blocks.getRemoteBytes(block);
        if (there.isEmpty()) {
            throw new SparkException("Rows of the query are lost: the executor that kept them has ended.");
        }
        return there.get().toArray();
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] copy = new byte[buffer.remaining()];
        buffer.get(copy);
        return copy;
    }

    /** Nothing more is taken: the query ends, and its pieces go. */
    public void close() {
        fail(new SparkException("The rows are not read any more."));
        if (runsUnread() && !context.isStopped()) {
            context.cancelJobsWithTag(tag);
        }
    }

    /** Whether the query still runs, of which nobody reads any more from now on. */
    private synchronized boolean runsUnread() {
        closed = true;
        if (over) {
            forget();
        }
        return !over;
    }

    private void forget() {
        if (rdd >= 0 && HERE.remove(rdd) != null && !context.isStopped()) {
            // A thread that is interrupted, as that of a stream when it is stopped, can ask nothing of Spark.
            Thread removal = new Thread(this::remove, tag);
            removal.setDaemon(true);
            removal.start();
        }
    }

    private void remove() {
        try {
            SparkEnv.get().blockManager().master().removeRdd(rdd, false);
        } catch (Throwable error) {
            // The blocks go with the context.
            if (!context.isStopped()) {
                throw Scala.unchecked(error);
            }
        }
    }

    /** Writes the rows of a partition. */
    private static final class Task extends AbstractFunction2<TaskContext, scala.collection.Iterator<byte[]>, Written>
            implements Serializable {
        private final int rdd;
        private final int partitions;

        Task(int rdd, int partitions) {
            this.rdd = rdd;
            this.partitions = partitions;
        }

        @Override
        public Written apply(TaskContext task, scala.collection.Iterator<byte[]> batches) {
            try {
                return written(task, batches);
            } catch (IOException error) {
                throw Scala.unchecked(error);
            }
        }

        private Written written(TaskContext task, scala.collection.Iterator<byte[]> batches) throws IOException {
            int attempt = (task.stageAttemptNumber() * 4 + task.attemptNumber()) % ATTEMPTS;
            RowPieces here = attempt == 0 ? HERE.get(rdd) : null;
            ArrayList<Piece> pieces = new ArrayList<>();
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            while (batches.hasNext()) {
                // A thread that is interrupted computes on.
                task.killTaskIfInterrupted();
                write(batches.next(), bytes);
                if (bytes.size() >= BYTES) {
                    int number = (pieces.size() * ATTEMPTS + attempt) * partitions + task.partitionId();
                    Piece piece = new Piece(put(new RDDBlockId(rdd, number), bytes.toByteArray()), null);
                    bytes.reset();
                    pieces.add(piece);
                    if (here != null) {
                        here.tell(task.partitionId(), piece);
                    }
                }
            }
            if (bytes.size() > 0) {
                pieces.add(new Piece(null, bytes.toByteArray()));
            }
            return new Written(attempt, pieces);
        }

        private static BlockId put(BlockId block, byte[] rows) throws IOException {
            var buffer = new ChunkedByteBuffer(ByteBuffer.wrap(rows));
            if (!SparkCalls.keepOnDisk(SparkEnv.get().blockManager(), block, buffer)) {
                throw new IOException("Rows of the query can't be kept on the disk: " + block + ".");
            }
            return block;
        }
    }
}
