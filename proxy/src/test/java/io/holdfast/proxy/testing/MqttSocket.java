package io.holdfast.proxy.testing;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Arrays;

/** Whole MQTT packets over a blocking socket. One thread reads; any thread sends. */
public final class MqttSocket {
    private static final int NO_MORE = -1;

    private final Socket socket;
    private final InputStream in;
    private final Object sending = new Object();

    /** Takes over a connected socket. */
    public MqttSocket(final Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        this.in = new BufferedInputStream(socket.getInputStream());
    }

    /** Sends bytes, whatever they are. */
    public void send(final byte[] bytes) throws IOException {
        synchronized (sending) {
            socket.getOutputStream().write(bytes);
        }
    }

    /**
     * Reads one packet.
     *
     * @param timeout zero waits for ever
     * @return null when the peer has closed in good order between two packets
     * @throws SocketTimeoutException when nothing came; the next call may try again
     * @throws IOException when the connection broke, or within a packet the bytes ended or stalled
     */
    public Packet read(final Duration timeout) throws IOException {
        socket.setSoTimeout((int) timeout.toMillis());
        final int first = in.read();
        if (first == NO_MORE) {
            return null;
        }
        try {
            final byte[] header = new byte[5];
            header[0] = (byte) first;
            int headerLength = 1;
            int remaining = 0;
            do {
                if (headerLength == header.length) {
                    throw new IOException("Remaining Length of more than four bytes: " + Arrays.toString(header));
                }
                header[headerLength] = (byte) next();
                remaining |= (header[headerLength] & 0x7F) << (7 * (headerLength - 1));
            } while ((header[headerLength++] & 0x80) != 0);
            final byte[] packet = Arrays.copyOf(header, headerLength + remaining);
            if (in.readNBytes(packet, headerLength, remaining) != remaining) {
                throw new EOFException("the connection ended within a packet");
            }
            return new Packet(packet, headerLength);
        } catch (final SocketTimeoutException e) {
            throw new IOException("a packet began and did not end within " + timeout, e);
        }
    }

    private int next() throws IOException {
        final int value = in.read();
        if (value == NO_MORE) {
            throw new EOFException("the connection ended within a fixed header");
        }
        return value;
    }

    void setReceiveBuffer(final int bytes) throws IOException {
        socket.setReceiveBufferSize(bytes);
    }

    void shutdownOutput() throws IOException {
        socket.shutdownOutput();
    }

    int localPort() {
        return socket.getLocalPort();
    }

    /** FIN. */
    void close() throws IOException {
        socket.close();
    }

    /** RST: whatever the peer has not read yet is lost to it. */
    void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }
}
