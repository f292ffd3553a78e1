package io.holdfast.proxy.sim;

import io.holdfast.proxy.SimulatedProxy;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.store.Lane;
import io.holdfast.store.OutboxStore;
import io.holdfast.store.RecordDescriptor;
import io.holdfast.store.RecordView;
import io.holdfast.store.SimulatedLog;
import java.nio.channels.FileChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Knows every message and record of a simulation, and tells when a promise of the design is broken. */
final class Promises implements SimulatedLog.Listener {
    private record Owed(int type, int packetId, SimMessage message) {}

    private static final class Connection {
        final ArrayDeque<Owed> publishes = new ArrayDeque<>();
        final ArrayDeque<Owed> releases = new ArrayDeque<>();
    }

    /**
     * A record of any kind; {@code message} is null unless it is a PUBLISH. There are more copies than one if it was appended
     * again after a sync that failed: any of them will do.
     */
    private record Entry(int kind, String clientId, int packetId, SimMessage message, List<SimMessage.Stored> copies) {}

    private static final class LaneRecords {
        final NavigableMap<Long, Entry> entries = new TreeMap<>();
        long checkedCursor;
        long durableCursor;
        int holes;
    }

    private final SimDisk disk;
    private final Plan plan;
    private final Consumer<Supplier<String>> log;
    private final Map<String, SimMessage> messages = new HashMap<>();
    private final IdentityHashMap<SimConnection, Connection> connections = new IdentityHashMap<>();
    private final Map<String, Long> lastDelivered = new HashMap<>();
    private final List<LaneRecords> lanes = new ArrayList<>();
    private OutboxStore store;
    private BrokenPromise broken;
    private int acknowledged;

    Promises(SimDisk disk, Plan plan, Consumer<Supplier<String>> log) {
        this.log = log;
        this.disk = disk;
        this.plan = plan;
        for (int i = 0; i < plan.lanes; i++) {
            lanes.add(new LaneRecords());
        }
    }

    /** Noted and thrown at the end of the step: between here and there are handlers that swallow everything. */
    void broken(String promise, String what) {
        if (broken == null) {
            broken = new BrokenPromise(promise + " is broken: " + what);
        }
    }

    void throwIfBroken() {
        if (broken != null) {
            throw broken;
        }
    }

    /** For the trace. */
    void note(Supplier<String> line) {
        log.accept(line);
    }

    int messages() {
        return messages.size();
    }

    // ---- messages

    SimMessage made(SimMessage message) {
        messages.put(message.key(), message);
        return message;
    }

    SimMessage find(byte[] properties, byte[] payload, String where) {
        String key = SimMessage.keyOf(properties, payload);
        SimMessage message = messages.get(key);
        if (message == null) {
            broken("P12", "a message '" + key + "' that no device has sent, at " + where);
        } else if (payload.length != message.payload.length) {
            broken("P12", message + " has another length at " + where);
        }
        return message;
    }

    // ---- on the devices' side

    void published(SimConnection connection, SimMessage message, int packetId) {
        int type = message.qos == 1 ? Packet.PUBACK : Packet.PUBREC;
        of(connection).publishes.addLast(new Owed(type, packetId, message));
    }

    void released(SimConnection connection, SimMessage message, int packetId) {
        of(connection).releases.addLast(new Owed(Packet.PUBCOMP, packetId, message));
    }

    private Connection of(SimConnection connection) {
        return connections.computeIfAbsent(connection, key -> new Connection());
    }

    /** The proxy writes to a device, at this instant. */
    void writtenToDevice(SimConnection connection, SimDevice device, Packet packet) {
        switch (packet.type()) {
            case Packet.PUBACK, Packet.PUBREC -> {
                Owed owed = take(of(connection).publishes, packet, device);
                if (owed != null && packet.reasonCode() < 0x80) {
                    acknowledged(owed.message, packet);
                } else if (owed != null) {
                    owed.message.mayBeLate = true; // if this does not arrive it is sent again, behind later ones
                }
            }
            case Packet.PUBCOMP -> {
                Owed owed = take(of(connection).releases, packet, device);
                if (owed != null) {
                    completed(device, owed, packet);
                }
            }
            default -> {}
        }
    }

    private Owed take(ArrayDeque<Owed> owed, Packet packet, SimDevice device) {
        Owed first = owed.pollFirst();
        if (first == null || first.type != packet.type() || first.packetId != packet.packetId()) {
            broken("P2", packet + " goes to " + device.clientId() + ", owed is " + first);
            return null;
        }
        return first;
    }

    private void acknowledged(SimMessage message, Packet packet) {
        acknowledged++;
        message.isAcknowledged = true;
        if (!isSafe(message)) {
            broken("P1", message + " is answered with " + packet + ", but is neither durable nor delivered");
        }
    }

    private boolean isSafe(SimMessage message) {
        return message.deliveries > 0 || message.isRefusedForGood || isDurable(message);
    }

