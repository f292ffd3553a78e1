package io.holdfast.proxy.testing;

/** A real broker on a loopback port. It may be stopped or killed, and started again on the same port. */
public interface Broker extends AutoCloseable {

    /** The port it listens on, the same over all restarts. */
    int port();

    /** Starts it and returns once it accepts connections. */
    void start();

    /** Ends it in good order (SIGTERM), so that it saves what it keeps; returns once it is gone. */
    void stop();

    /** SIGKILL; returns once it is gone. What was only in its memory is lost. */
    void kill();

    /** What it has printed since it was made. */
    String log();

    /** The URL for {@code --upstream}. */
    default String url() {
        return "mqtt://127.0.0.1:" + port();
    }

    @Override
    default void close() {
        kill();
    }
}
