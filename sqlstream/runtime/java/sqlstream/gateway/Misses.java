package sqlstream.gateway;

import java.net.URL;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.util.MutableURLClassLoader;

/**
 * Remembers which classes there are not. The compiler of generated code asks for each name that it meets in every
 * package that could have it, and each time Java asks every jar of the class path: a tenth of what a small query costs.
 * The class path of a JVM that runs stays as it is, but for jars that are added here.
 */
public final class Misses extends ClassLoader {
    /** The names that Spark's own code brings are some thousands. */
    private static final int MOST = 50_000;

    static {
        registerAsParallelCapable();
    }

    private final Set<String> missing = ConcurrentHashMap.newKeySet();
    private final MutableURLClassLoader path;

    Misses(ClassLoader parent) {
        this(new MutableURLClassLoader(new URL[0], parent));
    }

    private Misses(MutableURLClassLoader path) {
        super(path);
        this.path = path;
    }

    /** Classes of the jar {@code url} are there from now on: the driver and tasks in this JVM share them. */
    public void addURL(URL url) {
        path.addURL(url);
        missing.clear();
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (missing.contains(name)) {
            throw new Missed(name);
        }
        try {
            return getParent().loadClass(name);
        } catch (ClassNotFoundException absent) {
            if (missing.size() >= MOST) {
                missing.clear();
            }
            missing.add(name);
            throw absent;
        }
    }

    /** Without a stack trace, which would cost more than the answer. */
    private static final class Missed extends ClassNotFoundException {
        private static final long serialVersionUID = 1L;

        Missed(String name) {
            super(name);
        }

        @Override
        public synchronized Throwable fillInStackTrace() {
            return this;
        }

        /** As the first one reads. */
        @Override
        public String toString() {
            return ClassNotFoundException.class.getName() + ": " + getMessage();
        }
    }
}