    private boolean isDurable(SimMessage message) {
        return isDurable(message.records);
    }

    private boolean isDurable(List<SimMessage.Stored> copies) {
        for (SimMessage.Stored stored : copies) {
            if (disk.isDurable(stored.inode(), stored.position(), stored.bytes())) {
                return true;
            }
        }
        return false;
    }

    /** The id is free for another message: nothing in the log may say that it is still received. */
    private void completed(SimDevice device, Owed owed, Packet packet) {
        for (LaneRecords lane : lanes) {
            boolean isReceived = false;
            for (Entry entry : lane.entries.values()) {
                if (entry.clientId.equals(device.clientId()) && isRecorded(entry)) {
                    if (entry.kind == RecordDescriptor.KIND_SESSION_RESET) {
                        isReceived = false;
                    } else if (entry.packetId == owed.packetId) {
                        isReceived = entry.kind == RecordDescriptor.KIND_PUBLISH && entry.message.qos == 2;
                    }
                }
            }
            if (isReceived) {
                broken("P3", packet + " to " + device.clientId() + " before its release is durable");
            }
        }
    }

    private boolean isRecorded(Entry entry) {
        return isDurable(entry.copies);
    }

    // ---- the log

    @Override
    public void appended(FileChannel file, long position, RecordView record, byte[] bytes) {
        String clientId = record.clientId();
        int number = store == null ? 0 : store.laneFor(clientId);
        SimMessage message = record.kind() == RecordDescriptor.KIND_PUBLISH ? messageOf(record) : null;
        SimMessage.Stored stored =
                new SimMessage.Stored(number, record.sequence(), ((SimFileChannel) file).inode(), position, bytes);
        if (message != null) {
            message.records.add(stored);
        }
        log.accept(() -> "log: " + number + '/' + record.sequence() + " kind " + record.kind() + ' ' + clientId + ' '
                + (message == null ? "" : message) + " at " + position);
        NavigableMap<Long, Entry> entries = lanes.get(number).entries;
        Entry known = entries.get(record.sequence());
        if (known != null && Arrays.equals(known.copies.get(0).bytes(), bytes)) {
            known.copies.add(stored);
        } else {
            List<SimMessage.Stored> copies = new ArrayList<>(List.of(stored));
            entries.put(record.sequence(), new Entry(record.kind(), clientId, record.packetId(), message, copies));
        }
    }

    private SimMessage messageOf(RecordView record) {
        byte[] properties = copy(record, record.propertiesOffset(), record.propertiesLength());
        return find(properties, copy(record, record.payloadOffset(), record.payloadLength()), "the log");
    }

    private static byte[] copy(RecordView record, int offset, int length) {
        byte[] bytes = new byte[length];
        record.buffer().getBytes(offset, bytes);
        return bytes;
    }

    // ---- on the broker's side

    /** The uplink writes a PUBLISH, at this instant. */
    void writtenToBroker(Packet packet, int version) {
        if (packet.type() != Packet.PUBLISH) {
            return;
        }
        byte[] properties = version == 5 ? packet.publishProperties() : Packets.NONE;
        SimMessage message = find(properties, packet.payload(version), "the uplink");
        if (message == null) {
            return;
        }
        if (!isDurable(message)) {
            broken("P5", message + " goes to the broker before it is durable, " + message.records.size() + " records");
        }
        if (message.sentByProcess != disk.epoch()) {
            message.sentByProcess = disk.epoch();
            message.sentIds.clear();
        }
        message.isRepeat = !message.sentIds.add(packet.packetId());
        boolean isUnfinished = false;
        for (SimMessage.Stored stored : message.records) {
            isUnfinished |= stored.sequence() > lanes.get(stored.lane()).durableCursor;
        }
        if (!isUnfinished) {
            broken("P5", message + " goes to the broker again although the durable cursor has passed it");
        }
    }

    /** The broker passes a message on. */
    void delivered(SimMessage message) {
        message.deliveries++;
        if (message.deliveries > 1) {
            if (message.qos == 2 && !message.mayRepeat) {
                broken("P5", message + " is delivered twice");
            }
            return;
        }
        String group = message.device.clientId() + ' ' + message.topic + ' ' + message.qos;
        long last = lastDelivered.getOrDefault(group, -1L);
        if (message.index < last && !message.mayBeLate) {
            broken("P6", message + " is delivered behind number " + last);
        }
        if (!message.mayBeLate) {
            lastDelivered.put(group, Math.max(last, message.index));
        }
    }

    /** What the broker has had and the proxy has not noted for good may come again. */
    void uplinkSessionsLost() {
        for (SimMessage message : messages.values()) {
            message.mayRepeat |= message.deliveries > 0 && !isNotedForGood(message);
        }
    }

    private boolean isNotedForGood(SimMessage message) {
        for (SimMessage.Stored stored : message.records) {
            if (stored.sequence() > lanes.get(stored.lane()).durableCursor) {
                return false;
            }
        }
        return true;
    }

