package io.holdfast.proxy.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A real Mosquitto. Its limits are raised as docs/OPERATIONS.md asks for, since with the stock ones it discards a
 * backlog. Sessions and retained messages survive {@link #stop()}; after {@link #kill()} those since the last start are
 * lost, unless {@code autosave_on_changes} is among the extra lines.
 */
public final class MosquittoBroker implements Broker {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final int port;
    private final Path config;
    private final StringBuilder log = new StringBuilder();
    private ChildProcess process;

    private MosquittoBroker(final int port, final Path config) {
        this.port = port;
        this.config = config;
    }

    /**
     * Prepares a broker; {@link #start()} starts it.
     *
     * @param directory an empty directory of the test for configuration and state
     * @param extraLines further lines of mosquitto.conf; they follow the defaults and win over those with a number
     */
    public static MosquittoBroker create(final Path directory, final String... extraLines) {
        return create(FreePorts.next(), directory, extraLines);
    }

    /** As above, on this port. */
    public static MosquittoBroker create(final int port, final Path directory, final String... extraLines) {
        final List<String> lines = new ArrayList<>(List.of(
                "listener " + port + " 127.0.0.1",
                "allow_anonymous true",
                "user root",
                "persistence true",
                "persistence_location " + directory.toAbsolutePath() + "/",
                "max_queued_messages 0",
                "max_inflight_messages 1000",
                "log_dest stderr"));
        lines.addAll(List.of(extraLines));
        try {
            final Path config = directory.resolve("mosquitto.conf");
            Files.createDirectories(directory);
            Files.write(config, lines);
            return new MosquittoBroker(port, config);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public void start() {
        if (process != null) {
            throw new IllegalStateException("already started");
        }
        process = ChildProcess.start("mosquitto-" + port, List.of(Programs.find("mosquitto"), "-c", config.toString()));
        // The listeners are bound before this line; 1.5 and later print it.
        process.awaitLine(line -> line.endsWith(" running"), PATIENCE);
    }

    @Override
    public void stop() {
        if (process != null) {
            process.terminate(PATIENCE);
            forget();
        }
    }

    @Override
    public void kill() {
        if (process != null) {
            process.kill();
            forget();
        }
    }

    /** Holds it (SIGSTOP): connections stay open, nothing is answered. */
    public void freeze() {
        signal("STOP");
    }

    /** Lets it go on (SIGCONT). */
    public void thaw() {
        signal("CONT");
    }

    private void signal(final String name) {
        ChildProcess.start("kill", List.of("kill", "-" + name, Long.toString(process.pid())))
                .awaitExit(PATIENCE);
    }

    private void forget() {
        log.append(process.output()).append('\n');
        process = null;
    }

    @Override
    public String log() {
        return process == null ? log.toString() : log + process.output();
    }
}
