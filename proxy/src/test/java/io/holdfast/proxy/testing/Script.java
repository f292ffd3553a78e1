package io.holdfast.proxy.testing;

import java.io.IOException;
import java.util.function.Predicate;

/** What a {@link ScriptedBroker} does with one connection; when it returns, the connection is closed. */
@FunctionalInterface
public interface Script {

    /**
     * Serves one connection on a thread of its own.
     *
     * @throws IOException when the connection breaks: no failure of the script. An AssertionError is one
     */
    void run(BrokerConnection connection) throws IOException;

    /** Chooses by the CONNECT's client identifier, as session links and uplinks come in on one port. */
    static Script byClientId(final Predicate<String> test, final Script then, final Script otherwise) {
        return connection -> {
            final boolean matches = test.test(connection.readConnect().clientId());
            (matches ? then : otherwise).run(connection);
        };
    }

    /** Accepts the TCP connection and hangs up at once. */
    static Script hangUp() {
        return connection -> {};
    }

    /** Reads everything and answers nothing. */
    static Script silence() {
        return connection -> {
            while (connection.read() != null) {
                // Recorded by the connection.
            }
        };
    }
}
