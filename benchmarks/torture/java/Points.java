package torture;

import java.io.IOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.apache.xbean.asm9.ClassReader;
import org.apache.xbean.asm9.ClassVisitor;
import org.apache.xbean.asm9.ClassWriter;
import org.apache.xbean.asm9.MethodVisitor;
import org.apache.xbean.asm9.Opcodes;

/**
 * An agent of Spark's JVMs that stops a thread where it is about to create or rename a certain file, so that a process
 * can be killed at that very moment.
 *
 * <p>A file {@code armed} in the agent's folder has three lines: a number of its own, how many such files are let
 * pass, and a pattern that is looked for in {@code create PATH} or {@code rename PATH}. Who meets it renames it to
 * {@code hit} and waits until that is gone.
 */
public final class Points implements ClassFileTransformer {
    private static final String FILES = "org/apache/hadoop/fs/RawLocalFileSystem";
    private static final long LONGEST_MS = 60_000;
    private static final Map<String, AtomicInteger> SEEN = new ConcurrentHashMap<>();
    private static Path folder;

    public static void premain(String where, Instrumentation instrumentation) {
        folder = Path.of(where);
        instrumentation.addTransformer(new Points());
    }

    /** What each method of Hadoop's local files that creates or renames one calls first. */
    public static void at(String what, Object path) throws IOException {
        Path armed = folder.resolve("armed");
        if (!Files.exists(armed)) {
            return;
        }
        try {
            String[] lines = Files.readString(armed).split("\n", 3);
            if (lines.length < 3
                    || !Pattern.compile(lines[2].strip())
                            .matcher(what + " " + path)
                            .find()) {
                return;
            }
            int met = SEEN.computeIfAbsent(lines[0], k -> new AtomicInteger()).getAndIncrement();
            if (met != Integer.parseInt(lines[1])) {
                return;
            }
            Files.writeString(folder.resolve("where"), what + " " + path + "\n");
            Files.move(armed, folder.resolve("hit"));
            long end = System.currentTimeMillis() + LONGEST_MS;
            while (Files.exists(folder.resolve("hit")) && System.currentTimeMillis() < end) {
                Thread.sleep(5);
            }
        } catch (NoSuchFileException disarmed) {
            return;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> before, ProtectionDomain domain, byte[] code) {
        if (!FILES.equals(name)) {
            return null;
        }
        ClassReader reader = new ClassReader(code);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(new Calls(writer), 0);
        return writer.toByteArray();
    }

    private static final class Calls extends ClassVisitor {
        private Calls(ClassVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String types, String signature, String[] thrown) {
            MethodVisitor next = super.visitMethod(access, name, types, signature, thrown);
            boolean renames = name.equals("rename");
            if (!renames && !name.equals("createOutputStreamWithMode")) {
                return next;
            }
            return new MethodVisitor(Opcodes.ASM9, next) {
                @Override
                public void visitCode() {
                    super.visitCode();
                    visitLdcInsn(renames ? "rename" : "create");
                    // The file's name is the first argument, its new name the second.
                    visitVarInsn(Opcodes.ALOAD, renames ? 2 : 1);
                    visitMethodInsn(
                            Opcodes.INVOKESTATIC,
                            "torture/Points",
                            "at",
                            "(Ljava/lang/String;Ljava/lang/Object;)V",
                            false);
                }
            };
        }
    }
}
