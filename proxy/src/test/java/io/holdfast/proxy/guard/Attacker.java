package io.holdfast.proxy.guard;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The thread of one {@link Attack}, and its sockets. What the proxy does to them is no failure. */
final class Attacker implements AutoCloseable {
    private static final int MOST_SOCKETS = 1500;
    private static final int TIMEOUT_MS = 2_000;

    private final int port;
    private final Thread thread;
    private final CountDownLatch over = new CountDownLatch(1);
    private final ArrayDeque<Socket> sockets = new ArrayDeque<>();
    private volatile Throwable failure;

    Attacker(Attack attack, int port) {
        this.port = port;
        this.thread = new Thread(
                () -> {
                    try {
                        attack.run(this);
                    } catch (IOException | InterruptedException | RuntimeException e) {
                        failure = e;
                    }
                },
                "attack-" + attack);
        thread.setDaemon(true);
        thread.start();
    }

    boolean isOn() {
        return over.getCount() > 0;
    }

    /** Waits; false once it is over. */
    boolean pause(long ms) throws InterruptedException {
        return !over.await(ms, TimeUnit.MILLISECONDS);
    }

    /** A new connection; the oldest of too many is given up. A refused one is not connected. */
    Socket open() {
        Socket socket = new Socket();
        try {
            socket.setSoTimeout(TIMEOUT_MS);
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), TIMEOUT_MS);
        } catch (IOException refused) {
            close(socket);
        }
        sockets.addLast(socket);
        if (sockets.size() > MOST_SOCKETS) {
            close(sockets.removeFirst());
        }
        return socket;
    }

    /** False if the connection is there no more. */
    boolean send(Socket socket, byte[] bytes) {
        if (socket == null) {
            return false;
        }
        try {
            socket.getOutputStream().write(bytes);
            return true;
        } catch (IOException closed) {
            return false;
        }
    }

    void read(Socket socket, int bytes) {
        try {
            socket.getInputStream().readNBytes(bytes);
        } catch (IOException closed) {
            // seen by the next send
        }
    }

    void reset(Socket socket) {
        try {
            socket.setSoLinger(true, 0);
        } catch (IOException closed) {
            // closed is what it is to be
        }
        close(socket);
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Ends it, with a failure of the attack's own if there was one. */
    @Override
    public void close() {
        over.countDown();
        try {
            thread.join(TimeUnit.SECONDS.toMillis(20));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive() || failure != null) {
            throw new AssertionError(thread.getName() + " does not end or failed", failure);
        }
        sockets.forEach(this::reset);
    }
}
