package sqlstream.flink;

import java.net.URL;
import java.util.HashMap;
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
    private static final Map<List<String>, ClassLoader> LOADERS = new HashMap<>();

    private UserJars() {}

    static synchronized ClassLoader loader(List<String> paths, URL[] urls) {
        return LOADERS.computeIfAbsent(
                paths,
                key -> new ChildFirstClassLoader(urls, UserJars.class.getClassLoader(), SHARED, unexpected -> {}));
    }
}
