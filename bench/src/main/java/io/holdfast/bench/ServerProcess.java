package io.holdfast.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A server in a process of its own, ended at the latest with this JVM. Of its output the last lines are kept; later ones
 * than the queue holds are thrown away, so that it never blocks on its output.
 */
final class ServerProcess implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofSeconds(60);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(30);
    private static final int KEPT_LINES = 4096;

    private final String name;
    private final Process process;
    private final Thread hook;
    private final BlockingQueue<String> lines = new ArrayBlockingQueue<>(KEPT_LINES);

    private ServerProcess(String name, Process process) {
        this.name = name;
        this.process = process;
        this.hook = new Thread(process::destroyForcibly, "end-" + name);
    }

    /** Starts it. */
    static ServerProcess start(String name, List<String> command, Map<String, String> environment) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        ServerProcess server = new ServerProcess(name, builder.start());
        Runtime.getRuntime().addShutdownHook(server.hook);
        Thread reader = new Thread(server::read, name + "-output");
        reader.setDaemon(true);
        reader.start();
        return server;
    }

    private void read() {
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                if (!lines.offer(line) || line.contains("ERROR")) {
                    System.err.println(name + ": " + line);
                }
            }
        } catch (IOException e) {
            // The stream of a process that has just been ended.
            lines.offer(name + ": output ended: " + e.getMessage());
        }
    }

    /**
     * Takes lines until one contains {@code part}.
     *
     * @return that line.
     * @throws IOException if it has not come within a minute, or the process has ended.
     */
    String awaitLine(String part) throws IOException, InterruptedException {
        StringBuilder seen = new StringBuilder();
        long leftMs = START_LIMIT.toMillis();
        for (; leftMs > 0; leftMs -= 100) {
            String line = lines.poll(100, TimeUnit.MILLISECONDS);
            if (line != null && line.contains(part)) {
                return line;
            }
            if (line != null) {
                seen.append(line).append('\n');
            } else if (!process.isAlive()) {
                break;
            }
        }
        throw new IOException(name + " did not print '" + part + "':\n" + seen);
    }

    /** CPU time used so far, all its threads together. */
    Duration cpuTime() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    long pid() {
        return process.pid();
    }

    /** SIGKILL; returns once it is gone. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
        Runtime.getRuntime().removeShutdownHook(hook);
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(STOP_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                System.err.println(name + " does not end: killed");
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().removeShutdownHook(hook);
    }
}
