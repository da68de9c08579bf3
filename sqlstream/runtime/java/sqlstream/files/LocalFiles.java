package sqlstream.files;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ChecksumFs;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FsConstants;
import org.apache.hadoop.fs.FsServerDefaults;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.local.LocalConfigKeys;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Hadoop's local file system without the processes that it starts where it has no native library: {@code chmod} for
 * each new file, {@code readlink} four times for each rename. A micro-batch with a state writes dozens of files.
 */
public final class LocalFiles extends RawLocalFileSystem {
    /** Makes it the file system of {@code file:} paths for all that read {@code conf}, which have not begun to. */
    public static void install(Configuration conf) throws IOException {
        conf.setClassLoader(LocalFiles.class.getClassLoader());
        conf.setClass("fs.file.impl", Checked.class, FileSystem.class);
        conf.set("fs.AbstractFileSystem.file.impl", Context.class.getName());
        // The one that is kept for all was made before.
        FileSystem.get(FsConstants.LOCAL_FS_URI, conf).close();
    }

    @Override
    public void setPermission(Path path, FsPermission permission) throws IOException {
        int mode = permission.toShort();
        if (mode > 0777) {
            super.setPermission(path, permission);
            return;
        }
        EnumSet<PosixFilePermission> set = EnumSet.noneOf(PosixFilePermission.class);
        // In the order of the bits, from the highest: OWNER_READ to OTHERS_EXECUTE.
        for (PosixFilePermission each : PosixFilePermission.values()) {
            if ((mode & 0400 >> each.ordinal()) != 0) {
                set.add(each);
            }
        }
        Files.setPosixFilePermissions(pathToFile(path).toPath(), set);
    }

    @Override
    public FileStatus getFileLinkStatus(Path path) throws IOException {
        // Hadoop asks for a link at the whole URI, where none is, and then for the file.
        return getFileStatus(path);
    }

    /** The same with checksums, as Hadoop's FileSystem. */
    public static final class Checked extends LocalFileSystem {
        public Checked() {
            super(new LocalFiles());
        }
    }

    /** The same with checksums, as Hadoop's FileContext wants it. */
    public static final class Context extends ChecksumFs {
        public Context(URI uri, Configuration conf) throws IOException, URISyntaxException {
            super(new Raw(conf));
        }
    }

    private static final class Raw extends DelegateToFileSystem {
        private Raw(Configuration conf) throws IOException, URISyntaxException {
            super(FsConstants.LOCAL_FS_URI, new LocalFiles(), conf, FsConstants.LOCAL_FS_URI.getScheme(), false);
        }

        @Override
        public int getUriDefaultPort() {
            return -1;
        }

        @Override
        public FsServerDefaults getServerDefaults(Path path) throws IOException {
            return LocalConfigKeys.getServerDefaults();
        }

        @Override
        @Deprecated
        public FsServerDefaults getServerDefaults() throws IOException {
            return LocalConfigKeys.getServerDefaults();
        }

        @Override
        public boolean isValidName(String name) {
            return true;
        }
    }
}