    /** The documented limit: the proxy may never have learned that the broker has lost the session. */
    void lossMayBeUnknown() {
        for (SimMessage message : messages.values()) {
            message.mayBeLost |= !isNotedForGood(message);
            message.mayBeLate |= message.mayBeLost;
            message.mayRepeat |= message.deliveries > 0 && !isNotedForGood(message);
        }
    }

    // ---- the process

    /** The store is open: what was lost with the crash was never acknowledged. */
    void opened(SimulatedProxy proxy) {
        store = proxy.store();
        for (int i = 0; i < plan.lanes; i++) {
            LaneRecords lane = lanes.get(i);
            long durable = store.lane(i).durableSequence();
            forgetLost(lane, durable);
            long cursor = store.lane(i).cursor().sequence();
            int number = i;
            log.accept(() -> "lane " + number + " opened: durable " + durable + ", cursor " + cursor);
            if (cursor < lane.durableCursor) {
                broken("P5", "the cursor of lane " + i + " goes back from " + lane.durableCursor + " to " + cursor);
            }
            lane.checkedCursor = Math.min(lane.checkedCursor, cursor);
        }
    }

    /** A batch that was not synced may come back in parts, and what is missing of it was not acknowledged. */
    private void forgetLost(LaneRecords lane, long durable) {
        Iterator<Entry> open =
                lane.entries.tailMap(lane.durableCursor, false).values().iterator();
        while (open.hasNext()) {
            Entry entry = open.next();
            boolean isHole = entry.copies.get(0).sequence() <= durable;
            if (isHole && entry.copies.stream().anyMatch(this::isPresent)) {
                continue;
            }
            open.remove();
            if (entry.message != null) {
                entry.message.records.removeAll(entry.copies);
                lane.holes += isHole ? 1 : 0;
                entry.message.mayBeLate |= isHole;
                if (entry.message.isAcknowledged && !isSafe(entry.message) && !entry.message.isRefused) {
                    broken("P1", entry.message + " was acknowledged and is gone after the crash");
                }
            }
        }
    }

    private boolean isPresent(SimMessage.Stored stored) {
        return disk.isPresent(stored.inode(), stored.position(), stored.bytes());
    }

    /** Looks at what can be seen from outside, after each step. */
    void check() {
        for (int i = 0; i < plan.lanes; i++) {
            Lane lane = store.lane(i);
            LaneRecords records = lanes.get(i);
            long cursor = lane.cursor().sequence();
            if (cursor > lane.durableSequence()) {
                broken("P4", "the cursor of lane " + i + " is ahead of the log");
            }
            while (records.checkedCursor < cursor) {
                records.checkedCursor++;
                checkFinished(records.entries.get(records.checkedCursor));
            }
            records.durableCursor = lane.cursor().durableSequence();
            long accepted = 0;
            long finished = 0;
            for (int route = 0; route < store.routeCount(); route++) {
                finished += lane.cursor().finished(route);
                accepted += lane.accepted(route);
            }
            if (finished > accepted) {
                broken("P7", "lane " + i + " has accepted " + accepted + " and finished " + finished);
            }
        }
    }

    private void checkFinished(Entry entry) {
        if (entry != null && entry.message != null && !entry.message.isFinished && !entry.message.mayBeLost) {
            broken("P4", "the cursor passes " + entry.message + ", which the broker has not finished");
        }
    }

    /** Whether every record is finished, in both slots. */
    boolean isDrained() {
        for (int i = 0; i < plan.lanes; i++) {
            Lane lane = store.lane(i);
            if (lane.cursor().olderDurableSequence() < lane.durableSequence()) {
                return false;
            }
        }
        return true;
    }

    /** All is healed and drained: nothing may be missing. */
    void checkEnd() {
        for (SimMessage message : messages.values()) {
            boolean isThere = message.deliveries > 0 || message.isRefusedForGood || message.mayBeLost;
            if (message.isAcknowledged && !isThere) {
                broken("P4", message + " was acknowledged and never delivered");
            }
        }
        for (int i = 0; i < plan.lanes; i++) {
            Lane lane = store.lane(i);
            long accepted = 0;
            long finished = 0;
            for (int route = 0; route < store.routeCount(); route++) {
                finished += lane.cursor().finished(route);
                accepted += lane.accepted(route);
            }
            long records = lanes.get(i).entries.headMap(lane.durableSequence(), true).values().stream()
                    .filter(entry -> entry.message != null)
                    .count();
            if (accepted != finished || accepted < records || accepted > records + lanes.get(i).holes) {
                broken(
                        "P7",
                        "lane " + i + " has accepted " + accepted + " and finished " + finished + " of " + records
                                + " records");
            }
        }
    }

    @Override
    public String toString() {
        return messages.size() + " messages, " + acknowledged + " acknowledgements";
    }
}
