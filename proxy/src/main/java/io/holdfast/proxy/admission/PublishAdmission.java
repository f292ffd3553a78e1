package io.holdfast.proxy.admission;

import io.holdfast.codec.AckView;
import io.holdfast.codec.ConnackLimits;
import io.holdfast.codec.Direction;
import io.holdfast.codec.MqttProtocolException;
import io.holdfast.codec.MqttVersion;
import io.holdfast.codec.PacketType;
import io.holdfast.codec.PublishView;
import io.holdfast.codec.ReasonCode;
import io.holdfast.proxy.ProxyContext;
import io.holdfast.proxy.ProxyContext.OnCapViolation;
import io.holdfast.proxy.ProxyServices;
import io.holdfast.proxy.ack.AckListener;
import io.holdfast.proxy.ack.AckStage;
import io.holdfast.proxy.ack.ReasonStrings;
import io.holdfast.proxy.guard.CapViolation;
import io.holdfast.proxy.guard.TokenBucket;
import io.holdfast.proxy.metrics.Counters;
import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.outbox.LaneFeed;
import io.holdfast.proxy.outbox.OutboxClient;
import io.holdfast.proxy.outbox.OutboxEntry;
import io.holdfast.store.ClientSession;
import io.holdfast.store.Lane;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * The PUBLISHes and PUBRELs of one device: each goes to the outbox, to the session link, or is answered here, and gets its
 * slot in the ordered ack stage before anything else happens to it. On the device's event loop.
 */
public final class PublishAdmission implements OutboxClient, AckListener {
    private enum Pause {
        NONE,
        WINDOW,
        BYTES,
        RATE
    }

    /** A pause is long enough for several tokens: turning reading off and on costs more than a PUBLISH. */
    private static final long RATE_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(20);

    // for the connection
    private final ProxyContext.Devices settings;
    private final ProxyServices services;
    private final Counters counters;
    private final RouteTable routes;
    private final LoopContext loop;
    private final AdmittedDevice device;
    private final MqttVersion version;
    private final String clientId;
    private final byte[] clientIdBytes;
    private final long epoch;
    private final Lane lane;
    private final LaneFeed feed;
    private final AckStage acks = new AckStage(this);
    private final InboundIds ids = new InboundIds();
    private final TopicAliases aliases;
    private final int receiveMaximum;
    private final AckView ack = new AckView(Direction.FROM_CLIENT);
    private final ReasonStrings reasonStrings;
    private final TokenBucket rate;
    private ClientSession session;

    // what is open now
    private int openPublishes;
    private long outboxBytes;
    private Pause pause = Pause.NONE;
    private boolean closed;
    private long sessionExpiryMs;

    /**
     * Makes the admission of a device that the broker has accepted.
     *
     * @param clientId of the session; what the lane is chosen by
     * @param epoch    larger than that of every earlier connection
     * @param limits   what the device is told in CONNACK
     * @param reasonStrings whether the device gets any
     */
    public PublishAdmission(
            ProxyServices services,
            LoopContext loop,
            AdmittedDevice device,
            MqttVersion version,
            String clientId,
            long epoch,
            ConnackLimits limits,
            ReasonStrings reasonStrings) {
        this.services = services;
        this.settings = services.context().devices();
        this.counters = services.counters();
        this.routes = services.routes();
        this.loop = loop;
        this.device = device;
        this.version = version;
        this.clientId = clientId;
        this.clientIdBytes = clientId.getBytes(StandardCharsets.UTF_8);
        this.epoch = epoch;
        int laneNumber = services.store().laneFor(clientId);
        this.lane = services.store().lane(laneNumber);
        this.feed = loop.feed(laneNumber);
        this.receiveMaximum = limits.receiveMaximum();
        this.aliases = new TopicAliases(limits.topicAliasMaximum());
        this.reasonStrings = reasonStrings;
        int perSecond = services.context().guards().maxPublishRate();
        this.rate = perSecond == 0
                ? null
                : new TokenBucket(perSecond, services.clock().nanoTime());
        acks.version(version);
    }

