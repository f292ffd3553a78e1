package io.holdfast.proxy.testing;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A broker that does what the test says, and records everything it receives in order. Each connection has a thread and a
 * {@link Script}. {@link #close()} fails the test if a script failed with anything but a broken connection.
 */
public final class ScriptedBroker implements AutoCloseable {
    private final Object lock = new Object();
    private final List<Received> received = new ArrayList<>();
    private final List<BrokerConnection> connections = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private final int port = FreePorts.next();
    private ServerSocket listener;
    private Thread acceptor;
    private Script script;

    private ScriptedBroker(final Script script) {
        this.script = script;
    }

    /** Listens on a free loopback port; every connection gets this script. */
    public static ScriptedBroker start(final Script script) {
        final ScriptedBroker broker = new ScriptedBroker(script);
        broker.listen();
        return broker;
    }

    /** Listens; connection 0 gets the first script, 1 the second, and all further ones the last. */
    public static ScriptedBroker startSequence(final Script... scripts) {
        return start(connection -> scripts[Math.min(connection.index(), scripts.length - 1)].run(connection));
    }

    public int port() {
        return port;
    }

    /** The URL for {@code --upstream}. */
    public String url() {
        return "mqtt://127.0.0.1:" + port;
    }

    /** Further connections get this script. */
    public void script(final Script next) {
        synchronized (lock) {
            script = next;
        }
    }

    /** Listens (again) on the same port. */
    public void listen() {
        try {
            final ServerSocket socket = new ServerSocket();
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            final Thread thread = new Thread(() -> accept(socket), "scripted-broker-accept");
            thread.setDaemon(true);
            synchronized (lock) {
                listener = socket;
                acceptor = thread;
            }
            thread.start();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Stops listening: further connects are refused from the return on. Open connections stay. */
    public void stopListening() {
        final Thread thread;
        synchronized (lock) {
            try {
                listener.close();
            } catch (final IOException e) {
                throw new UncheckedIOException(e);
            }
            thread = acceptor;
        }
        // While it is still inside accept() the kernel goes on taking connections.
        join(thread);
    }

    /** RST on every open connection, as when the broker's machine comes back from a power cut. */
    public void resetAll() {
        for (final BrokerConnection connection : connections()) {
            try {
                connection.reset();
            } catch (final IOException e) {
                // It has ended by itself.
            }
        }
    }

    private void accept(final ServerSocket socket) {
        while (true) {
            final BrokerConnection connection;
            final Thread thread;
            try {
                final MqttSocket accepted = new MqttSocket(socket.accept());
                synchronized (lock) {
                    final int index = connections.size();
                    connection = new BrokerConnection(index, accepted, packet -> record(index, packet));
                    connections.add(connection);
                    final Script current = script;
                    thread = new Thread(() -> serve(connection, current), "scripted-broker-" + index);
                    thread.setDaemon(true);
                    threads.add(thread);
                }
            } catch (final IOException e) {
                return; // No longer listening.
            }
            thread.start();
        }
    }

    private static void join(final Thread thread) {
        try {
            thread.join(5_000);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void serve(final BrokerConnection connection, final Script current) {
        try {
            current.run(connection);
        } catch (final IOException e) {
            // The peer hung up, or the test closed the connection.
        } catch (final RuntimeException | AssertionError e) {
            synchronized (lock) {
                failures.add(e);
            }
        } finally {
            try {
                connection.close();
            } catch (final IOException e) {
                // Closed already.
            }
        }
    }

    private void record(final int index, final Packet packet) {
        synchronized (lock) {
            received.add(new Received(index, packet));
        }
    }

    /** Everything received so far on all connections, in order. */
    public List<Received> received() {
        synchronized (lock) {
            return List.copyOf(received);
        }
    }

    /** The packets of this type received so far, in order. */
    public List<Packet> received(final int type) {
        return received().stream()
                .map(Received::packet)
                .filter(packet -> packet.type() == type)
                .toList();
    }

    /** Waits until at least so many packets of this type have come, and returns all of them. */
    public List<Packet> awaitReceived(final int type, final int count, final Duration timeout) {
        await().atMost(timeout)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> received(type).size() >= count);
        return received(type);
    }

    /** All connections so far, the ended ones too. */
    public List<BrokerConnection> connections() {
        synchronized (lock) {
            return List.copyOf(connections);
        }
    }

    /** The connection with this index; waits for it. */
    public BrokerConnection awaitConnection(final int index, final Duration timeout) {
        await().atMost(timeout)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> connections().size() > index);
        return connections().get(index);
    }

    @Override
    public void close() {
        stopListening();
        resetAll();
        final List<Thread> started;
        synchronized (lock) {
            started = List.copyOf(threads);
        }
        started.forEach(ScriptedBroker::join);
        synchronized (lock) {
            if (!failures.isEmpty()) {
                final AssertionError error = new AssertionError("a script failed: " + failures.get(0));
                failures.forEach(error::addSuppressed);
                throw error;
            }
        }
    }

    /** One packet and the index of the connection that it came on. */
    public record Received(int connection, Packet packet) {}
}
