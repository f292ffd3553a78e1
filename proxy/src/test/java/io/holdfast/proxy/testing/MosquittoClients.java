package io.holdfast.proxy.testing;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** {@code mosquitto_pub} and {@code mosquitto_sub}, as a user would type them. */
public final class MosquittoClients {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String MARK = ">>";

    private MosquittoClients() {}

    /** Runs {@code mosquitto_pub -p port arguments…} to its end; an AssertionError unless it exits with 0. */
    public static String publish(final int port, final String... arguments) {
        final Exit exit = tryPublish(port, arguments);
        if (exit.code() != 0) {
            throw new AssertionError("mosquitto_pub " + List.of(arguments) + " exited with " + exit);
        }
        return exit.output();
    }

    /** Runs {@code mosquitto_pub -p port arguments…} to its end, whatever it is. */
    public static Exit tryPublish(final int port, final String... arguments) {
        return run(command("mosquitto_pub", port, arguments));
    }

    /**
     * Runs {@code mosquitto_sub -p port arguments…} to its end, whatever it is: with {@code -C}, {@code -W} or
     * {@code -E} among the arguments.
     */
    public static Exit trySubscribe(final int port, final String... arguments) {
        return run(command("mosquitto_sub", port, arguments));
    }

    private static Exit run(final List<String> command) {
        final ChildProcess process = ChildProcess.start(command.get(0), command);
        return new Exit(process.awaitExit(PATIENCE), process.output());
    }

    /** Starts {@code mosquitto_sub -p port arguments…}, its lines being topics and payloads, {@code topic|payload}. */
    public static Subscriber subscribe(final int port, final String... arguments) {
        return subscribeFormatted(port, "%t|%p", arguments);
    }

    /** As above, with a format of mosquitto_sub ({@code -F}). Payloads must have no line break. */
    public static Subscriber subscribeFormatted(final int port, final String format, final String... arguments) {
        // Into a pipe mosquitto_sub would tell of its SUBACK only with the first message.
        final List<String> command = new ArrayList<>(List.of(Programs.find("stdbuf"), "-oL"));
        command.addAll(command("mosquitto_sub", port, arguments));
        command.addAll(List.of("-d", "-F", MARK + format));
        final Subscriber subscriber = new Subscriber(ChildProcess.start("mosquitto_sub", command));
        subscriber.process.awaitLine(line -> line.startsWith("Subscribed (mid"), PATIENCE);
        return subscriber;
    }

    private static List<String> command(final String program, final int port, final String... arguments) {
        final List<String> command =
                new ArrayList<>(List.of(Programs.find(program), "-h", "127.0.0.1", "-p", Integer.toString(port)));
        command.addAll(List.of(arguments));
        return command;
    }

    /** How a client ended. */
    public record Exit(int code, String output) {}

    /** A running mosquitto_sub whose SUBACK has come. */
    public static final class Subscriber implements AutoCloseable {
        private final ChildProcess process;

        private Subscriber(final ChildProcess process) {
            this.process = process;
        }

        /** The messages so far, in the order they came, in the format asked for. */
        public List<String> messages() {
            return process.lines().stream()
                    .filter(line -> line.startsWith(MARK))
                    .map(line -> line.substring(MARK.length()))
                    .toList();
        }

        /** Waits until at least so many messages have come, and returns all of them. */
        public List<String> await(final int count, final Duration timeout) {
            final int[] seen = new int[1];
            if (count > 0) {
                process.awaitLine(line -> line.startsWith(MARK) && ++seen[0] == count, timeout);
            }
            return messages();
        }

        /** Waits until this message has come. */
        public void awaitMessage(final String message, final Duration timeout) {
            process.awaitLine((MARK + message)::equals, timeout);
        }

        public boolean isAlive() {
            return process.isAlive();
        }

        /** Everything it has printed, the protocol's packets included. */
        public String output() {
            return process.output();
        }

        /** SIGTERM: it sends DISCONNECT. */
        @Override
        public void close() {
            if (process.isAlive()) {
                process.terminate(PATIENCE);
            }
        }

        /** SIGKILL: no DISCONNECT, a will is due. */
        public void kill() {
            process.kill();
        }
    }
}
