package sqlstream.realtime;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil$;

/**
 * Whether the queries of a job pause: a file is there for as long as they do, which tasks on every machine see. On a
 * file system of other machines it is looked for twice a second by each process, and nobody waits for the answer.
 */
public final class Pause implements Serializable {
    private static final long serialVersionUID = 1;
    private static final String HERE = "file://";
    private static final long LOOK_MS = 500;
    private static final Map<String, Seen> SEEN = new ConcurrentHashMap<>();

    private static final class Seen {
        final AtomicLong looked = new AtomicLong();
        volatile boolean on;
    }

    private final String file;

    /** @param file the URI of the file */
    public Pause(String file) {
        this.file = file;
    }

    public boolean isOn() {
        if (file.startsWith(HERE)) {
            return Files.exists(java.nio.file.Path.of(file.substring(HERE.length())));
        }
        Seen seen = SEEN.computeIfAbsent(file, key -> new Seen());
        long now = System.currentTimeMillis();
        long looked = seen.looked.get();
        if (now - looked >= LOOK_MS && seen.looked.compareAndSet(looked, now)) {
            CompletableFuture.runAsync(() -> seen.on = exists(seen.on));
        }
        return seen.on;
    }

    /** From now on they pause. */
    void begin() {
        try {
            if (file.startsWith(HERE)) {
                Files.write(java.nio.file.Path.of(file.substring(HERE.length())), new byte[0]);
            } else {
                Path path = new Path(file);
                path.getFileSystem(SparkHadoopUtil$.MODULE$.get().conf())
                        .create(path)
                        .close();
            }
        } catch (IOException away) {
            // The micro-batch ends by itself.
        }
    }

    private boolean exists(boolean before) {
        try {
            Path path = new Path(file);
            return path.getFileSystem(SparkHadoopUtil$.MODULE$.get().conf()).exists(path);
        } catch (IOException away) {
            // It is asked again.
            return before;
        }
    }
}
