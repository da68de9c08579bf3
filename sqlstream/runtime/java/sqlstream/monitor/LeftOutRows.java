package sqlstream.monitor;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import sqlstream.catalyst.Scala;

/**
 * Keeps rows of a table that a query leaves out: a line of JSON each, in a file of this process's own, as functions in
 * Python keep theirs. A micro-batch that runs again writes its rows again.
 */
public final class LeftOutRows implements Serializable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, WritableByteChannel> FILES = new HashMap<>();

    private final String folder;
    private final String table;
    private final String error;

    /**
     * @param folder where the files are
     * @param error why its rows are left out
     */
    public LeftOutRows(String folder, String table, String error) {
        this.folder = folder;
        this.table = table;
        this.error = error;
    }

    /** A condition that is FALSE, and keeps the row that {@code json} is. */
    public Column leftOut(Column json) {
        return Scala.column(this, "leave", DataTypes.BooleanType, List.of(json), List.of(DataTypes.StringType), false);
    }

    /** What the rows that stay fulfil, in words. */
    String condition() {
        return "NOT (" + error + ")";
    }

    /** Keeps a row. */
    public boolean leave(UTF8String row) throws IOException {
        Map<String, Object> letter = new LinkedHashMap<>();
        letter.put("time", Instant.now().truncatedTo(ChronoUnit.MILLIS).toString());
        letter.put("query", TaskContext.get().getLocalProperty("sql.streaming.queryId"));
        letter.put("table", table);
        letter.put("error", error);
        letter.put("row", JSON.readTree(row.toString()));
        ByteBuffer line = ByteBuffer.wrap((JSON.writeValueAsString(letter) + "\n").getBytes(StandardCharsets.UTF_8));
        synchronized (FILES) {
            WritableByteChannel file = FILES.containsKey(folder) ? FILES.get(folder) : file();
            while (line.hasRemaining()) {
                file.write(line);
            }
        }
        return false;
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
