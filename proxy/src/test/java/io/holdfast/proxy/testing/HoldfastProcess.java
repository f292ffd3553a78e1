package io.holdfast.proxy.testing;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * The proxy, or any other {@code holdfast} command, in a JVM of its own, with this JVM's class path. The same object
 * starts it again after it has ended.
 */
public final class HoldfastProcess implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String READY = "holdfast ready";

    private final List<String> arguments;
    private final List<String> jvmFlags = new ArrayList<>(List.of("-Xmx256m"));
    private List<String> prefix = List.of();
    private final StringBuilder earlier = new StringBuilder();
    private ChildProcess process;

    private HoldfastProcess(final List<String> arguments) {
        this.arguments = arguments;
    }

    /** Prepares {@code holdfast arguments…}; nothing runs yet. */
    public static HoldfastProcess of(final String... arguments) {
        return new HoldfastProcess(new ArrayList<>(List.of(arguments)));
    }

    /**
     * Prepares a proxy.
     *
     * @param adminPort of the loopback interface, or 0 for none
     */
    public static HoldfastProcess proxy(
            final String upstream,
            final int port,
            final int adminPort,
            final Path dataDirectory,
            final String... flags) {
        final List<String> arguments = new ArrayList<>(List.of(
                "run",
                "--upstream",
                upstream,
                "--listen",
                "mqtt://127.0.0.1:" + port,
                "--admin",
                adminPort == 0 ? "off" : "127.0.0.1:" + adminPort,
                "--data-dir",
                dataDirectory.toString()));
        arguments.addAll(List.of(flags));
        return new HoldfastProcess(arguments);
    }

    /** Further arguments. */
    public HoldfastProcess with(final String... more) {
        arguments.addAll(List.of(more));
        return this;
    }

    /** Further flags of the child JVM; they follow {@code -Xmx256m} and win over it. */
    public HoldfastProcess jvmFlags(final String... flags) {
        jvmFlags.addAll(List.of(flags));
        return this;
    }

    /** With at most so many file descriptors ({@code ulimit -n}). */
    public HoldfastProcess descriptorLimit(final int descriptors) {
        prefix = List.of("/bin/sh", "-c", "ulimit -n " + descriptors + " && exec \"$@\"", "sh");
        return this;
    }

    /** Starts it and waits until it says that it is ready. */
    public HoldfastProcess start() {
        launch();
        process.awaitLine(line -> line.contains(READY), PATIENCE);
        return this;
    }

    /**
     * Starts it and waits until it is ready, has ended, or has printed a line that contains {@code other}.
     *
     * @return whether it is ready
     */
    public boolean startUnless(final String other) {
        launch();
        final String line =
                process.awaitLineOrEnd(printed -> printed.contains(READY) || printed.contains(other), PATIENCE);
        if (line == null && !endsWithin(Duration.ofSeconds(10))) {
            throw new AssertionError("holdfast is not ready in " + PATIENCE + ":\n" + output());
        }
        return line != null && line.contains(READY);
    }

    /** Starts it and waits for nothing: for commands that end by themselves, or starts that must be refused. */
    public HoldfastProcess launch() {
        if (process != null && process.isAlive()) {
            throw new IllegalStateException("already started");
        }
        if (process != null) {
            earlier.append(process.output()).append('\n');
        }
        final List<String> command = new ArrayList<>(prefix);
        command.add(Programs.java());
        command.addAll(Programs.storeFlags());
        command.addAll(jvmFlags);
        command.add("@" + classPathFile());
        command.add("io.holdfast.proxy.cli.Holdfast");
        command.addAll(arguments);
        process = ChildProcess.start("holdfast", command);
        return this;
    }

    /** As it is shipped: directories of classes, too, as jars, which are opened once and not for each class. */
    private String classPath() throws IOException {
        final String own = System.getProperty("java.class.path");
        if (prefix.isEmpty()) {
            return own;
        }
        final List<String> entries = new ArrayList<>();
        for (final String entry : own.split(File.pathSeparator, -1)) {
            entries.add(Files.isDirectory(Path.of(entry)) ? jarOf(Path.of(entry)) : entry);
        }
        return String.join(File.pathSeparator, entries);
    }

    private static String jarOf(final Path directory) throws IOException {
        final Path jar = Files.createTempFile("holdfast-test", ".jar");
        jar.toFile().deleteOnExit();
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(jar));
                Stream<Path> files = Files.walk(directory)) {
            for (final Path file : files.filter(Files::isRegularFile).toList()) {
                out.putNextEntry(new ZipEntry(directory.relativize(file).toString()));
                Files.copy(file, out);
            }
        }
        return jar.toString();
    }

    /** A file, since a class path may be longer than a command line. */
    private Path classPathFile() {
        try {
            final Path file = Files.createTempFile("holdfast-test", ".classpath");
            file.toFile().deleteOnExit();
            final String quoted = classPath().replace("\\", "\\\\").replace("\"", "\\\"");
            return Files.writeString(file, "-cp \"" + quoted + "\"");
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** SIGKILL, at once; returns when it is gone. */
    public void kill9() {
        process.kill();
    }

    /** SIGTERM; returns the exit code, an AssertionError if it does not end within a minute. */
    public int sigterm() {
        return process.terminate(PATIENCE);
    }

    /** Waits for it to end by itself. */
    public int awaitExit(final Duration timeout) {
        return process.awaitExit(timeout);
    }

    /** Waits for a line of the present run that contains this. */
    public String awaitOutput(final String part, final Duration timeout) {
        return process.awaitLine(line -> line.contains(part), timeout);
    }

    /** Waits for a line of the present run that contains this; false if it does not come in time, or the output ends. */
    public boolean hasPrinted(final String part, final Duration timeout) {
        return process.awaitLineOrEnd(line -> line.contains(part), timeout) != null;
    }

    /** Whether it ends by itself within that time. */
    public boolean endsWithin(final Duration timeout) {
        return process.endsWithin(timeout);
    }

    public boolean isAlive() {
        return process != null && process.isAlive();
    }

    /** Objects of each class after a full garbage collection, by the JVM's own count; the text of {@code jcmd}. */
    public String liveObjects() {
        final ChildProcess jcmd =
                ChildProcess.start("jcmd", List.of(Programs.jcmd(), Long.toString(pid()), "GC.class_histogram"));
        jcmd.awaitExit(PATIENCE);
        return jcmd.output();
    }

    public long pid() {
        return process.pid();
    }

    /** Standard output and error of the present run. */
    public String output() {
        return process.output();
    }

    /** Standard output and error of all runs. */
    public String allOutput() {
        return earlier + output();
    }

    @Override
    public void close() {
        if (isAlive()) {
            process.kill();
        }
    }
}
