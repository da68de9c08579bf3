package sqlstream.storage;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A folder of a file system that machines share is held by one driver at a time. Its folder {@code lease} has a file
 * for each that held it, by rising numbers, which none but the first to create one has; and beside it one that the
 * holder writes anew while it lives. Who finds the latter unchanged for as long as a lease takes, by its own clock, may
 * create the next: the one before, should it come back, sees that and writes no entry of a checkpoint's log any more.
 */
public final class Lease {
    private static final Logger LOG = LoggerFactory.getLogger(Lease.class);
    private static final Map<Path, Lease> HELD = new ConcurrentHashMap<>();
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String OWNER = ".json";
    private static final String BEAT = ".beat";
    private static final String RELEASED = "released";

    private final Path folder;
    private final Configuration hadoop;
    private final FileSystem system;
    private final long number;
    private final long renewMillis;
    private final long validNanos;
    private final Thread renewal;
    private long beats;
    private volatile long renewed;
    private volatile boolean lost;
    private volatile boolean closed;

    private Lease(Path folder, Configuration hadoop, long number, long renewMillis, long validMillis)
            throws IOException {
        this.folder = folder;
        this.hadoop = hadoop;
        this.system = folder.getFileSystem(hadoop);
        this.number = number;
        this.renewMillis = renewMillis;
        this.validNanos = TimeUnit.MILLISECONDS.toNanos(validMillis);
        renewal = new Thread(this::renewAlways, "lease-of-" + folder.getName());
        renewal.setDaemon(true);
    }

    /**
     * A JSON object: the {@code number} of the folder's last lease, 0 for none; its {@code owner}; {@code beat}, which
     * changes while it is held, null where it was released.
     */
    public static String look(SparkSession session, String place) throws IOException {
        Configuration hadoop = Files.configuration(session);
        Path folder = qualified(place, hadoop);
        FileSystem system = folder.getFileSystem(hadoop);
        while (true) {
            TreeMap<Long, Path> all = all(system, folder);
            ObjectNode found = JSON.createObjectNode();
            if (all.isEmpty()) {
                return found.put("number", 0).toString();
            }
            long number = all.lastKey();
            try {
                String owner = Files.text(system, all.get(number));
                found.put("number", number);
                // Half of it: who wrote it ended, or is just about to complete it.
                found.set("owner", owner.endsWith("}") ? JSON.readTree(owner) : JSON.createObjectNode());
                Path beat = beat(folder, number);
                String said = system.exists(beat) ? Files.text(system, beat) : "";
                return found.put("beat", said.equals(RELEASED) ? null : said).toString();
            } catch (FileNotFoundException next) {
                // Superseded meanwhile.
                continue;
            }
        }
    }

    /**
     * Takes the lease with this number; null where another was faster. It is written anew every {@code renewMillis},
     * and holds for {@code validMillis} without.
     */
    public static Lease take(
            SparkSession session, String place, long number, String owner, long renewMillis, long validMillis)
            throws IOException {
        Configuration hadoop = Files.configuration(session);
        Path folder = qualified(place, hadoop);
        Lease lease = new Lease(folder, hadoop, number, renewMillis, validMillis);
        if (!Files.create(lease.system, owner(folder, number), owner)) {
            return null;
        }
        // Numbers before the last are taken away: one of those is not to be had again.
        if (!lease.renew()) {
            lease.system.delete(owner(folder, number), false);
            lease.system.delete(beat(folder, number), false);
            return null;
        }
        HELD.put(folder, lease);
        lease.renewal.start();
        for (long old : all(lease.system, folder).headMap(number - 1).keySet()) {
            lease.system.delete(owner(folder, old), false);
            lease.system.delete(beat(folder, old), false);
        }
        return lease;
    }

    /** Throws where the job to whose folder {@code file} belongs was held by this driver, and is not any more. */
    static void check(Path file) {
        if (HELD.isEmpty()) {
            return;
        }
        for (Path folder = file; folder != null; folder = folder.getParent()) {
            Lease lease = HELD.get(folder);
            if (lease != null) {
                lease.check();
                return;
            }
        }
    }

    private void check() {
        try {
            if (lost || System.nanoTime() - renewed > validNanos && !renew()) {
                throw new IllegalStateException("LEASE_LOST " + folder);
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** Whether another has taken it meanwhile. */
    public boolean isLost() {
        return lost;
    }

    /** Lets others have it at once. */
    public void close() throws IOException, InterruptedException {
        closed = true;
        renewal.interrupt();
        renewal.join(renewMillis);
        HELD.remove(folder, this);
        if (!lost) {
            Files.write(hadoop, beat(folder, number), RELEASED);
        }
    }

    private void renewAlways() {
        while (!closed && !lost) {
            try {
                Thread.sleep(renewMillis);
                if (!closed) {
                    renew();
                }
            } catch (InterruptedException error) {
                return;
            } catch (IOException | RuntimeException error) {
                LOG.warn("the lease of {} was not renewed", folder, error);
            }
        }
    }

    private synchronized boolean renew() throws IOException {
        long now = System.nanoTime();
        if (all(system, folder).lastKey() > number) {
            lost = true;
            return false;
        }
        Files.write(hadoop, beat(folder, number), Long.toString(++beats));
        renewed = now;
        return true;
    }

    private static Path qualified(String place, Configuration hadoop) throws IOException {
        Path given = new Path(place);
        return given.getFileSystem(hadoop).makeQualified(given);
    }

    private static Path owner(Path folder, long number) {
        return new Path(folder, "lease/" + number + OWNER);
    }

    private static Path beat(Path folder, long number) {
        return new Path(folder, "lease/" + number + BEAT);
    }

    private static TreeMap<Long, Path> all(FileSystem system, Path folder) throws IOException {
        TreeMap<Long, Path> found = new TreeMap<>();
        try {
            for (FileStatus file : system.listStatus(new Path(folder, "lease"))) {
                String name = file.getPath().getName();
                if (name.matches("\\d{1,18}\\.json")) {
                    found.put(Long.parseLong(name.substring(0, name.length() - OWNER.length())), file.getPath());
                }
            }
        } catch (FileNotFoundException none) {
            return found;
        }
        return found;
    }
}
