package io.holdfast.proxy.sim;

import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A device that keeps to the rules: it resends what is unacknowledged, in order and with DUP, where its session goes on, and
 * as new messages where it does not (MQTT 5 section 4.4).
 */
final class SimDevice implements SimConnection.Peer {
    private static final int NEVER_EXPIRES = -1;
    private static final String[] TOPICS = {"a", "b/c"};
    static final String DENIED_TOPIC = "denied";

    private static final class Flow {
        final SimMessage message;
        int packetId;
        boolean isReceived;

        Flow(SimMessage message) {
            this.message = message;
        }
    }

    private final String clientId;
    private final int version;
    private final boolean isPersistent;
    private final boolean sendsSameContent;
    private final boolean reusesLowIds;
    private final int window;
    private final Plan plan;
    private final Promises promises;
    private final SplittableRandom random;
    private final List<Flow> flows = new ArrayList<>();
    private final List<Integer> repeated = new ArrayList<>();
    private SimConnection connection;
    private boolean isConnected;
    private boolean asksForCleanStart;
    private boolean hasSession;
    private boolean hasToStartAnew;
    private boolean isSessionUncertain;
    private int sent;
    private int lastId;

    SimDevice(int number, Plan plan, Promises promises, SplittableRandom random) {
        this.clientId = "d" + number;
        this.plan = plan;
        this.promises = promises;
        this.random = random;
        this.version = plan.isBroker5 && random.nextInt(3) > 0 ? 5 : 4;
        this.isPersistent = random.nextInt(4) > 0;
        this.sendsSameContent = version == 5 && random.nextBoolean();
        this.reusesLowIds = random.nextBoolean();
        this.window = 1 + random.nextInt(plan.receiveMaximum);
    }

    String clientId() {
        return clientId;
    }

    int version() {
        return version;
    }

    boolean isPersistent() {
        return isPersistent;
    }

    boolean isAway() {
        return connection == null;
    }

    boolean isConnected() {
        return isConnected;
    }

    boolean isDone() {
        return sent == plan.messagesPerDevice && flows.isEmpty();
    }

    // ---- what it does by itself

    void connect(SimConnection made) {
        connection = made;
        isConnected = false;
        repeated.clear();
        asksForCleanStart = !isPersistent || hasToStartAnew || sent == 0 || random.nextInt(12) == 0;
        if (asksForCleanStart) {
            discardSession();
        }
        Packets.Connect packet = new Packets.Connect(version, clientId)
                .cleanStart(asksForCleanStart)
                .keepAlive(0);
        if (version == 5) {
            packet.properties(Packets.property32(0x11, isPersistent ? NEVER_EXPIRES & 0xFFFF_FFFFL : 0));
        }
        made.send(packet.bytes());
    }

    /** Publishes the next message if its window allows; false if there is nothing to do. */
    boolean publish() {
        if (!isConnected || flows.size() >= window || sent == plan.messagesPerDevice) {
            return false;
        }
        Flow flow = new Flow(nextMessage());
        sent++;
        flow.packetId = freeId();
        flows.add(flow);
        send(flow, false);
        return true;
    }

    /** Sends a QoS 2 PUBLISH again on the same connection, which MQTT 3.1 let devices do and some still do. */
    void repeat() {
        for (Flow flow : flows) {
            if (isConnected && version < 5 && flow.message.qos == 2 && !flow.isReceived && !isRepeated(flow.packetId)) {
                repeated.add(flow.packetId);
                send(flow, true);
                return;
            }
        }
    }

    private boolean isRepeated(int packetId) {
        return repeated.contains(packetId);
    }

    /** Leaves without a word: for it the connection is gone. */
    void forget() {
        connection = null;
        isConnected = false;
        if (!isPersistent || (version < 5 && asksForCleanStart)) {
            discardSession();
        }
    }

    /** What the proxy has received is its own; the rest may be, too, and will go out as new. */
    private void discardSession() {
        hasSession = false;
        flows.removeIf(flow -> flow.isReceived);
        for (Flow flow : flows) {
            flow.message.mayRepeat = true;
            flow.packetId = 0;
        }
    }

    /**
     * The broker has lost this device's session. Should the CONNACK that says so be lost too, nobody tells the device, with a
     * proxy or without: until it knows, what it sends again may arrive twice.
     */
    void lostByBroker() {
        isSessionUncertain = true;
        flows.forEach(flow -> flow.message.mayRepeat = true);
    }

