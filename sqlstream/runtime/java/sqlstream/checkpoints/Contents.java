package sqlstream.checkpoints;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ChecksumException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.spark.sql.classic.SparkSession;

/** What a folder consists of, so that a copy of it is known to be whole. */
public final class Contents {
    private static final int PIECE = 1 << 16;

    private Contents() {}

    /** A JSON object: the SHA-256 of each file below {@code place}, by its path. Hidden files are left out. */
    public static String of(org.apache.spark.sql.SparkSession session, String place) throws IOException {
        Configuration hadoop = ((SparkSession) session).sessionState().newHadoopConf();
        Path given = new Path(place);
        FileSystem system = given.getFileSystem(hadoop);
        Path root = system.makeQualified(given);
        List<Path> files = new ArrayList<>();
        RemoteIterator<LocatedFileStatus> all = system.listFiles(root, true);
        while (all.hasNext()) {
            files.add(all.next().getPath());
        }
        Function<Path, String> name =
                file -> root.toUri().relativize(file.toUri()).getPath();
        Map<String, String> digests = files.parallelStream()
                .filter(file -> !file.getName().startsWith("."))
                .collect(Collectors.toMap(name, file -> digest(system, file)));
        return new ObjectMapper().writeValueAsString(new TreeMap<>(digests));
    }

    private static String digest(FileSystem system, Path file) {
        try (var in = system.open(file)) {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            byte[] piece = new byte[PIECE];
            for (int read = in.read(piece); read >= 0; read = in.read(piece)) {
                digest.update(piece, 0, read);
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (ChecksumException error) {
            return "damaged";
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        } catch (NoSuchAlgorithmException error) {
            throw new IllegalStateException(error);
        }
    }
}
