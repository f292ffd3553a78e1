package io.holdfast.proxy.link;

import io.holdfast.codec.AckView;
import io.holdfast.codec.AckWriter;
import io.holdfast.codec.ConnackPacket;
import io.holdfast.codec.ConnectPacket;
import io.holdfast.codec.Direction;
import io.holdfast.codec.FrameDecoder;
import io.holdfast.codec.FrameListener;
import io.holdfast.codec.MqttProtocolException;
import io.holdfast.codec.MqttVersion;
import io.holdfast.codec.PacketType;
import io.holdfast.codec.ReasonCode;
import io.holdfast.codec.SubackPacket;
import io.holdfast.proxy.guard.GracefulClose;
import io.holdfast.proxy.metrics.Counters;
import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.tls.BrokerTls;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.EventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.agrona.collections.IntHashSet;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One device's connection to the broker. Passes frames in both directions as the same bytes, and goes through
 * {@link LinkState} when it breaks while the device stays. On the device's event loop.
 */
public final class SessionLink implements FrameListener {
    private static final Logger LOG = LoggerFactory.getLogger(SessionLink.class);
    private static final int MAX_PACKET_SIZE = 268_435_460;
    private static final int STREAM_THRESHOLD = 64 * 1024;
    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(64 * 1024, 256 * 1024);
    private static final long CONNACK_TIMEOUT_MS = 10_000;
    private static final long STABLE_AFTER_NS = TimeUnit.SECONDS.toNanos(10);
    private static final int DEFAULT_KEEP_ALIVE_S = 60;
    private static final int DUP_FLAG = 0x08;

    // for the device's connection
    private final LinkOwner owner;
    private final LinkDialer dialer;
    private final EventLoop eventLoop;
    private final Counters counters;
    private final NanoClock clock;
    private final ConnectPacket connect;
    private final MqttVersion version;
    private final boolean keepDevice;
    private final long holdTimeoutMs;
    private final Backoff backoff;
    private final OversizedPublish oversized;
    private final HeldPublishes held;
    private final UnansweredRequests unanswered;
    private final GrantedSubscriptions subscriptions = new GrantedSubscriptions();
    private final IntHashSet downlinkReceived = new IntHashSet();
    private final BrokerFrames frames;
    private final LinkConnect linkConnect;
    private ConnackPacket told;
    private Future<?> holdDeadline;
    private LinkState state = LinkState.IDLE;

    // for one link
    private ChannelHandlerContext ctx;
    private FrameDecoder decoder;
    private ConnackPacket limits;
    private LinkKeepAlive keepAlive;
    private Future<?> connackDeadline;
    private int resubscribesOpen;
    private boolean brokerBrokeProtocol;
    private boolean streaming;
    private long connectedAtNs;

    /**
     * Makes a link that is not dialled yet.
     *
     * @param keepDevice    whether the device stays, and the link is redialled, when the link breaks
     * @param holdTimeoutMs how long a held PUBLISH waits for a link
     * @param charge        told of the bytes kept here, and let go again with a negative number
     */
    public SessionLink(
            LinkOwner owner,
            LinkDialer dialer,
            EventLoop eventLoop,
            Counters counters,
            NanoClock clock,
            ConnectPacket connect,
            boolean keepDevice,
            long holdTimeoutMs,
            IntConsumer charge,
            long seed) {
        this.owner = owner;
        this.dialer = dialer;
        this.eventLoop = eventLoop;
        this.counters = counters;
        this.clock = clock;
        this.connect = connect;
        this.version = connect.version();
        this.frames = new BrokerFrames(connect);
        this.linkConnect = new LinkConnect(connect);
        this.keepDevice = keepDevice;
        this.holdTimeoutMs = holdTimeoutMs;
        this.oversized = new OversizedPublish(connect.maximumPacketSize());
        this.backoff = new Backoff(250, 30_000, seed);
        this.unanswered = new UnansweredRequests(charge);
        this.held = new HeldPublishes(unanswered, owner, counters, this::sendHeld);
    }

    /** Where the link is in its life. */
    public LinkState state() {
        return state;
    }

