package io.holdfast.proxy.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A device that begins a new session with each connection and sends the same QoS 2 message with the same Packet Identifier in
 * each, without ever releasing it: a received id that outlived its session would swallow the next message. The topic is
 * {@code d/NAME/2}, the payload 1. What was answered with PUBREC has to come once; what was not may have come.
 */
public final class SessionEndingDevice implements Runnable {
    private static final Duration ANSWER = Duration.ofSeconds(20);
    private static final int PACKET_ID = 7;
    private static final byte[] PAYLOAD = "1".getBytes(StandardCharsets.US_ASCII);

    private final String name;
    private final int port;
    private final List<String> faults = new ArrayList<>();
    private int sent;
    private int received;
    private volatile boolean stopping;

    /** A device that is not started. */
    public SessionEndingDevice(String name, int port) {
        this.name = name;
        this.port = port;
    }

    /** Ends soon. */
    public void finish() {
        stopping = true;
    }

    @Override
    public void run() {
        while (!stopping) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                converse(new MqttSocket(socket));
            } catch (IOException e) {
                // the next connection is a new session in any case
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
        }
    }

    private void converse(MqttSocket socket) throws IOException {
        socket.send(new Packets.Connect(Packets.V5, name)
                .cleanStart(true)
                .keepAlive(60)
                .properties(Packets.property32(0x11, 3600))
                .bytes());
        Packet connack = socket.read(ANSWER);
        if (connack == null || connack.type() != Packet.CONNACK || connack.reasonCode() != 0) {
            return;
        }
        if (connack.sessionPresent()) {
            faults.add(name + ": Session Present 1 after a clean start");
        }
        sent++;
        socket.send(Packets.publishFlags(Packets.V5, 4, PACKET_ID, "d/" + name + "/2", Packets.NONE, PAYLOAD));
        Packet answer = socket.read(ANSWER);
        if (answer != null && answer.type() == Packet.PUBREC && answer.reasonCode() < 0x80) {
            received++;
        } else if (answer != null) {
            faults.add(name + ": unexpected " + answer);
        }
    }

    /** What is wrong with what a subscriber got. After the end. */
    public List<String> judge(Subscribers subscribers) {
        List<String> all = new ArrayList<>(faults);
        int came = subscribers.received(name, 2).size();
        if (came < received || came > sent) {
            all.add(name + ": " + sent + " were sent, " + received + " were answered, " + came + " came");
        }
        return all;
    }

    /** Messages answered with PUBREC. After the end. */
    public int received() {
        return received;
    }
}
