package sqlstream.letters;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * A folder of this machine, in which each process has a file of lines of its own. A micro-batch that runs again writes
 * its letters again.
 */
public final class ProcessFiles implements Letters {
    private static final Map<String, WritableByteChannel> FILES = new HashMap<>();

    private final String folder;

    public ProcessFiles(String folder) {
        this.folder = folder;
    }

    @Override
    public void keep(ObjectNode letter) throws IOException {
        ByteBuffer line = ByteBuffer.wrap((letter + "\n").getBytes(StandardCharsets.UTF_8));
        synchronized (FILES) {
            WritableByteChannel file = FILES.containsKey(folder) ? FILES.get(folder) : file();
            while (line.hasRemaining()) {
                file.write(line);
            }
        }
    }

    private WritableByteChannel file() throws IOException {
        Path place = Files.createDirectories(Path.of(folder), only("rwx------"));
        Path path = place.resolve("rows-" + ProcessHandle.current().pid() + "-"
                + UUID.randomUUID().toString().substring(0, 8) + ".jsonl");
        WritableByteChannel file = Files.newByteChannel(
                path, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.APPEND), only("rw-------"));
        FILES.put(folder, file);
        return file;
    }

    private static FileAttribute<?>[] only(String permissions) {
        boolean posix = FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
        return posix
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
                }
                : new FileAttribute<?>[0];
    }
}
