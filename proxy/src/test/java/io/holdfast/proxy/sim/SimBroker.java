package io.holdfast.proxy.sim;

import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A broker that keeps to the rules, with sessions that outlive connections and its own restarts unless it is told to lose
 * them. Answers when it is told to, in the order of what it received.
 */
final class SimBroker {
    private static final int NOT_AUTHORIZED = 0x87;
    private static final int QUOTA_EXCEEDED = 0x97;
    private static final int ID_NOT_FOUND = 0x92;

    private static final class Session {
        final Map<Integer, SimMessage> received = new TreeMap<>();
        final Map<Integer, SimMessage> lastOfId = new TreeMap<>();
        /** Flows whose last answer has not been sent. */
        final Map<Integer, SimMessage> open = new TreeMap<>();
        /** Nothing has come in it yet, and an earlier one of this client was lost. */
        boolean isFreshAfterLoss;
    }

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Answer(byte[] packet, int packetId, SimMessage finished) {}

    /** A connection to this broker. */
    final class Link implements SimConnection.Peer {
        private final SimConnection connection;
        /** PUBACKs and PUBRECs have an order each [MQTT-4.6.0-2], [MQTT-4.6.0-3]; the others have none among them. */
        private final ArrayDeque<Answer> first = new ArrayDeque<>();

        private final ArrayDeque<Answer> pubacks = new ArrayDeque<>();
        private final ArrayDeque<Answer> pubrecs = new ArrayDeque<>();
        private final ArrayDeque<Answer> pubcomps = new ArrayDeque<>();
        private final List<ArrayDeque<Answer>> all = List.of(first, pubacks, pubrecs, pubcomps);
        private final TreeSet<Integer> open = new TreeSet<>();
        private String clientId;
        private int version;
        private Session session;
        private boolean isEnding;

        Link(SimConnection connection) {
            this.connection = connection;
        }

        boolean isUplink() {
            return clientId != null && clientId.startsWith(UPLINK);
        }

        int version() {
            return version;
        }

        boolean hasAnswers() {
            return !connection.isOver() && all.stream().anyMatch(answers -> !answers.isEmpty());
        }

        void answer() {
            List<ArrayDeque<Answer>> waiting =
                    all.stream().filter(answers -> !answers.isEmpty()).toList();
            ArrayDeque<Answer> answers = first.isEmpty() ? waiting.get(random.nextInt(waiting.size())) : first;
            Answer answer = answers.pollFirst();
            if (answer.finished != null) {
                answer.finished.isFinished = true;
                session.open.remove(answer.packetId);
            }
            connection.send(answer.packet);
            if (isEnding && first.isEmpty()) {
                connection.close();
            }
        }

        private boolean isKeptBack(SimMessage message) {
            if (message == null || !isUplink() || !plan.brokerKeepsOneCompletion || isHealed) {
                return false;
            }
            if (keptBack == null) {
                keptBack = message;
            }
            return keptBack == message;
        }

        @Override
        public void onPacket(SimConnection from, Packet packet) {
            if (isEnding) {
                return;
            }
            switch (packet.type()) {
                case Packet.CONNECT -> onConnect(packet);
                case Packet.PUBLISH -> onPublish(packet);
                case Packet.PUBREL -> onRelease(packet);
                case Packet.PINGREQ -> first.add(new Answer(Packets.pingresp(), 0, null));
                case Packet.DISCONNECT -> {
                    if (packet.body().length > 0 && (packet.body()[0] & 0xFF) >= 0x80) {
                        promises.broken("P11", "the broker is told " + packet);
                    }
                    connection.close();
                }
                default -> promises.broken("P11", packet + " for the broker");
            }
        }

        private void onConnect(Packet packet) {
            version = packet.version();
            clientId = packet.clientId();
            if (version == 5 && !plan.isBroker5) {
                first.add(new Answer(Packets.connack(4, false, 1, Packets.NONE), 0, null));
                isEnding = true;
                return;
            }
            for (Link other : List.copyOf(links)) {
                if (other != this && clientId.equals(other.clientId)) {
                    other.end();
                }
            }
            if (packet.cleanStart()) {
                sessions.remove(clientId);
            }
            boolean isPresent = sessions.containsKey(clientId);
            session = sessions.computeIfAbsent(clientId, id -> new Session());
            if (!isPresent && lost.contains(clientId)) {
                lost.remove(clientId);
                session.isFreshAfterLoss = true;
            }
            boolean expires = !isUplink() && !devices.get(clientId).isPersistent();
            boolean isTemporary = version < 5 ? packet.cleanStart() : expires;
            if (isTemporary) {
                sessions.remove(clientId);
            }
            byte[] properties = version == 5 ? Packets.property16(0x21, plan.brokerReceiveMaximum) : Packets.NONE;
            first.add(new Answer(Packets.connack(version, isPresent, properties), 0, null));
        }