    private void transition(LinkState next) {
        LOG.debug("Link of client '{}': {} -> {}", connect.clientId(), state, next);
        state = next;
    }

    // ---- dialling

    /** Dials for the first time and sends CONNECT as the device sent it. */
    public void dial() {
        transition(LinkState.DIALLING);
        connectTo();
    }

    private void connectTo() {
        counters.increment(Meter.LINK_DIALLED);
        decoder = new FrameDecoder(this, Direction.FROM_SERVER, MAX_PACKET_SIZE, STREAM_THRESHOLD);
        decoder.version(version);
        FrameDecoder dialled = decoder;
        dialer.dial(eventLoop, dialled, WATER_MARK).addListener((Future<Channel> future) -> {
            if (!future.isSuccess()) {
                onDialFailed(dialled, future.cause());
            } else if (state == LinkState.CLOSED || dialled != decoder) {
                future.getNow().close();
            } else {
                onDialled(future.getNow().pipeline().context(dialled));
            }
        });
    }

    private void onDialled(ChannelHandlerContext context) {
        ctx = context;
        ByteBuf frame = ctx.alloc().buffer();
        linkConnect.write(frame);
        ctx.writeAndFlush(frame);
        connackDeadline = eventLoop.schedule(this::onNoConnack, CONNACK_TIMEOUT_MS, TimeUnit.MILLISECONDS);
    }

    private void onNoConnack() {
        LOG.warn(
                "The broker has not answered CONNECT of client '{}' for {} ms", connect.clientId(), CONNACK_TIMEOUT_MS);
        if (state == LinkState.DIALLING) {
            close();
            owner.onDialFailed("the broker does not answer CONNECT");
        } else {
            ctx.close();
        }
    }

    private void onDialFailed(FrameDecoder dialled, Throwable cause) {
        if (dialled != decoder) {
            return;
        }
        if (state == LinkState.DIALLING) {
            transition(LinkState.CLOSED);
            owner.onDialFailed("cannot reach the broker at " + dialer.upstream() + ": " + cause.getMessage());
        } else if (state == LinkState.RESUMING) {
            transition(LinkState.LOST);
            scheduleRedial();
        }
    }

    private void scheduleRedial() {
        eventLoop.schedule(this::redial, backoff.nextDelayMs(), TimeUnit.MILLISECONDS);
    }

    private void redial() {
        if (state != LinkState.LOST) {
            return;
        }
        if (owner.isContested()) {
            scheduleRedial(); // the broker may have cut this link for a newer connection of the same client id
            return;
        }
        transition(LinkState.RESUMING);
        connectTo();
    }

    // ---- from the device

    /**
     * After the first CONNACK: the owner lets frames pass from now on.
     *
     * @param hasSession          whether the device has a session that outlives its connection
     * @param newAssignedClientId the Client Identifier that the broker assigned, or null
     */
    public void open(boolean hasSession, String newAssignedClientId) {
        linkConnect.accepted(hasSession, newAssignedClientId);
        becomeConnected();
        decoder.resume(ctx);
    }

    /** Passes a control packet that needs no answer; dropped when there is no link. Takes over {@code frame}. */
    public void forward(ByteBuf frame) {
        if (isUp() || (state == LinkState.DIALLING && ctx != null)) {
            write(frame);
        } else {
            frame.release();
        }
    }

    /** Passes a QoS 0 PUBLISH, whose bytes it takes over; false if it was shed. */
    public boolean forwardQos0(ByteBuf frame) {
        if (state != LinkState.CONNECTED) {
            frame.release();
            counters.increment(Meter.DROPPED_QOS0_OFFLINE);
            return false;
        }
        if (!ctx.channel().isWritable()) {
            frame.release();
            counters.increment(Meter.DROPPED_QOS0_SLOW);
            return false;
        }
        write(frame);
        counters.increment(Meter.QOS0_FORWARDED);
        return true;
    }

    /** Passes PUBACK, PUBREC or PUBCOMP for a message of the broker. Without a link it is dropped: the broker resends. */
    public void forwardAck(int type, int packetId, int reason, ByteBuf frame) {
        if (type == PacketType.PUBREC && !ReasonCode.isFailure(reason)) {
            downlinkReceived.add(packetId);
        } else if (type == PacketType.PUBCOMP) {
            downlinkReceived.remove(packetId);
        }
        forward(frame);
    }

