package io.holdfast.proxy.testing;

import java.io.IOException;
import java.time.Duration;
import java.util.function.Consumer;

/** The broker's end of one connection to a {@link ScriptedBroker}. Its script reads; any thread may send or close. */
public final class BrokerConnection {
    private final int index;
    private final MqttSocket socket;
    private final Consumer<Packet> record;
    private Packet connect;

    BrokerConnection(final int index, final MqttSocket socket, final Consumer<Packet> record) {
        this.index = index;
        this.socket = socket;
        this.record = record;
    }

    /** Which connection this is, counted from 0 in the order of accept. */
    public int index() {
        return index;
    }

    /** The next packet, however long it takes; null once the peer has closed. */
    public Packet read() throws IOException {
        final Packet packet = socket.read(Duration.ZERO);
        if (packet != null) {
            if (packet.type() == Packet.CONNECT && connect == null) {
                connect = packet;
            }
            record.accept(packet);
        }
        return packet;
    }

    /** The CONNECT: the first packet, read now unless it has been read before. */
    public Packet readConnect() throws IOException {
        if (connect == null) {
            final Packet packet = read();
            if (packet == null || packet.type() != Packet.CONNECT) {
                throw new IOException("no CONNECT but " + packet);
            }
        }
        return connect;
    }

    /** Protocol version of the CONNECT. */
    public int version() throws IOException {
        return readConnect().version();
    }

    public void send(final byte[]... packets) throws IOException {
        socket.send(Packets.concat(packets));
    }

    /** FIN. */
    public void close() throws IOException {
        socket.close();
    }

    /** RST. */
    public void reset() throws IOException {
        socket.reset();
    }
}
