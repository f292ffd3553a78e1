package io.holdfast.proxy.sim;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * The proxy with a bug: a few lines of its source replaced, compiled in memory, and loaded apart from the classes as they are.
 * Fails when the lines are not there, so that a mutant cannot go stale unseen.
 */
final class Mutant {
    private static final Path ROOT = Path.of(System.getProperty("holdfast.root", ".."));

    private final String name;
    private final String expected;
    private final Map<String, String> sources = new LinkedHashMap<>();

    /** What is said when the bug is found has to hold {@code expected}. */
    Mutant(String name, String expected) {
        this.name = name;
        this.expected = expected;
    }

    /** Replaces a text, that has to be there once, in a source file: {@code store/Lane} or {@code proxy/uplink/LaneDelivery}. */
    Mutant replace(String file, String present, String changed) {
        String module = file.startsWith("store/") ? "store" : "proxy";
        Path path = ROOT.resolve(module).resolve("src/main/java/io/holdfast").resolve(file + ".java");
        String className = "io.holdfast." + file.replace('/', '.');
        String source = sources.computeIfAbsent(className, unused -> read(path));
        int at = source.indexOf(present);
        if (at < 0 || source.indexOf(present, at + 1) >= 0) {
            throw new AssertionError("mutant '" + name + "': " + path + " does not hold exactly once:\n" + present);
        }
        sources.put(className, source.replace(present, changed));
        return this;
    }

    private static String read(Path path) {
        try {
            return Files.readString(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Plays seeds on it; what was found first, or null. */
    String play(long from, int count) {
        try {
            Class<?> seeds = new Loader(compile()).loadClass(Seeds.class.getName());
            Method method = seeds.getMethod("firstFailure", long.class, int.class, String.class);
            return (String) method.invoke(null, from, count, expected);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("mutant '" + name + "' cannot be played", e);
        }
    }

    private Map<String, byte[]> compile() {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        Map<String, ByteArrayOutputStream> classes = new HashMap<>();
        JavaFileManager files = new ForwardingJavaFileManager<>(compiler.getStandardFileManager(null, null, null)) {
            @Override
            public JavaFileObject getJavaFileForOutput(
                    Location location, String className, JavaFileObject.Kind kind, FileObject sibling) {
                return new SimpleJavaFileObject(URI.create("mem:///" + className), kind) {
                    @Override
                    public OutputStream openOutputStream() {
                        return classes.computeIfAbsent(className, unused -> new ByteArrayOutputStream());
                    }
                };
            }
        };
        List<JavaFileObject> units = sources.entrySet().stream()
                .<JavaFileObject>map(entry ->
                        new SimpleJavaFileObject(
                                URI.create("mem:///" + entry.getKey().replace('.', '/') + ".java"),
                                JavaFileObject.Kind.SOURCE) {
                            @Override
                            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                                return entry.getValue();
                            }
                        })
                .toList();
        StringWriter messages = new StringWriter();
        List<String> options = List.of("-classpath", System.getProperty("java.class.path"), "-proc:none", "-nowarn");
        if (!compiler.getTask(messages, files, null, options, null, units).call()) {
            throw new AssertionError("mutant '" + name + "' does not compile:\n" + messages);
        }
        Map<String, byte[]> bytes = new HashMap<>();
        classes.forEach((className, out) -> bytes.put(className, out.toByteArray()));
        return bytes;
    }

    @Override
    public String toString() {
        return name;
    }

    /** Loads everything of this project anew, so that it meets the changed classes; the rest is shared. */
    private static final class Loader extends ClassLoader {
        private final Map<String, byte[]> changed;

        Loader(Map<String, byte[]> changed) {
            super(Mutant.class.getClassLoader());
            this.changed = changed;
        }

        @Override
        protected Class<?> loadClass(String className, boolean resolve) throws ClassNotFoundException {
            if (!className.startsWith("io.holdfast.")) {
                return super.loadClass(className, resolve);
            }
            synchronized (getClassLoadingLock(className)) {
                Class<?> loaded = findLoadedClass(className);
                return loaded != null ? loaded : define(className);
            }
        }

        private Class<?> define(String className) throws ClassNotFoundException {
            byte[] bytes = changed.get(className);
            if (bytes == null) {
                try (InputStream in = getParent().getResourceAsStream(className.replace('.', '/') + ".class")) {
                    if (in == null) {
                        throw new ClassNotFoundException(className);
                    }
                    bytes = in.readAllBytes();
                } catch (IOException e) {
                    throw new ClassNotFoundException(className, e);
                }
            }
            return defineClass(className, bytes, 0, bytes.length);
        }
    }
}
