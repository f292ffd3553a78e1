package io.holdfast.proxy.testing;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * A process and everything it has printed (standard output and error together). Its standard input stays open until it
 * ends. Killed at the latest when this JVM ends.
 */
final class ChildProcess {
    private static final Set<Process> RUNNING = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime()
                .addShutdownHook(new Thread(() -> RUNNING.forEach(Process::destroyForcibly), "end-children"));
    }

    private final String name;
    private final Process process;
    private final Thread reader;
    private final List<String> lines = new ArrayList<>();
    private volatile boolean ended;

    private ChildProcess(final String name, final Process process) {
        this.name = name;
        this.process = process;
        this.reader = new Thread(this::read, name + "-output");
        reader.setDaemon(true);
    }

    static ChildProcess start(final String name, final List<String> command) {
        try {
            final Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            RUNNING.add(process);
            final ChildProcess child = new ChildProcess(name, process);
            child.reader.start();
            return child;
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void read() {
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                synchronized (lines) {
                    lines.add(line);
                    lines.notifyAll();
                }
            }
        } catch (final IOException e) {
            // The stream of a process that was just killed: what it had printed before is kept.
        }
        synchronized (lines) {
            ended = true;
            lines.notifyAll();
        }
    }

    /** Waits for a line; an AssertionError with all output if it does not come, or the output ends first. */
    String awaitLine(final Predicate<String> wanted, final Duration timeout) {
        final String line = awaitLineOrEnd(wanted, timeout);
        if (line == null) {
            throw new AssertionError(name + (ended ? " ended" : " did not print it in " + timeout) + ":\n" + output());
        }
        return line;
    }

    /** Waits for a line; null if it does not come, or the output ends first. */
    String awaitLineOrEnd(final Predicate<String> wanted, final Duration timeout) {
        final long deadlineNanos = System.nanoTime() + timeout.toNanos();
        synchronized (lines) {
            int next = 0;
            while (true) {
                for (; next < lines.size(); next++) {
                    if (wanted.test(lines.get(next))) {
                        return lines.get(next);
                    }
                }
                final long leftMs = (deadlineNanos - System.nanoTime()) / 1_000_000;
                if (ended || leftMs <= 0) {
                    return null;
                }
                try {
                    lines.wait(leftMs);
                } catch (final InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new AssertionError("interrupted while waiting for " + name, e);
                }
            }
        }
    }

    /** Whether it ends by itself within that time. */
    boolean endsWithin(final Duration timeout) {
        try {
            return process.waitFor(timeout.toMillis(), MILLISECONDS);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for " + name, e);
        }
    }

    /** Waits for the end and for the last line; an AssertionError, and SIGKILL, if it does not end in time. */
    int awaitExit(final Duration timeout) {
        try {
            if (!process.waitFor(timeout.toMillis(), MILLISECONDS)) {
                kill();
                throw new AssertionError(name + " did not end within " + timeout + ":\n" + output());
            }
            RUNNING.remove(process);
            reader.join(timeout.toMillis());
            return process.exitValue();
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for " + name, e);
        }
    }

    /** SIGKILL, and waits for the end. */
    void kill() {
        process.destroyForcibly();
        awaitExit(Duration.ofSeconds(10));
    }

    /** SIGTERM, and waits for the end. */
    int terminate(final Duration timeout) {
        process.destroy();
        return awaitExit(timeout);
    }

    boolean isAlive() {
        return process.isAlive();
    }

    long pid() {
        return process.pid();
    }

    List<String> lines() {
        synchronized (lines) {
            return List.copyOf(lines);
        }
    }

    String output() {
        return String.join("\n", lines());
    }
}
