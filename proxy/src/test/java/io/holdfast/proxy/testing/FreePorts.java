package io.holdfast.proxy.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.HashSet;
import java.util.Set;

/** Hands out loopback ports that nobody listens on; no port twice in one JVM. */
public final class FreePorts {
    private static final Set<Integer> TAKEN = new HashSet<>();

    private FreePorts() {}

    /** A port that is free now. Another process may still take it before the caller binds it. */
    public static synchronized int next() {
        while (true) {
            try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                if (TAKEN.add(socket.getLocalPort())) {
                    return socket.getLocalPort();
                }
            } catch (final IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
