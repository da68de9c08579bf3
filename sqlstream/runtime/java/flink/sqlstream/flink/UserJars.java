package sqlstream.flink;

import java.net.URL;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.util.ChildFirstClassLoader;

/** The classes of the user's jars: their own libraries come before those that are here, as in Flink. */
final class UserJars {
    // What both sides must have in common.
    private static final String[] SHARED = {
        "java.",
        "javax.",
        "scala.",
        "org.apache.flink.",
        "org.apache.spark.",
        "org.apache.hadoop.",
        "org.slf4j.",
        "sqlstream.",
    };
    // Each build of a jar has another name, and a loader of its own; functions that are open keep theirs.
    private static final int KEPT = 100;
    private static final Map<List<String>, ClassLoader> LOADERS = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<List<String>, ClassLoader> eldest) {
            return size() > KEPT;
        }
    };

    private UserJars() {}

    static synchronized ClassLoader loader(List<String> paths, URL[] urls) {
        return LOADERS.computeIfAbsent(
                paths,
                key -> new ChildFirstClassLoader(urls, UserJars.class.getClassLoader(), SHARED, unexpected -> {}));
    }
}
