package sqlstream.storage;

import java.io.IOException;
import java.net.URI;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options.CreateFileOptionKeys;
import org.apache.hadoop.fs.Path;

/**
 * Objects that S3 itself creates only where there is none. A service that takes the condition and ignores it would let
 * one writer overwrite another, so that each bucket is tried once.
 */
public final class IfAbsent {
    private static final Set<URI> TRIED = ConcurrentHashMap.newKeySet();

    private IfAbsent() {}

    /** What opens a stream whose end throws an IOException where there is an object by then. */
    public static FSDataOutputStreamBuilder<?, ?> create(FileSystem system, Path path) throws IOException {
        if (!TRIED.contains(system.getUri())) {
            tryAt(system, path.getParent());
            TRIED.add(system.getUri());
        }
        return conditional(system, path);
    }

    private static FSDataOutputStreamBuilder<?, ?> conditional(FileSystem system, Path path) {
        FSDataOutputStreamBuilder<?, ?> builder = system.createFile(path).recursive();
        return builder.must(CreateFileOptionKeys.FS_OPTION_CREATE_CONDITIONAL_OVERWRITE, true);
    }

    private static void tryAt(FileSystem system, Path folder) throws IOException {
        Path path = new Path(folder, ".tried-" + UUID.randomUUID());
        try {
            // Both are begun while there is none, so that it is the service that refuses the second.
            FSDataOutputStream first = conditional(system, path).build();
            FSDataOutputStream second = conditional(system, path).build();
            first.write(1);
            second.write(2);
            first.close();
            try {
                second.close();
            } catch (IOException refused) {
                return;
            }
        } finally {
            system.delete(path, false);
        }
        throw new IOException(
                "The service of " + system.getUri() + " overwrites what must be created only if it is absent.");
    }
}