    /**
     * Asks the lane for the session; {@link AdmittedDevice#onSessionOpen} follows. Not while the disk refuses: devices that
     * come again and again would pile up in front of the writer.
     */
    public void open(boolean sessionPresent) {
        if (lane.hasFailed()) {
            loop.eventLoop().execute(this::refuseSession);
            return;
        }
        feed.openSession(this, clientId, epoch, sessionPresent);
    }

    /** The connection ended. What is unsettled stays unacknowledged. */
    public void close(long expiryMs) {
        closed = true;
        sessionExpiryMs = expiryMs;
        if (session != null) {
            feed.closeSession(this, session, epoch, expiryMs);
        }
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    // ---- PUBLISH

    /** A PUBLISH of the device; false if it has to wait in the decoder. */
    public boolean onPublish(ByteBuf buf, int offset, int bodyOffset, int end) {
        PublishView publish = loop.publishView();
        publish.wrap(buf, offset, bodyOffset, end, version, settings.maxUserProperties());
        int owner = publish.qos() == 2 ? ids.ownerOf(publish.packetId()) : InboundIds.NONE;
        if (publish.qos() > 0 && !hasWindow(owner)) {
            return false;
        }
        if (!isWithinRate()) {
            return false;
        }
        ByteBuf aliasTopic = resolveAlias(publish);
        int route = aliasTopic == null
                ? routes.match(buf, publish.topicOffset(), publish.topicLength())
                : routes.match(aliasTopic, aliasTopic.readerIndex(), aliasTopic.readableBytes());
        CapViolation cap = services.caps().violation(publish, clientId);
        if (cap != null && !isKept(publish, owner, route)) {
            onCapViolation(publish, owner, cap);
            return true;
        }
        if (publish.qos() == 0) {
            counters.increment(Meter.PUBLISH_QOS0);
            onQos0(publish, aliasTopic, route);
        } else if (owner == InboundIds.HOLD || (owner == InboundIds.NONE && routes.mode(route) == DeliveryMode.HOLD)) {
            hold(publish, aliasTopic, owner);
        } else {
            store(publish, aliasTopic, owner, route, cap);
        }
        pauseIfOverBudget();
        return true;
    }

    /** A v5 device that sends more than it may is at fault [MQTT-3.3.4-7]; a 3.x device was never told: it waits. */
    private boolean hasWindow(int owner) {
        if (version.isV5()) {
            if (owner == InboundIds.NONE && openPublishes >= receiveMaximum) {
                throw MqttProtocolException.of(
                        ReasonCode.RECEIVE_MAXIMUM_EXCEEDED,
                        "MQTT-3.3.4-7",
                        "more than " + receiveMaximum + " PUBLISHes without an answer");
            }
        }
        return hasAckSlot(ackSlots());
    }

    /** For a v5 device that keeps to its window, one for each PUBLISH and one for each PUBREL. */
    private int ackSlots() {
        return version.isV5() ? 2 * receiveMaximum : receiveMaximum;
    }

    /** Copies of PUBLISHes and PUBRELs are answered each, but not kept without end. */
    private boolean hasAckSlot(int slots) {
        if (acks.size() < slots) {
            return true;
        }
        pause(Pause.WINDOW);
        return false;
    }

    private ByteBuf resolveAlias(PublishView publish) {
        int alias = publish.topicAlias();
        if (publish.userPropertiesTruncated()) {
            counters.increment(Meter.USER_PROPERTIES_TRUNCATED);
            alias = alias == 0 ? publish.topicAliasBehindCut() : alias; // dropped, but its alias stands
        }
        if (alias == 0) {
            return null;
        }
        if (publish.topicLength() == 0) {
            return aliases.resolve(alias);
        }
        aliases.define(alias, publish.buffer(), publish.topicOffset(), publish.topicLength());
        return null;
    }

    /** Whether a PUBLISH over a cap is stored nevertheless, for the dead letters. */
    private boolean isKept(PublishView publish, int owner, int route) {
        return services.context().guards().onCapViolation() == OnCapViolation.DEAD_LETTER
                && publish.qos() > 0
                && routes.mode(route) == DeliveryMode.OUTBOX
                && (owner == InboundIds.NONE || owner == InboundIds.OUTBOX);
    }

    /**
     * The poison escape: an unacknowledged packet would come back for ever. It is refused only where it can be, and where
     * no flow of the same Packet Identifier is open elsewhere.
     */
    private void onCapViolation(PublishView publish, int owner, CapViolation cap) {
        boolean refused = services.context().guards().onCapViolation() == OnCapViolation.REJECT
                && version.isV5()
                && publish.qos() > 0
                && (owner == InboundIds.NONE || owner == InboundIds.HERE);
        counters.increment(refused ? cap.rejected() : cap.dropped());
        if (publish.qos() == 0) {
            return;
        }
        int packetId = publish.packetId();
        long slot = acks.publishReceived(publish.qos(), packetId);
        countOpen(owner);
        if (publish.qos() == 2 && owner == InboundIds.NONE) {
            ids.put(packetId, InboundIds.HERE, true);
        }
        if (refused) {
            int type = publish.qos() == 1 ? PacketType.PUBACK : PacketType.PUBREC;
            int reason = ReasonCode.QUOTA_EXCEEDED;
            acks.settlePublish(slot, reason, reasonStrings.refusal(type, packetId, reason, cap.what()));
        } else {
            acks.settlePublish(slot, ReasonCode.SUCCESS);
        }
    }

    /** A device that sends faster than it may is left unread for a moment; its PUBLISH waits in the decoder. */
    private boolean isWithinRate() {
        if (rate == null || rate.tryTake(services.clock().nanoTime())) {
            return true;
        }
        counters.increment(Meter.DEVICE_RATE_LIMITED);
        pause(Pause.RATE);
        long waitNs = Math.max(RATE_PAUSE_NS, rate.waitNs(services.clock().nanoTime()));
        loop.eventLoop().schedule(this::resumeAfterRate, waitNs, TimeUnit.NANOSECONDS);
        return false;
    }

    private void resumeAfterRate() {
        if (!closed && pause == Pause.RATE) {
            resume();
        }
    }

    private void countOpen(int owner) {
        if (owner == InboundIds.NONE) {
            openPublishes++;
        }
    }

    private void onQos0(PublishView publish, ByteBuf aliasTopic, int route) {
        if (settings.storeQos0() && routes.mode(route) == DeliveryMode.OUTBOX) {
            if (lane.hasFailed()) {
                counters.increment(Meter.DROPPED_QOS0_FULL);
            } else {
                submit(publish, aliasTopic, route, null, -1);
            }
        } else {
            device.link().forwardQos0(frameToForward(publish, aliasTopic, false));
        }
    }

    private void hold(PublishView publish, ByteBuf aliasTopic, int owner) {
        counters.increment(Meter.PUBLISH_HOLD);
        int packetId = publish.packetId();
        long slot = acks.publishReceived(publish.qos(), packetId);
        countOpen(owner);
        if (publish.qos() == 2 && owner == InboundIds.NONE) {
            ids.put(packetId, InboundIds.HOLD, true);
        }
        device.link().holdPublish(packetId, frameToForward(publish, aliasTopic, true), slot);
    }

    private void store(PublishView publish, ByteBuf aliasTopic, int owner, int route, CapViolation cap) {
        counters.increment(Meter.PUBLISH_OUTBOX);
        int packetId = publish.packetId();
        long slot = acks.publishReceived(publish.qos(), packetId);
        countOpen(owner);
        if (owner == InboundIds.HERE) {
            acks.settlePublish(slot, ReasonCode.SUCCESS); // again one that was dropped for a cap
            return;
        }
        if (owner == InboundIds.NONE && ifFull(route) == OutboxEntry.IfFull.REFUSE && lane.hasFailed()) {
            counters.increment(Meter.REJECTED_STORE_FAILED);
            acks.settlePublish(slot, ReasonCode.QUOTA_EXCEEDED);
            return;
        }
        if (publish.qos() == 2 && owner == InboundIds.NONE) {
            ids.put(packetId, InboundIds.OUTBOX, true);
        }
        submit(publish, aliasTopic, route, cap, slot);
    }

    private OutboxEntry.IfFull ifFull(int route) {
        return switch (routes.whenFull(route)) {
            case HOLD -> OutboxEntry.IfFull.WAIT;
            case REJECT -> version.isV5() ? OutboxEntry.IfFull.REFUSE : OutboxEntry.IfFull.WAIT;
            case DROP_OLDEST -> OutboxEntry.IfFull.EVICT;
            case DROP_NEW -> OutboxEntry.IfFull.DROP;
        };
    }

    private void submit(PublishView publish, ByteBuf aliasTopic, int route, CapViolation cap, long slot) {
        ByteBuf record = loop.recordWriter()
                .write(
                        device.context().alloc(),
                        publish,
                        aliasTopic,
                        clientIdBytes,
                        routes.storeNumber(route),
                        cap,
                        services.wallClock().time());
        int bytes = record.readableBytes();
        outboxBytes += bytes;
        services.budget().acquire(bytes);
        feed.publish(
                this,
                session,
                epoch,
                record,
                publish.packetId(),
                publish.qos() == 2,
                slot,
                slot < 0 ? OutboxEntry.IfFull.REFUSE : ifFull(route));
    }

    /**
     * The same bytes, unless they have an alias: the broker cannot be relied on to have seen its definition, in order.
     * That one may have been stored, dropped for a cap, shed, sent on an earlier link, or be waiting for the window.
     */
    private ByteBuf frameToForward(PublishView publish, ByteBuf aliasTopic, boolean copy) {
        if (publish.topicAliasOffset() >= 0) {
            return AliasFreePublish.write(device.context().alloc(), publish, aliasTopic);
        }
        int length = publish.frameLength();
        return copy
                ? device.context().alloc().buffer(length).writeBytes(publish.buffer(), publish.frameOffset(), length)
                : publish.buffer().retainedSlice(publish.frameOffset(), length);
    }

    // ---- PUBREL

    /** A PUBREL of the device; false if it has to wait in the decoder. */
    public boolean onRelease(ByteBuf buf, int offset, int bodyOffset, int end) {
        if (!hasAckSlot(2 * receiveMaximum)) {
            return false;
        }
        ack.wrap(buf, bodyOffset, end, version, PacketType.PUBREL);
        int packetId = ack.packetId();
        long slot = acks.releaseReceived(packetId);
        int owner = ids.ownerOf(packetId);
        if (owner == InboundIds.OUTBOX) {
            feed.release(
                    this, session, epoch, packetId, slot, services.wallClock().time());
        } else if (owner == InboundIds.HERE) {
            acks.settleRelease(slot, ReasonCode.SUCCESS);
        } else if (owner == InboundIds.HOLD || routes.anyHold()) {
            ByteBuf frame = device.context().alloc().buffer(end - offset).writeBytes(buf, offset, end - offset);
            device.link().request(PacketType.PUBREL, packetId, frame, slot);
        } else {
            acks.settleRelease(slot, ReasonCode.PACKET_IDENTIFIER_NOT_FOUND);
        }
        return true;
    }

    // ---- settled

    @Override
    public void onOutboxEntry(OutboxEntry entry) {
        int bytes = entry.chargedBytes();
        outboxBytes -= bytes;
        services.budget().release(bytes);
        if (closed) {
            if (entry.kind() == OutboxEntry.Kind.OPEN_SESSION && entry.session() != null) {
                feed.closeSession(this, entry.session(), epoch, sessionExpiryMs); // it ended before it had begun
            }
            return;
        }
        switch (entry.kind()) {
            case OPEN_SESSION -> onSessionOpen(entry);
            case CLOSE_SESSION, INJECT -> {}
            case PUBLISH -> onPublishDecided(entry);
            case RELEASE -> onReleaseDecided(entry);
        }
    }

    private void onSessionOpen(OutboxEntry entry) {
        session = entry.session();
        if (entry.outcome() != OutboxEntry.Outcome.STORED) {
            refuseSession();
            return;
        }
        for (int packetId : entry.receivedIds()) {
            ids.put(packetId, InboundIds.OUTBOX, false);
        }
        device.onSessionOpen();
    }

    private void refuseSession() {
        if (!closed) {
            device.closeRefusing(ReasonCode.SERVER_UNAVAILABLE, "the outbox cannot open its session");
        }
    }

    private void onPublishDecided(OutboxEntry entry) {
        if (entry.slot() < 0) {
            if (entry.outcome() == OutboxEntry.Outcome.FULL) {
                counters.increment(Meter.DROPPED_QOS0_FULL);
            }
            return;
        }
        if (entry.outcome() == OutboxEntry.Outcome.STALE) {
            device.onTakenOver(); // by a connection that may have ended since, and then nobody else would say so
            return;
        }
        int reason = entry.outcome().reasonCode();
        if (ReasonCode.isFailure(reason)) {
            counters.increment(entry.outcome().rejectedMeter());
        } else if (entry.isQos2()) {
            // One that was not stored is answered here to its end; unless its copy found room meanwhile.
            boolean stored = entry.outcome() != OutboxEntry.Outcome.DROPPED;
            ids.move(entry.packetId(), stored ? InboundIds.OUTBOX : InboundIds.HERE);
        }
        acks.settlePublish(entry.slot(), reason);
    }

    private void onReleaseDecided(OutboxEntry entry) {
        switch (entry.outcome()) {
            case STORED, UNKNOWN ->
                acks.settleRelease(entry.slot(), entry.outcome().reasonCode());
            case STALE -> device.onTakenOver();
            default -> device.closeRefusing(ReasonCode.UNSPECIFIED_ERROR, "the outbox cannot record a PUBREL");
        }
    }

    @Override
    public void onOutboxBatch() {
        if (!closed) {
            device.flush();
        }
    }

    /** The broker answered a held PUBLISH. */
    public void onHoldAnswered(long slot, int packetId, int reason, byte[] frame) {
        acks.settlePublish(slot, reason, frame);
    }

    /** A held PUBLISH that never left is refused. */
    public void onHoldRefused(long slot, int packetId, int reason) {
        acks.settlePublish(slot, reason);
    }

    /** The broker answered a PUBREL. */
    public void onReleaseAnswered(long slot, int packetId, int reason, byte[] frame) {
        acks.settleRelease(slot, reason, frame);
    }

    /** Whether QoS 2 flows of the device may be open at the broker. */
    public boolean hasHoldState() {
        return ids.anyHold();
    }

    // ---- released

    /** Writes the acknowledgements whose turn it is. */
    public void writeReady() {
        if (!acks.hasReady()) {
            return;
        }
        ByteBuf out = device.context().alloc().buffer(Math.min(acks.size() * 5, 4096));
        acks.release(out);
        if (closed || !out.isReadable()) {
            out.release();
        } else {
            device.write(out);
        }
        if (pause == Pause.WINDOW && acks.size() < ackSlots()) {
            resume();
        }
    }

    @Override
    public void onAckReleased(int type, int packetId, int reason) {
        boolean counted = switch (type) {
            case PacketType.PUBACK -> true;
            case PacketType.PUBREC -> ReasonCode.isFailure(reason) && ids.remove(packetId);
            default -> ids.remove(packetId);
        };
        if (counted && openPublishes > 0) {
            openPublishes--;
        }
    }

    @Override
    public void onRefusalCannotBeTold(int packetId, int reason) {
        // Not inside the release: what was released before it has to be written first.
        loop.eventLoop()
                .execute(() -> device.closeRefusing(
                        reason, "the PUBLISH with id " + packetId + " has to be refused, which 3.x cannot say"));
    }

    // ---- backpressure

    /** After more bytes of this device are waiting: leaves it unread while it is over its share. */
    public void pauseIfOverBudget() {
        if (pause == Pause.NONE
                && (services.budget().isOver(outboxBytes)
                        || services.holdBudget().isOver(device.link().pendingBytes()))) {
            pause(Pause.BYTES);
            loop.addPaused(this);
        }
    }

    private void pause(Pause why) {
        pause = why;
        device.pauseReading();
    }

    private void resume() {
        pause = Pause.NONE;
        // Not inside what is going on: reading may lead back here.
        loop.eventLoop().execute(device::resumeReading);
    }

    /** Reads the device again if it was paused for its bytes and there is room; false if it has to wait on. */
    boolean resumeIfRoom() {
        if (closed || pause != Pause.BYTES) {
            return true;
        }
        if (!services.budget().hasRoom(outboxBytes)
                || !services.holdBudget().hasRoom(device.link().pendingBytes())) {
            return false;
        }
        resume();
        return true;
    }
}
