package sqlstream.checkpoints;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;

/** A checkpoint's folder, on any file system of Hadoop's: the files of it that are small. */
final class Place {
    final Path path;
    final Configuration hadoop;
    private final FileSystem system;

    Place(String uri, Configuration hadoop) throws IOException {
        Path given = new Path(uri);
        this.hadoop = hadoop;
        system = given.getFileSystem(hadoop);
        path = system.makeQualified(given);
    }

    /** Where the schema file {@code path} of a store is, when the state is in the folder {@code root}. */
    static Path schema(String root, long operator, String store, Path path) {
        return new Path(new Path(root, operator + "/_stateSchema/" + store), path.getName());
    }

    Path at(String name) {
        return new Path(path, name);
    }

    String state() {
        return at("state").toString();
    }

    boolean exists(String name) throws IOException {
        return system.exists(at(name));
    }

    String read(String name) throws IOException {
        try (var in = system.open(at(name))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    void write(String name, String text) throws IOException {
        Path file = at(name);
        CheckpointFileManager files = CheckpointFileManager.create(file.getParent(), hadoop);
        files.mkdirs(file.getParent());
        var out = files.createAtomic(file, true);
        try {
            out.write(text.getBytes(StandardCharsets.UTF_8));
            out.close();
        } catch (IOException error) {
            out.cancel();
            throw error;
        }
    }

    /** The numbers that files or folders in a folder are called by, in their order. */
    List<Long> numbers(String folder) throws IOException {
        List<Long> numbers = new ArrayList<>();
        for (String name : names(folder)) {
            if (name.matches("\\d{1,18}")) {
                numbers.add(Long.parseLong(name));
            }
        }
        numbers.sort(Long::compare);
        return numbers;
    }

    List<String> names(String folder) throws IOException {
        try {
            return Arrays.stream(system.listStatus(at(folder)))
                    .map(FileStatus::getPath)
                    .map(Path::getName)
                    .sorted()
                    .toList();
        } catch (FileNotFoundException none) {
            return List.of();
        }
    }

    void copy(String name, Place to, String as) throws IOException {
        if (exists(name)) {
            to.system.mkdirs(to.at(as).getParent());
            FileUtil.copy(system, at(name), to.system, to.at(as), false, true, hadoop);
        }
    }

    /** Makes the folder empty. */
    void clear() throws IOException {
        system.delete(path, true);
        system.mkdirs(path);
    }
}
