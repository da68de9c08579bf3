package sqlstream.capture;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.Deflater;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import sqlstream.capture.Debezium.Position;
import sqlstream.storage.CheckpointFiles;

/**
 * The changes that an engine has told, in numbered files that are written once: what can be read again, and where the
 * engine goes on. A line each, below one that says the position of the last one.
 */
final class CaptureLog {
    private static final Pattern NAME = Pattern.compile("(\\d{19})-(snapshot|changes)-(\\d+)\\.gz");
    private static final FsPermission OWN = new FsPermission((short) 0700);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Configuration hadoop;
    private final Path folder;
    private final FileSystem system;
    private final TreeMap<Long, Segment> segments = new TreeMap<>();
    private Head head = Head.NONE;

    /** A file of so many changes; {@code snapshot}: rows that were there at the beginning, which have no order. */
    record Segment(long number, boolean snapshot, long rows, String file) {}

    /**
     * The first line of a file.
     *
     * @param told the position of the last change
     * @param start where an engine goes on, which tells {@code again} changes again: several have one position
     * @param history Debezium's of the tables' columns up to there
     */
    record Head(Position told, Position start, int again, String history) {
        static final Head NONE = new Head(null, null, 0, "");
    }

    CaptureLog(Configuration hadoop, Path folder) throws IOException {
        this.hadoop = hadoop;
        this.folder = folder;
        this.system = folder.getFileSystem(hadoop);
        system.mkdirs(folder, OWN);
        for (FileStatus file : system.listStatus(folder)) {
            Matcher name = NAME.matcher(file.getPath().getName());
            if (name.matches()) {
                add(Long.parseLong(name.group(1)), name.group(2).equals("snapshot"), Long.parseLong(name.group(3)));
            }
        }
        if (!segments.isEmpty()) {
            try (BufferedReader lines = lines(hadoop, segments.lastEntry().getValue().file)) {
                head = JSON.readValue(lines.readLine(), Head.class);
            }
        }
        if (head.told != null && !head.told.lasts()) {
            // None of it has been read: the engine tells all of it anew.
            drop(segments.lastKey());
            head = Head.NONE;
        }
    }

    /** That of the last segment. */
    synchronized Head head() {
        return head;
    }

    /** The number of the last segment that may be read; -1 before there is one, and until the snapshot is complete. */
    synchronized long last() {
        return segments.isEmpty() || !head.told.lasts() ? -1 : segments.lastKey();
    }

    /**
     * The segments behind {@code after}, up to {@code last}, of about {@code rows} rows at most: those of the snapshot,
     * or others.
     */
    synchronized List<Segment> behind(long after, long last, long rows) {
        List<Segment> found = new ArrayList<>();
        long sum = 0;
        for (Segment segment :
                segments.subMap(after, false, Math.max(after, last), true).values()) {
            sum += segment.rows;
            if (!found.isEmpty() && (sum > rows || segment.snapshot != found.get(0).snapshot)) {
                break;
            }
            found.add(segment);
        }
        return found;
    }

    synchronized void append(boolean snapshot, List<String> values, Head last) throws IOException {
        long number = segments.isEmpty() ? 0 : segments.lastKey() + 1;
        Path file = path(number, snapshot, values.size());
        var out = new CheckpointFiles(file, hadoop).createAtomic(file, true);
        try {
            GZIPOutputStream packed = new FastGzip(out);
            packed.write(JSON.writeValueAsBytes(last));
            for (String value : values) {
                packed.write('\n');
                packed.write(value.getBytes(StandardCharsets.UTF_8));
            }
            packed.finish();
            out.close();
        } catch (IOException error) {
            out.cancel();
            throw error;
        }
        head = last;
        add(number, snapshot, values.size());
    }

    /** Deletes those up to a number, but the last one, which says where the engine goes on. */
    synchronized void forget(long number) throws IOException {
        if (!segments.isEmpty()) {
            drop(Math.min(number, segments.lastKey() - 1));
        }
    }

    private void drop(long number) throws IOException {
        for (Segment segment : List.copyOf(segments.headMap(number, true).values())) {
            system.delete(new Path(segment.file), false);
            segments.remove(segment.number);
        }
    }

    private void add(long number, boolean snapshot, long rows) {
        segments.put(
                number,
                new Segment(number, snapshot, rows, path(number, snapshot, rows).toString()));
    }

    private Path path(long number, boolean snapshot, long rows) {
        return new Path(folder, String.format("%019d-%s-%d.gz", number, snapshot ? "snapshot" : "changes", rows));
    }

    private static final class FastGzip extends GZIPOutputStream {
        FastGzip(OutputStream out) throws IOException {
            super(out, 1 << 16);
            def.setLevel(Deflater.BEST_SPEED);
        }
    }

    /** The lines of a segment, the first of which is its head. */
    static BufferedReader lines(Configuration hadoop, String file) throws IOException {
        Path path = new Path(file);
        try {
            var in = path.getFileSystem(hadoop).open(path);
            return new BufferedReader(new InputStreamReader(new GZIPInputStream(in, 1 << 16), StandardCharsets.UTF_8));
        } catch (FileNotFoundException gone) {
            throw new FileNotFoundException("Changes that were captured are gone: " + path.getName());
        }
    }
}
