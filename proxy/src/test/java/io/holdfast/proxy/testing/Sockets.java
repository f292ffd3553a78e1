package io.holdfast.proxy.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;

/** How a test's client opens a connection: with or without TLS. */
public interface Sockets {
    /** Without TLS. */
    Sockets PLAIN = Socket::new;

    /** Connects. */
    Socket open(InetAddress host, int port) throws IOException;
}
