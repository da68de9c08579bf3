package sqlstream.storage;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.functional.FutureIO;
import org.apache.spark.sql.SparkSession;

/** What Python does with files of Hadoop's file systems. Paths are as Hadoop has them: nothing in them is encoded. */
public final class Files {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final FsPermission OWN = new FsPermission((short) 0700);

    private Files() {}

    static Configuration configuration(SparkSession session) {
        return ((org.apache.spark.sql.classic.SparkSession) session)
                .sessionState()
                .newHadoopConf();
    }

    /** A JSON array: the path from {@code folder} of each that matches a pattern below it. */
    public static String glob(SparkSession session, String folder, String pattern) throws IOException {
        Configuration hadoop = configuration(session);
        Path escaped = new Path(folder.replaceAll("([*?\\[\\]{}\\\\])", "\\\\$1"), pattern);
        FileSystem system = new Path(folder).getFileSystem(hadoop);
        URI root = system.makeQualified(new Path(folder)).toUri();
        FileStatus[] matching = system.globStatus(escaped);
        List<String> found = new ArrayList<>();
        for (FileStatus file : matching == null ? new FileStatus[0] : matching) {
            found.add(root.relativize(file.getPath().toUri()).getPath());
        }
        return JSON.writeValueAsString(found);
    }

    /** A JSON array: whether it is a folder, and when it was written, in milliseconds since 1970; null without one. */
    public static String status(SparkSession session, String path) throws IOException {
        Path given = new Path(path);
        try {
            FileStatus file = given.getFileSystem(configuration(session)).getFileStatus(given);
            return JSON.writeValueAsString(List.of(file.isDirectory(), file.getModificationTime()));
        } catch (FileNotFoundException none) {
            return null;
        }
    }

    /** Bytes of all files below. */
    public static long size(SparkSession session, String path) throws IOException {
        Path given = new Path(path);
        ContentSummary summary = given.getFileSystem(configuration(session)).getContentSummary(given);
        return summary.getLength();
    }

    public static String read(SparkSession session, String path) throws IOException {
        Path given = new Path(path);
        return text(given.getFileSystem(configuration(session)), given);
    }

    /** Writes a file whole or not at all, and the folders above it that are missing. */
    public static void write(SparkSession session, String path, String text) throws IOException {
        Configuration hadoop = configuration(session);
        Path given = new Path(path);
        makeOwn(given.getFileSystem(hadoop), given.getParent());
        write(hadoop, given, text);
    }

    public static void make(SparkSession session, String path) throws IOException {
        Path given = new Path(path);
        makeOwn(given.getFileSystem(configuration(session)), given);
    }

    /** Deletes a file, or a folder with all that is in it; nothing where there is none. */
    public static void delete(SparkSession session, String path) throws IOException {
        Path given = new Path(path);
        FileSystem system = given.getFileSystem(configuration(session));
        if (!system.delete(given, true) && system.exists(given)) {
            throw new PathIsNotEmptyDirectoryException(path);
        }
    }

    public static void rename(SparkSession session, String from, String to) throws IOException {
        Path source = new Path(from);
        if (!source.getFileSystem(configuration(session)).rename(source, new Path(to))) {
            throw new IOException("can't rename " + from + " to " + to);
        }
    }

    /** Copies a file, or a folder with all that is in it, also to another file system; {@code to} is not there yet. */
    public static void copy(SparkSession session, String from, String to) throws IOException {
        Configuration hadoop = configuration(session);
        Path source = new Path(from);
        Path target = new Path(to);
        makeOwn(target.getFileSystem(hadoop), target.getParent());
        if (!FileUtil.copy(
                source.getFileSystem(hadoop), source, target.getFileSystem(hadoop), target, false, true, hadoop)) {
            throw new IOException("can't copy " + from + " to " + to);
        }
    }

    /** A file's text, as one of its writers has left it: one that is replaced meanwhile is read again. */
    static String text(FileSystem system, Path path) throws IOException {
        while (true) {
            FileStatus file = system.getFileStatus(path);
            try (var in = FutureIO.awaitFuture(
                    system.openFile(path).withFileStatus(file).build())) {
                return new String(in.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException error) {
                // S3 gives no rest of an object that is not there any more.
                if (version(system.getFileStatus(path)).equals(version(file))) {
                    throw error;
                }
            }
        }
    }

    private static String version(FileStatus file) {
        return file instanceof EtagSource tagged ? tagged.getEtag() : file.getModificationTime() + " " + file.getLen();
    }

    static void write(Configuration hadoop, Path path, String text) throws IOException {
        var out = new CheckpointFiles(path, hadoop).createAtomic(path, true);
        try {
            out.write(text.getBytes(StandardCharsets.UTF_8));
            out.close();
        } catch (IOException error) {
            out.cancel();
            throw error;
        }
    }

    /** Writes a file unless there is one; whether it did. */
    static boolean create(FileSystem system, Path path, String text) throws IOException {
        makeOwn(system, path.getParent());
        try (var out = CheckpointFiles.createNew(system, path)) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException error) {
            if (!system.exists(path)) {
                throw error;
            }
            // What was written may have been written again, as its answer was lost.
            return text(system, path).equals(text);
        }
        return true;
    }

    private static void makeOwn(FileSystem system, Path folder) throws IOException {
        if (!system.exists(folder) && !system.mkdirs(folder, OWN)) {
            throw new IOException("can't make " + folder);
        }
    }
}