    /** Sends a held PUBLISH of QoS 1 or 2 as soon as the broker's Receive Maximum allows. Takes over {@code frame}. */
    public void holdPublish(int packetId, ByteBuf frame, long slot) {
        LinkRequest request = held.get(packetId);
        if (request != null) {
            request.addSlot(slot);
            if (request.sentOnThisLink) {
                write(frame); // a duplicate of what the broker has: 1:1
            } else {
                frame.release();
            }
            return;
        }
        held.add(new LinkRequest(PacketType.PUBLISH, packetId, frame, slot), state == LinkState.CONNECTED);
        armHoldDeadline();
    }

    /** Passes PUBREL, SUBSCRIBE or UNSUBSCRIBE, and again over the next link until it is answered. */
    public void request(int type, int packetId, ByteBuf frame, long slot) {
        LinkRequest earlier = type == PacketType.PUBREL ? unanswered.get(type, packetId) : null;
        if (earlier != null) {
            earlier.addSlot(slot);
            if (earlier.sentOnThisLink) {
                write(frame);
            } else {
                frame.release();
            }
            return;
        }
        LinkRequest request = new LinkRequest(type, packetId, frame, slot);
        unanswered.add(request);
        if (state == LinkState.CONNECTED) {
            send(request);
        }
    }

    /** The device's DISCONNECT: passes it and closes behind it. Takes over {@code frame}. */
    public void disconnect(ByteBuf frame) {
        boolean up = isUp();
        transition(LinkState.CLOSED);
        if (up) {
            ctx.write(frame);
            decoder.discard(); // a reset for what is unread would overtake the DISCONNECT, and publish the will
            GracefulClose.close(ctx.channel());
        } else {
            frame.release();
            closeChannel();
        }
        releaseAll();
    }

    /** The device is gone without a DISCONNECT: the broker sees the same, and publishes the will. */
    public void close() {
        if (state != LinkState.CLOSED) {
            transition(LinkState.CLOSED);
            closeChannel();
            releaseAll();
        }
    }

    /** Stops or goes on reading the broker's messages: the device is slow. */
    public void readable(boolean readable) {
        if (decoder == null || ctx == null) {
            return;
        }
        if (!readable) {
            keepAlive().paused(true);
            decoder.suspend();
        } else if (decoder.isSuspended() && state != LinkState.DIALLING) {
            keepAlive().paused(false);
            decoder.resume(ctx);
        }
    }

    /** Writes out what was passed. */
    public void flush() {
        if (ctx != null && state != LinkState.CLOSED) {
            ctx.flush();
        }
    }

    /** Bytes of the device that wait here: for answers, and for the broker to read. */
    public long pendingBytes() {
        ChannelOutboundBuffer outbound =
                ctx == null ? null : ctx.channel().unsafe().outboundBuffer();
        return unanswered.bytes() + (outbound == null ? 0 : outbound.totalPendingWriteBytes());
    }

    private boolean isUp() {
        return state == LinkState.CONNECTED || state == LinkState.RESUBSCRIBING;
    }

    private void write(ByteBuf frame) {
        keepAlive().written();
        ctx.write(frame, ctx.voidPromise());
    }

    private void send(LinkRequest request) {
        request.sentOnce = true;
        request.sentOnThisLink = true;
        write(request.frame.retainedDuplicate());
    }

    private void sendHeld(LinkRequest request) {
        if (request.sentOnce) {
            int first = request.frame.readerIndex();
            request.frame.setByte(first, request.frame.getByte(first) | DUP_FLAG); // [MQTT-3.3.1-1]
        }
        send(request);
    }

    // ---- from the broker

