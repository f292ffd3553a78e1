package io.holdfast.proxy.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The proxy, or any other {@code holdfast} command, in a JVM of its own, with this JVM's class path. The same object
 * starts it again after it has ended.
 */
public final class HoldfastProcess implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String READY = "holdfast ready";

    private final List<String> arguments;
    private final List<String> jvmFlags = new ArrayList<>(List.of("-Xmx256m"));
    private final StringBuilder earlier = new StringBuilder();
    private ChildProcess process;

    private HoldfastProcess(final List<String> arguments) {
        this.arguments = arguments;
    }

    /** Prepares {@code holdfast arguments…}; nothing runs yet. */
    public static HoldfastProcess of(final String... arguments) {
        return new HoldfastProcess(List.of(arguments));
    }

    /** Further flags of the child JVM; they follow {@code -Xmx256m} and win over it. */
    public HoldfastProcess jvmFlags(final String... flags) {
        jvmFlags.addAll(List.of(flags));
        return this;
    }

    /** Starts it and waits until it says that it is ready. */
    public HoldfastProcess start() {
        launch();
        process.awaitLine(line -> line.contains(READY), PATIENCE);
        return this;
    }

    /** Starts it and waits for nothing: for commands that end by themselves, or starts that must be refused. */
    public HoldfastProcess launch() {
        if (process != null && process.isAlive()) {
            throw new IllegalStateException("already started");
        }
        if (process != null) {
            earlier.append(process.output()).append('\n');
        }
        final List<String> command = new ArrayList<>();
        command.add(Programs.java());
        command.addAll(Programs.storeFlags());
        command.addAll(jvmFlags);
        command.add("@" + classPathFile());
        command.add("io.holdfast.proxy.cli.Holdfast");
        command.addAll(arguments);
        process = ChildProcess.start("holdfast", command);
        return this;
    }

    /** A file, since a class path may be longer than a command line. */
    private static Path classPathFile() {
        try {
            final Path file = Files.createTempFile("holdfast-test", ".classpath");
            file.toFile().deleteOnExit();
            final String quoted =
                    System.getProperty("java.class.path").replace("\\", "\\\\").replace("\"", "\\\"");
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

    public boolean isAlive() {
        return process != null && process.isAlive();
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
