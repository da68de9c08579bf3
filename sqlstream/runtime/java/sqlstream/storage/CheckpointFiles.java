package sqlstream.storage;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.hadoop.fs.UnsupportedFileSystemException;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;
import org.apache.spark.sql.execution.streaming.checkpointing.FileContextBasedCheckpointFileManager;
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager;

/**
 * The files of Spark's checkpoints. An entry of the log of micro-batches is written by none but the driver that holds
 * the job (see Lease). Where an object store has no renaming a file is there when its upload is complete.
 */
public final class CheckpointFiles implements CheckpointFileManager {
    private final CheckpointFileManager renaming;
    // Null where files are renamed.
    private final FileSystem uploading;

    public CheckpointFiles(Path path, Configuration hadoop) throws IOException {
        renaming = renaming(path, hadoop);
        uploading = uploads(path, hadoop) ? path.getFileSystem(hadoop) : null;
    }

    private static CheckpointFileManager renaming(Path path, Configuration hadoop) {
        try {
            return new FileContextBasedCheckpointFileManager(path, hadoop);
        } catch (Exception error) {
            // Spark's class does not say that it throws this.
            if (error instanceof UnsupportedFileSystemException) {
                return new FileSystemBasedCheckpointFileManager(path, hadoop);
            }
            throw error;
        }
    }

    private static boolean uploads(Path path, Configuration hadoop) throws IOException {
        return "s3a".equals(path.getFileSystem(hadoop).getScheme());
    }

    /** Creates a file, unless there is one: then the stream, or its end, throws an IOException. */
    static FSDataOutputStream createNew(FileSystem system, Path path) throws IOException {
        if ("s3a".equals(system.getScheme())) {
            return IfAbsent.create(system, path).build();
        }
        return system.createFile(path).overwrite(false).recursive().build();
    }

    @Override
    public CancellableFSDataOutputStream createAtomic(Path path, boolean overwriteIfPossible) {
        if (!overwriteIfPossible) {
            Lease.check(path);
        }
        if (uploading == null) {
            return renaming.createAtomic(path, overwriteIfPossible);
        }
        try {
            return new Upload(overwriteIfPossible ? uploading.create(path, true) : createNew(uploading, path));
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    @Override
    public FSDataInputStream open(Path path) {
        return renaming.open(path);
    }

    @Override
    public FileStatus[] list(Path path, PathFilter filter) {
        return renaming.list(path, filter);
    }

    @Override
    public void mkdirs(Path path) {
        renaming.mkdirs(path);
    }

    @Override
    public boolean exists(Path path) {
        return renaming.exists(path);
    }

    @Override
    public void delete(Path path) {
        renaming.delete(path);
    }

    @Override
    public boolean isLocal() {
        return renaming.isLocal();
    }

    @Override
    public Path createCheckpointDirectory() {
        return renaming.createCheckpointDirectory();
    }

    /** A file that is there when it is closed. */
    private static final class Upload extends CancellableFSDataOutputStream {
        private final FSDataOutputStream stream;

        Upload(FSDataOutputStream stream) {
            super(stream);
            this.stream = stream;
        }

        @Override
        public void cancel() {
            stream.abort();
        }
    }
}
