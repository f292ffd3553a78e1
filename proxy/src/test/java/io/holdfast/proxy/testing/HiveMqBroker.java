package io.holdfast.proxy.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * HiveMQ CE in a JVM of its own: the development broker that {@code make run} starts too. Sessions survive restarts.
 * Starts in about four seconds and stops in as many, so share one between the tests of a class.
 */
public final class HiveMqBroker implements Broker {
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private final int port;
    private final List<String> command;
    private final StringBuilder log = new StringBuilder();
    private ChildProcess process;

    private HiveMqBroker(final int port, final List<String> command) {
        this.port = port;
        this.command = command;
    }

    /**
     * Prepares a broker; {@link #start()} starts it.
     *
     * @param directory an empty directory of the test for configuration and state
     * @param extraArguments further arguments of the development broker, such as {@code --receive-maximum 10}
     */
    public static HiveMqBroker create(final Path directory, final String... extraArguments) {
        final Path target = Programs.root().resolve("proxy/devbroker/target");
        final Path libraries = target.resolve("devbroker/lib");
        if (!Files.isDirectory(libraries)) {
            throw new AssertionError("the development broker is not built: mvn package -pl proxy/devbroker");
        }
        final int port = FreePorts.next();
        final List<String> command = new ArrayList<>(List.of(
                // The last two: tests wait for its start more than for anything it does afterwards.
                Programs.java(), "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        if (Runtime.version().feature() >= 24) {
            command.add("--enable-native-access=ALL-UNNAMED");
            command.add("--sun-misc-unsafe-memory-access=allow");
        }
        command.addAll(List.of(
                "-cp",
                // The classes first: in a plain "mvn test" there is no jar of them yet.
                target.resolve("classes") + ":" + libraries + "/*",
                "io.holdfast.devbroker.DevBroker",
                "--port",
                Integer.toString(port),
                "--data",
                directory.toAbsolutePath().toString()));
        command.addAll(List.of(extraArguments));
        return new HiveMqBroker(port, command);
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
        process = ChildProcess.start("hivemq-" + port, command);
        process.awaitLine(("READY " + port)::equals, PATIENCE);
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

    private void forget() {
        log.append(process.output()).append('\n');
        process = null;
    }

    @Override
    public String log() {
        return process == null ? log.toString() : log + process.output();
    }
}
