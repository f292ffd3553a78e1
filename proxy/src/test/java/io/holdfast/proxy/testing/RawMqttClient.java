package io.holdfast.proxy.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;

/** A client on a blocking socket that sends exactly the bytes it is told, for peers that misbehave and tests on bytes. */
public final class RawMqttClient implements AutoCloseable {
    /** How long an expected packet may take, unless the test says otherwise. */
    public static final Duration PATIENCE = Duration.ofSeconds(10);

    private final MqttSocket socket;

    private RawMqttClient(final MqttSocket socket) {
        this.socket = socket;
    }

    /** Opens a connection to this loopback port; sends nothing. */
    public static RawMqttClient open(final int port) {
        return open(port, 0);
    }

    /**
     * Opens a connection with a small receive buffer, so that what is not read soon stays with the peer.
     *
     * @param receiveBufferBytes 0 leaves it to the system
     */
    public static RawMqttClient open(final int port, final int receiveBufferBytes) {
        try {
            final Socket socket = new Socket();
            if (receiveBufferBytes > 0) {
                socket.setReceiveBufferSize(receiveBufferBytes);
            }
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), (int) PATIENCE.toMillis());
            return new RawMqttClient(new MqttSocket(socket));
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Opens a connection from this local address, for example one of 127/8. */
    public static RawMqttClient openFrom(final String localAddress, final int port) {
        try {
            final Socket socket = new Socket();
            socket.bind(new InetSocketAddress(localAddress, 0));
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), (int) PATIENCE.toMillis());
            return new RawMqttClient(new MqttSocket(socket));
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Opens a connection over these sockets; sends nothing but what they need for themselves. */
    public static RawMqttClient open(final int port, final Sockets sockets) {
        try {
            return new RawMqttClient(new MqttSocket(sockets.open(InetAddress.getLoopbackAddress(), port)));
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** As below, over these sockets. */
    public static RawMqttClient connect(
            final int port, final Sockets sockets, final int version, final String clientId, final boolean cleanStart) {
        final RawMqttClient client = open(port, sockets);
        client.send(Packets.connect(version, clientId, cleanStart));
        final Packet connack = client.expect(Packet.CONNACK);
        if (connack.reasonCode() != 0) {
            throw new AssertionError("refused: " + connack);
        }
        return client;
    }

    /** Opens a connection, sends CONNECT and expects a CONNACK that accepts. */
    public static RawMqttClient connect(
            final int port, final int version, final String clientId, final boolean cleanStart) {
        return connect(port, Sockets.PLAIN, version, clientId, cleanStart);
    }

    public void send(final byte[] bytes) {
        try {
            socket.send(bytes);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends bytes given in hex; blanks do not count. */
    public void sendHex(final String hex) {
        send(Packets.hex(hex));
    }

    /** Reads the next packet; an AssertionError if none comes in time or the peer closes. */
    public Packet readPacket(final Duration timeout) {
        try {
            final Packet packet = socket.read(timeout);
            if (packet == null) {
                throw new AssertionError("closed by the peer instead of a packet");
            }
            return packet;
        } catch (final SocketTimeoutException e) {
            throw new AssertionError("no packet within " + timeout, e);
        } catch (final IOException e) {
            throw new AssertionError("connection broken instead of a packet", e);
        }
    }

    /** Reads the next packet; null if none comes in time, an AssertionError if the peer closes. */
    public Packet poll(final Duration timeout) {
        try {
            final Packet packet = socket.read(timeout);
            if (packet == null) {
                throw new AssertionError("closed by the peer instead of a packet");
            }
            return packet;
        } catch (final SocketTimeoutException e) {
            return null;
        } catch (final IOException e) {
            throw new AssertionError("connection broken instead of a packet", e);
        }
    }

    /** Reads the next packet, which must be of this type. */
    public Packet expect(final int type) {
        final Packet packet = readPacket(PATIENCE);
        if (packet.type() != type) {
            throw new AssertionError("expected packet type " + type + " but got " + packet);
        }
        return packet;
    }

    /** Reads the next packet, which must be of this type and have this packet identifier. */
    public Packet expect(final int type, final int packetId) {
        final Packet packet = expect(type);
        if (packet.packetId() != packetId) {
            throw new AssertionError("expected packet identifier " + packetId + " but got " + packet);
        }
        return packet;
    }

    /** The peer closes (FIN or RST) and sends nothing before. */
    public void expectClosed(final Duration timeout) {
        final Packet packet;
        try {
            packet = socket.read(timeout);
        } catch (final SocketTimeoutException e) {
            throw new AssertionError("still open after " + timeout, e);
        } catch (final IOException e) {
            return; // An RST is a close too.
        }
        if (packet != null) {
            throw new AssertionError("expected the end of the connection but got " + packet);
        }
    }

    /** Nothing comes for so long, and the connection stays open. */
    public void expectSilence(final Duration duration) {
        try {
            final Packet packet = socket.read(duration);
            throw new AssertionError(packet == null ? "closed by the peer" : "unexpected " + packet);
        } catch (final SocketTimeoutException e) {
            // As it should be.
        } catch (final IOException e) {
            throw new AssertionError("connection broken", e);
        }
    }

    public int localPort() {
        return socket.localPort();
    }

    /** Half-close: FIN, while still reading. */
    public void shutdownOutput() {
        try {
            socket.shutdownOutput();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** RST: what is on the way in both directions is lost. */
    public void reset() {
        try {
            socket.reset();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** FIN without DISCONNECT. */
    @Override
    public void close() {
        try {
            socket.close();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
