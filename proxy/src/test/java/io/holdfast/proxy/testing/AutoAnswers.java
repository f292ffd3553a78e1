package io.holdfast.proxy.testing;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Answers as a well-behaved broker without sessions or routing would, but for what the test programs: an answer of its
 * own, none, or one that is kept back until the test lets it go, in any order. One object may serve many connections.
 */
public final class AutoAnswers implements Script {
    private final Map<Integer, Answer> answers = new HashMap<>();
    private final Set<Integer> keptBack = new HashSet<>();
    private final List<Held> held = new ArrayList<>();
    private boolean sessionPresent;
    private byte[] connackProperties = Packets.NONE;

    /** Session Present of every CONNACK from now on. */
    public synchronized AutoAnswers sessionPresent(final boolean present) {
        sessionPresent = present;
        return this;
    }

    /** Properties of every v5 CONNACK from now on. */
    public synchronized AutoAnswers connackProperties(final byte[]... properties) {
        connackProperties = Packets.concat(properties);
        return this;
    }

    /** Answers packets of this type so from now on. */
    public synchronized AutoAnswers on(final int type, final Answer answer) {
        answers.put(type, answer);
        return this;
    }

    /** Answers packets of this type with nothing from now on. */
    public AutoAnswers swallow(final int type) {
        return on(type, (connection, packet) -> Packets.NONE);
    }

    /** Keeps the answers to packets of this type back from now on, for {@link #release}. */
    public synchronized AutoAnswers keepBack(final int type) {
        keptBack.add(type);
        return this;
    }

    /** Ends {@link #keepBack}; what has been kept back stays so. */
    public synchronized AutoAnswers letThrough(final int type) {
        keptBack.remove(type);
        return this;
    }

    /** How many answers are kept back. */
    public synchronized int heldCount() {
        return held.size();
    }

    /** The packets whose answers are kept back, in the order they came. */
    public synchronized List<Packet> held() {
        return held.stream().map(one -> one.packet).toList();
    }

    /** Sends the answer at this place among those kept back; to a dead connection it is dropped. */
    public synchronized void release(final int index) {
        final Held one = held.remove(index);
        try {
            one.connection.send(one.answer);
        } catch (final IOException e) {
            // That connection has ended, and with it the need for this answer.
        }
    }

    /** Sends all answers kept back, in the order they were due. */
    public synchronized void releaseAll() {
        while (!held.isEmpty()) {
            release(0);
        }
    }

    /** Sends all answers kept back, the last one first. */
    public synchronized void releaseReversed() {
        Collections.reverse(held);
        releaseAll();
    }

    /** Forgets all answers kept back. */
    public synchronized void dropHeld() {
        held.clear();
    }

    @Override
    public void run(final BrokerConnection connection) throws IOException {
        answer(connection, connection.readConnect());
        for (Packet packet = connection.read(); packet != null; packet = connection.read()) {
            if (packet.type() == Packet.DISCONNECT) {
                return;
            }
            answer(connection, packet);
        }
    }

    private synchronized void answer(final BrokerConnection connection, final Packet packet) throws IOException {
        final Answer programmed = answers.get(packet.type());
        byte[] answer = programmed == null ? null : programmed.to(connection, packet);
        if (answer == null) {
            answer = usual(connection.version(), packet);
        }
        if (answer.length == 0) {
            return;
        }
        if (keptBack.contains(packet.type())) {
            held.add(new Held(connection, packet, answer));
        } else {
            connection.send(answer);
        }
    }

    private byte[] usual(final int version, final Packet packet) {
        final int id = packet.packetId();
        return switch (packet.type()) {
            case Packet.CONNECT -> Packets.connack(version, sessionPresent && !packet.cleanStart(), connackProperties);
            case Packet.PUBLISH ->
                switch (packet.qos()) {
                    case 1 -> Packets.ack(Packet.PUBACK, id);
                    case 2 -> Packets.ack(Packet.PUBREC, id);
                    default -> Packets.NONE;
                };
            case Packet.PUBREC -> Packets.ack(Packet.PUBREL, id);
            case Packet.PUBREL -> Packets.ack(Packet.PUBCOMP, id);
            case Packet.SUBSCRIBE -> Packets.suback(version, Packet.SUBACK, id, grants(version, packet));
            case Packet.UNSUBSCRIBE ->
                version == Packets.V5
                        ? Packets.suback(
                                version,
                                Packet.UNSUBACK,
                                id,
                                new int[filters(version, packet, false).size()])
                        : Packets.suback(version, Packet.UNSUBACK, id);
            case Packet.PINGREQ -> Packets.pingresp();
            default -> Packets.NONE;
        };
    }

    private static int[] grants(final int version, final Packet packet) {
        return filters(version, packet, true).stream()
                .mapToInt(options -> options & 3)
                .toArray();
    }

    /** The options of each topic filter; zeros where there are none. */
    private static List<Integer> filters(final int version, final Packet packet, final boolean withOptions) {
        final byte[] body = packet.body();
        int offset = 2;
        if (version == Packets.V5) {
            offset += 1 + body[offset]; // Enough for properties of less than 128 bytes.
        }
        final List<Integer> options = new ArrayList<>();
        while (offset < body.length) {
            offset += 2 + (((body[offset] & 0xFF) << 8) | (body[offset + 1] & 0xFF));
            options.add(withOptions ? (int) body[offset++] : 0);
        }
        return options;
    }

    /** An answer of the test's own. */
    @FunctionalInterface
    public interface Answer {
        /** The bytes to send; empty for none, null for the usual answer. May also close the connection. */
        byte[] to(BrokerConnection connection, Packet packet) throws IOException;
    }

    private static final class Held {
        private final BrokerConnection connection;
        private final Packet packet;
        private final byte[] answer;

        Held(final BrokerConnection connection, final Packet packet, final byte[] answer) {
            this.connection = connection;
            this.packet = packet;
            this.answer = answer;
        }
    }
}
