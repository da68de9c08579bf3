package sqlstream.files;

import io.delta.storage.HadoopFileSystemLogStore;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.util.Arrays;
import java.util.Iterator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IOUtils;
import sqlstream.storage.IfAbsent;

/**
 * Delta's log on S3, which itself sees to it that a commit's object is created only where there is none. Delta's own
 * store knows of the writers of one JVM alone: of two others one takes the place of the other's commit.
 */
public final class S3LogStore extends HadoopFileSystemLogStore {
    public S3LogStore(Configuration conf) {
        super(conf);
    }

    @Override
    public void write(Path path, Iterator<String> actions, Boolean overwrite, Configuration conf) throws IOException {
        StringBuilder lines = new StringBuilder();
        actions.forEachRemaining(action -> lines.append(action).append('\n'));
        byte[] content = lines.toString().getBytes(StandardCharsets.UTF_8);
        FileSystem files = path.getFileSystem(conf);
        if (overwrite) {
            put(files.createFile(path).recursive().overwrite(true), content);
            return;
        }
        try {
            put(IfAbsent.create(files, path), content);
        } catch (IOException refused) {
            byte[] there = content(files, path);
            if (there == null) {
                throw refused;
            }
            // Who hears nothing of what he has put puts it again, and is refused by himself. No two commits are equal.
            if (!Arrays.equals(there, content)) {
                throw (FileAlreadyExistsException) new FileAlreadyExistsException(path.toString()).initCause(refused);
            }
        }
    }

    @Override
    public Boolean isPartialWriteVisible(Path path, Configuration conf) {
        return false;
    }

    private static void put(FSDataOutputStreamBuilder<?, ?> builder, byte[] content) throws IOException {
        try (FSDataOutputStream stream = builder.build()) {
            stream.write(content);
        }
    }

    /** What is in a file; null where there is none. */
    private static byte[] content(FileSystem files, Path path) throws IOException {
        try (FSDataInputStream stream = files.open(path)) {
            return IOUtils.readFullyToByteArray(stream);
        } catch (FileNotFoundException none) {
            return null;
        }
    }
}