    private SimMessage nextMessage() {
        int qos = 1 + random.nextInt(2);
        String topic = random.nextInt(25) == 0 ? DENIED_TOPIC : TOPICS[random.nextInt(TOPICS.length)];
        String key = clientId + "/" + sent;
        byte[] properties = version == 5 ? SimMessage.identity(key) : Packets.NONE;
        String text = sendsSameContent ? "same|" : key + "|";
        int length = sendsSameContent ? 8 : text.length() + random.nextInt(plan.maxPayload);
        byte[] payload = Arrays.copyOf(text.getBytes(StandardCharsets.UTF_8), length);
        return promises.made(new SimMessage(this, sent, qos, topic, properties, payload));
    }

    private int freeId() {
        int id = reusesLowIds ? 1 : lastId % 65_535 + 1;
        while (isUsed(id)) {
            id = id % 65_535 + 1;
        }
        lastId = id;
        return id;
    }

    private boolean isUsed(int id) {
        return repeated.contains(id) || flows.stream().anyMatch(flow -> flow.packetId == id);
    }

    private void send(Flow flow, boolean dup) {
        SimMessage message = flow.message;
        message.mayRepeat |= isSessionUncertain;
        int flags = (dup ? 8 : 0) | message.qos << 1;
        promises.note(() -> connection + " sends " + message + " as " + flow.packetId + (dup ? ", DUP" : ""));
        promises.published(connection, message, flow.packetId);
        connection.send(Packets.publishFlags(
                version, flags, flow.packetId, message.topic, message.properties, message.payload));
    }

    private void release(Flow flow) {
        promises.note(() -> connection + " releases " + flow.message + " as " + flow.packetId);
        promises.released(connection, flow.message, flow.packetId);
        connection.send(Packets.ack(Packet.PUBREL, flow.packetId));
    }

    // ---- what it is answered

    @Override
    public void onPacket(SimConnection from, Packet packet) {
        if (from != connection) {
            return;
        }
        switch (packet.type()) {
            case Packet.CONNACK -> onConnack(packet);
            case Packet.PUBACK, Packet.PUBREC, Packet.PUBCOMP -> onAnswer(packet);
            case Packet.DISCONNECT -> {
                connection.close();
                forget();
            }
            case Packet.PINGRESP -> {}
            default -> promises.broken("P11", packet + " for " + clientId);
        }
    }

    private void onConnack(Packet packet) {
        if (packet.reasonCode() != 0) {
            connection.close();
            forget();
            return;
        }
        if (packet.sessionPresent() && asksForCleanStart) {
            promises.broken("P11", "Session Present 1 for a clean start of " + clientId);
        }
        hasToStartAnew = packet.sessionPresent() && !hasSession;
        if (hasToStartAnew) { // [MQTT-3.2.2-4]
            connection.close();
            forget();
            return;
        }
        isConnected = true;
        if (packet.sessionPresent()) {
            for (Flow flow : flows) {
                if (flow.isReceived) {
                    release(flow);
                } else {
                    send(flow, true);
                }
            }
        } else {
            discardSession();
            hasSession = true;
            isSessionUncertain = false;
            for (Flow flow : flows) {
                flow.packetId = freeId();
                send(flow, false);
            }
        }
    }

    private void onAnswer(Packet packet) {
        boolean isSecond = flows.stream().noneMatch(flow -> flow.packetId == packet.packetId() && !flow.isReceived);
        if (packet.type() == Packet.PUBREC && isSecond && repeated.remove((Integer) packet.packetId())) {
            return; // of a PUBLISH that was sent twice
        }
        Iterator<Flow> iterator = flows.iterator();
        while (iterator.hasNext()) {
            Flow flow = iterator.next();
            if (flow.packetId == packet.packetId()) {
                boolean isFailure = packet.reasonCode() >= 0x80 && packet.type() != Packet.PUBCOMP;
                flow.message.isRefused |= isFailure;
                if (packet.type() == Packet.PUBREC && !isFailure) {
                    flow.isReceived = true;
                    release(flow);
                } else {
                    iterator.remove();
                }
                return;
            }
        }
        promises.broken("P2", packet + " for " + clientId + " fits nothing");
    }

    @Override
    public void onClosed(SimConnection ended) {
        if (ended == connection) {
            forget();
        }
    }
}