    @Override
    public boolean onFrame(ChannelHandlerContext context, ByteBuf buf, int offset, int bodyOffset, int end) {
        if (context != ctx || state == LinkState.CLOSED) {
            return true;
        }
        keepAlive().read();
        int type = PacketType.of(buf.getUnsignedByte(offset));
        boolean tooLarge = oversized.isTooLarge(end - offset);
        if (tooLarge && type != PacketType.PUBACK && type != PacketType.PUBREC && type != PacketType.PUBCOMP) {
            oversized.take(limits == null ? PacketType.CONNACK : type, buf, offset, bodyOffset, end);
            endOversized();
            return true;
        }
        if (type == PacketType.CONNACK) {
            onConnack(buf, bodyOffset, end);
            return true;
        }
        if (limits == null && type != PacketType.AUTH) {
            throw MqttProtocolException.protocolError(
                    "MQTT-3.2.0-1", PacketType.name(type) + " from the broker before CONNACK");
        }
        switch (type) {
            case PacketType.PUBLISH, PacketType.PUBREL, PacketType.AUTH -> {
                frames.checkForDevice(type, buf, offset, bodyOffset, end, limits != null);
                owner.onFrameForDevice(buf.retainedSlice(offset, end - offset));
            }
            case PacketType.PUBACK, PacketType.PUBREC, PacketType.PUBCOMP -> {
                AckView ack = frames.ack(type, buf, bodyOffset, end);
                // Without its Reason String, which is then ours to leave out [MQTT-3.4.2-2], it always fits.
                byte[] frame = tooLarge ? null : ByteBufUtil.getBytes(buf, offset, end - offset);
                held.answered(type, ack.packetId(), ack.reasonCode(), frame);
            }
            case PacketType.SUBACK, PacketType.UNSUBACK -> onSubscriptionAnswer(type, buf, offset, bodyOffset, end);
            case PacketType.PINGRESP -> {}
            case PacketType.DISCONNECT -> onDisconnect(buf, offset, bodyOffset, end);
            default -> throw MqttProtocolException.protocolError("", PacketType.name(type) + " from the broker");
        }
        return true;
    }

    private void endOversized() {
        counters.increment(Meter.DROPPED_TOO_LARGE_FOR_DEVICE);
        ByteBuf answer = oversized.end(ctx.alloc());
        if (answer != null) {
            write(answer);
        }
    }

    private void onConnack(ByteBuf buf, int bodyOffset, int end) {
        if (limits != null) {
            throw MqttProtocolException.protocolError("MQTT-3.2.0-2", "a second CONNACK from the broker");
        }
        ConnackPacket connack = frames.connack(buf, bodyOffset, end, linkConnect.asksForCleanStart());
        connackDeadline.cancel(false);
        limits = connack;
        if (state == LinkState.DIALLING) {
            told = connack;
            decoder.suspend(); // until open(): nothing overtakes the CONNACK on its way to the device [MQTT-3.2.0-1]
            owner.onConnack(connack);
        } else if (connack.code() != 0) {
            onRedialRefused(connack);
        } else {
            onRedialAccepted(connack);
        }
    }

    private void onRedialRefused(ConnackPacket connack) {
        if (FailureClass.ofConnack(connack.code(), version) == FailureClass.TRANSIENT) {
            ctx.close(); // LOST again by onInactive
        } else {
            String name = version.isV5() ? ReasonCode.name(connack.code()) : "return code " + connack.code();
            end("the broker refused the session link: " + name, null);
        }
    }

    private void onRedialAccepted(ConnackPacket connack) {
        if (connack.maximumQos() < told.maximumQos() || connack.maximumPacketSize() < told.maximumPacketSize()) {
            end("the broker now allows less than the device was told", null);
        } else if (connack.sessionPresent()) {
            counters.increment(Meter.LINK_RESUMED);
            becomeConnected();
        } else if (linkConnect.hasSession() || owner.hasHoldState() || !downlinkReceived.isEmpty()) {
            counters.increment(Meter.LINK_SESSION_LOST);
            endEmptySession();
        } else {
            unanswered.markAllAsNew();
            resubscribe();
        }
    }

    /** The redial has made an empty session, which is ended first; then the device is closed. */
    private void endEmptySession() {
        transition(LinkState.CLOSED);
        releaseAll();
        new EmptySession(connect, () -> owner.onSessionLost("the broker has lost the session"))
                .end(ctx, dialer, WATER_MARK);
    }