        private void onPublish(Packet packet) {
            int id = packet.packetId();
            SimMessage message = promises.find(
                    version == 5 ? packet.publishProperties() : Packets.NONE, packet.payload(version), "the broker");
            if (message == null) {
                return;
            }
            session.isFreshAfterLoss = false;
            if (message.qos != packet.qos() || !message.topic.equals(packet.topic())) {
                promises.broken("P11", message + " arrives as " + packet);
            }
            open.add(id);
            if (version == 5 && open.size() > plan.brokerReceiveMaximum) {
                promises.broken("P8", "more than the broker's Receive Maximum of " + plan.brokerReceiveMaximum);
            }
            SimMessage known = session.received.get(id);
            if (known != null && (known != message || packet.qos() != 2)) {
                promises.broken(
                        "P5", "packet id " + id + " of " + known + ", whose flow is open, is used for " + message);
            }
            if (known != null && !packet.dup() && message.isRepeat) {
                promises.broken("P5", message + " comes again without DUP in the same session");
            }
            SimMessage unanswered = session.open.put(id, message);
            if (unanswered != null && unanswered != message) {
                promises.broken("P5", "packet id " + id + " of " + unanswered + " is used for " + message);
            }
            session.lastOfId.put(id, message);
            int refusal = known == null ? refusal(message) : 0;
            int type = packet.qos() == 1 ? Packet.PUBACK : Packet.PUBREC;
            if (refusal != 0) {
                open.remove(id);
                message.isRefusedForGood |= refusal == NOT_AUTHORIZED;
                message.mayBeLate |= refusal == QUOTA_EXCEEDED;
                session.open.remove(id);
                (packet.qos() == 1 ? pubacks : pubrecs)
                        .add(new Answer(
                                Packets.ack(type, id, refusal), id, refusal == NOT_AUTHORIZED ? message : null));
                return;
            }
            if (packet.qos() == 1) {
                promises.delivered(message);
                open.remove(id);
                pubacks.add(new Answer(Packets.ack(type, id), id, message));
                return;
            }
            if (known == null) {
                session.received.put(id, message);
                if (!plan.brokerDeliversOnRelease) {
                    promises.delivered(message);
                }
            }
            pubrecs.add(new Answer(Packets.ack(type, id), id, null));
        }

        private int refusal(SimMessage message) {
            if (version < 5) {
                return 0;
            }
            if (message.topic.equals(SimDevice.DENIED_TOPIC)) {
                return NOT_AUTHORIZED;
            }
            return refusing > 0 && refusing-- > 0 && random.nextBoolean() ? QUOTA_EXCEEDED : 0;
        }

        private void onRelease(Packet packet) {
            int id = packet.packetId();
            SimMessage message = session.received.remove(id);
            open.remove(id);
            if (message != null && plan.brokerDeliversOnRelease) {
                promises.delivered(message);
            }
            boolean isUnknown = message == null && version == 5;
            byte[] packetBytes =
                    isUnknown ? Packets.ack(Packet.PUBCOMP, id, ID_NOT_FOUND) : Packets.ack(Packet.PUBCOMP, id);
            SimMessage finished = message != null ? message : session.lastOfId.get(id);
            if (!isKeptBack(finished)) {
                pubcomps.add(new Answer(packetBytes, id, finished));
            }
        }

        void end() {
            isEnding = true;
            all.forEach(ArrayDeque::clear);
            connection.close();
            links.remove(this);
            if (session != null && session.isFreshAfterLoss) {
                promises.lossMayBeUnknown();
            }
        }

        @Override
        public void onClosed(SimConnection ended) {
            end();
        }
    }

    static final String UPLINK = "uplink";

    private final Plan plan;
    private final Promises promises;
    private final SplittableRandom random;
    private final Map<String, SimDevice> devices = new TreeMap<>();
    private final Map<String, Session> sessions = new TreeMap<>();
    private final TreeSet<String> lost = new TreeSet<>();
    private final List<Link> links = new ArrayList<>();
    private boolean isUp = true;
    private int refusing;
    private SimMessage keptBack;
    private boolean isHealed;

    SimBroker(Plan plan, Promises promises, SplittableRandom random) {
        this.plan = plan;
        this.promises = promises;
        this.random = random;
    }

    void knows(SimDevice device) {
        devices.put(device.clientId(), device);
    }

    boolean isUp() {
        return isUp;
    }

    void up() {
        isUp = true;
    }

    /** From now on it answers everything. */
    void heal() {
        isUp = true;
        isHealed = true;
        refusing = 0;
    }

    Link accept(SimConnection connection) {
        Link link = new Link(connection);
        links.add(link);
        return link;
    }

    List<Link> links() {
        return links;
    }

    /** Hangs up on everyone. */
    void down() {
        isUp = false;
        for (Link link : List.copyOf(links)) {
            link.end();
            link.connection.cut();
        }
    }

    /** While it is down. */
    void loseSessions() {
        for (String clientId : sessions.keySet()) {
            if (clientId.startsWith(UPLINK)) {
                lost.add(clientId);
            }
        }
        if (random.nextBoolean()) {
            sessions.clear();
            devices.values().forEach(SimDevice::lostByBroker);
        } else {
            sessions.keySet().removeIf(clientId -> clientId.startsWith(UPLINK));
        }
        promises.uplinkSessionsLost();
    }

    /** The next few PUBLISHes may be refused for a time. */
    void refuse(int count) {
        refusing = count;
    }
}