    private void resubscribe() {
        counters.increment(Meter.LINK_RESUBSCRIBED);
        if (subscriptions.isEmpty()) {
            becomeConnected();
            return;
        }
        transition(LinkState.RESUBSCRIBING);
        ByteBuf out = ctx.alloc().buffer();
        resubscribesOpen = subscriptions.writeTo(out, version);
        write(out);
        ctx.flush();
    }

    private void becomeConnected() {
        transition(LinkState.CONNECTED);
        connectedAtNs = clock.nanoTime();
        int seconds = limits.serverKeepAlive() >= 0 ? limits.serverKeepAlive() : connect.keepAliveSeconds();
        keepAlive().start(seconds == 0 ? DEFAULT_KEEP_ALIVE_S : seconds);
        cancel(holdDeadline);
        holdDeadline = null;
        held.linkUp(version.isV5() ? limits.receiveMaximum() : Integer.MAX_VALUE);
        for (LinkRequest request = unanswered.first(); request != null; request = request.next) {
            if (request.type == PacketType.PUBLISH) {
                held.sendOrQueue(request);
            } else {
                send(request);
            }
        }
        ctx.flush();
    }

    private void onSubscriptionAnswer(int type, ByteBuf buf, int offset, int bodyOffset, int end) {
        SubackPacket answer = frames.subscriptionAnswer(type, buf, bodyOffset, end);
        if (state == LinkState.RESUBSCRIBING) {
            if (--resubscribesOpen == 0) {
                becomeConnected();
            }
            return;
        }
        int requestType = type == PacketType.SUBACK ? PacketType.SUBSCRIBE : PacketType.UNSUBSCRIBE;
        LinkRequest request = unanswered.get(requestType, answer.packetId());
        if (request == null) {
            counters.increment(Meter.LINK_UNEXPECTED_ACK);
        } else {
            subscriptions.answered(type, request.frame, answer, version);
            unanswered.remove(requestType, answer.packetId());
        }
        owner.onFrameForDevice(buf.retainedSlice(offset, end - offset));
    }

    private void onDisconnect(ByteBuf buf, int offset, int bodyOffset, int end) {
        int reason = frames.disconnectReason(buf, bodyOffset, end);
        if (keepDevice && FailureClass.isBrokersOwnTrouble(reason)) {
            LOG.info("The broker disconnects client '{}': {}", connect.clientId(), ReasonCode.name(reason));
            ctx.close();
        } else {
            end("the broker disconnected it: " + ReasonCode.name(reason), buf.retainedSlice(offset, end - offset));
        }
    }

    private void end(String why, ByteBuf disconnectOrNull) {
        transition(LinkState.CLOSED);
        closeChannel();
        releaseAll();
        owner.onLinkEnded(why, disconnectOrNull);
    }

    @Override
    public boolean onStreamBegin(
            ChannelHandlerContext context, ByteBuf buf, int offset, int bodyOffset, int available, int frameLength) {
        if (context == ctx && state != LinkState.CLOSED) {
            keepAlive().read();
            frames.checkBeginning(buf, offset, bodyOffset, offset + frameLength);
            streaming = true;
            if (oversized.isTooLarge(frameLength)) {
                oversized.begin(buf, offset, bodyOffset, offset + available);
                return true;
            }
            owner.onStreamForDevice(buf.retainedSlice(offset, available), false);
        }
        return true;
    }

    @Override
    public void onStreamData(ChannelHandlerContext context, ByteBuf buf, int offset, int length, boolean last) {
        if (context == ctx && state != LinkState.CLOSED) {
            keepAlive().read();
            streaming = !last;
            if (!oversized.isStreaming()) {
                owner.onStreamForDevice(buf.retainedSlice(offset, length), last);
            } else if (last) {
                endOversized();
            }
        }
    }

    @Override
    public void onReadComplete(ChannelHandlerContext context) {
        if (context == ctx && state != LinkState.CLOSED) {
            owner.onLinkReadComplete();
            ctx.flush();
        }
    }

    @Override
    public void onWritabilityChanged(ChannelHandlerContext context) {
        // held PUBLISHes are bounded by the broker's window, QoS 0 asks for itself
    }

    @Override
    public void onProtocolViolation(ChannelHandlerContext context, MqttProtocolException violation) {
        counters.increment(Meter.BROKER_PROTOCOL_ERRORS);
        LOG.warn(
                "The broker broke the protocol on the link of client '{}': {} [{}]",
                connect.clientId(),
                violation.getMessage(),
                violation.statement());
        brokerBrokeProtocol = true;
        if (context == ctx && limits != null && version.isV5()) {
            ByteBuf out = ctx.alloc().buffer(AckWriter.MAX_BYTES);
            AckWriter.disconnect(out, violation.reasonCode(), version); // v5 section 4.13.1
            ctx.write(out);
            GracefulClose.close(ctx.channel());
            onInactive(ctx); // nothing of this link counts any more
        } else {
            context.close();
        }
    }

    @Override
    public void onInactive(ChannelHandlerContext context) {
        if (context != ctx || state == LinkState.CLOSED) {
            return;
        }
        boolean brokeFrame = streaming && !oversized.isStreaming();
        LinkState before = state;
        resetLink();
        if (before == LinkState.DIALLING) {
            transition(LinkState.CLOSED);
            releaseAll();
            String tlsFailure = BrokerTls.failure(context.channel());
            if (brokerBrokeProtocol) {
                owner.onDialFailed("the broker broke the protocol");
            } else if (tlsFailure != null) {
                owner.onDialFailed(tlsFailure);
            } else {
                owner.onConnectUnanswered("the broker closed the connection instead of answering CONNECT");
            }
        } else if (!keepDevice || brokeFrame || connect.authenticationMethod() != null) {
            transition(LinkState.CLOSED);
            releaseAll();
            owner.onLinkEnded("the link to the broker broke", null);
        } else {
            if (before == LinkState.CONNECTED) {
                counters.increment(Meter.LINK_LOST);
                if (clock.nanoTime() - connectedAtNs > STABLE_AFTER_NS) {
                    backoff.reset();
                }
            }
            transition(LinkState.LOST);
            armHoldDeadline();
            scheduleRedial();
        }
    }

    private void resetLink() {
        cancel(connackDeadline);
        if (keepAlive != null) {
            keepAlive.stop();
            keepAlive = null;
        }
        ctx = null;
        decoder = null;
        limits = null;
        streaming = false;
        oversized.reset();
        held.linkDown();
        for (LinkRequest request = unanswered.first(); request != null; request = request.next) {
            request.sentOnThisLink = false;
        }
    }

    // ---- held PUBLISHes without a link

    private void armHoldDeadline() {
        boolean noLink = state == LinkState.LOST || state == LinkState.RESUMING || state == LinkState.RESUBSCRIBING;
        if (noLink && holdDeadline == null && held.any()) {
            holdDeadline = eventLoop.schedule(this::onHoldDeadline, holdTimeoutMs, TimeUnit.MILLISECONDS);
        }
    }

    /** Refuses what was never sent. What the broker may have cannot be refused, so there the device is closed. */
    private void onHoldDeadline() {
        holdDeadline = null;
        if (state == LinkState.CONNECTED || state == LinkState.CLOSED) {
            return;
        }
        if (held.anySentOnce() || !version.isV5()) {
            end("no link to the broker for " + holdTimeoutMs + " ms while a held PUBLISH waits", null);
        } else {
            held.refuseAll();
            owner.onLinkReadComplete();
        }
    }

    // ---- the end

    private void closeChannel() {
        if (ctx != null) {
            ctx.close();
        }
    }

    private static void cancel(Future<?> timer) {
        if (timer != null) {
            timer.cancel(false);
        }
    }

    private void releaseAll() {
        cancel(connackDeadline);
        cancel(holdDeadline);
        if (keepAlive != null) {
            keepAlive.stop();
        }
        held.linkDown();
        unanswered.clear();
    }

    private LinkKeepAlive keepAlive() {
        if (keepAlive == null) {
            ChannelHandlerContext link = ctx;
            keepAlive = new LinkKeepAlive(link, clock, () -> {
                LOG.info("The link of client '{}' is silent: closing it", connect.clientId());
                link.close();
            });
        }
        return keepAlive;
    }
}
