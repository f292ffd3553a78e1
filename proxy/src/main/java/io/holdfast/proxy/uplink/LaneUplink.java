package io.holdfast.proxy.uplink;

import io.holdfast.codec.AckView;
import io.holdfast.codec.AckWriter;
import io.holdfast.codec.ConnackPacket;
import io.holdfast.codec.ConnectReturnCode;
import io.holdfast.codec.ControlCodec;
import io.holdfast.codec.Direction;
import io.holdfast.codec.DisconnectPacket;
import io.holdfast.codec.FrameDecoder;
import io.holdfast.codec.FrameListener;
import io.holdfast.codec.MqttProtocolException;
import io.holdfast.codec.MqttVersion;
import io.holdfast.codec.PacketType;
import io.holdfast.codec.ReasonCode;
import io.holdfast.proxy.ProxyContext;
import io.holdfast.proxy.link.Backoff;
import io.holdfast.proxy.link.FailureClass;
import io.holdfast.proxy.link.LinkDialer;
import io.holdfast.proxy.link.LinkKeepAlive;
import io.holdfast.proxy.metrics.Counters;
import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.tls.BrokerTls;
import io.holdfast.store.DropReason;
import io.holdfast.store.OutboxStore;
import io.holdfast.store.StoreException;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection that delivers one lane: goes through {@link UplinkState}, connects and reconnects, and watches that
 * acknowledgements come. What is sent and what an acknowledgement means is {@link LaneDelivery}'s. One event loop, which
 * carries no devices and may wait for the disk.
 */
public final class LaneUplink implements FrameListener {
    private static final Logger LOG = LoggerFactory.getLogger(LaneUplink.class);
    private static final int MAX_PACKET_SIZE = 268_435_460;
    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(128 * 1024, 512 * 1024);
    private static final long CONNACK_TIMEOUT_MS = 10_000;
    private static final long CURSOR_INTERVAL_MS = 100;

    // for the lane
    private final int number;
    private final EventLoop eventLoop;
    private final LinkDialer dialer;
    private final ProxyContext.Uplink settings;
    private final UplinkConnect connect;
    private final Counters counters;
    private final NanoClock clock;
    private final UplinkStatus status;
    private final LaneDelivery delivery;
    private final Backoff backoff;
    private final AckView ack = new AckView(Direction.FROM_SERVER);
    private final AtomicBoolean pumpPending = new AtomicBoolean();
    private final Runnable pump = this::onWake;
    private UplinkState state = UplinkState.DISCONNECTED;
    private MqttVersion version = MqttVersion.MQTT_5;
    private boolean triedOlder;
    private String lastComplaint = "";

    // for one connection
    private ChannelHandlerContext ctx;
    private FrameDecoder decoder;
    private LinkKeepAlive keepAlive;
    private Future<?> connackDeadline;
    private boolean askedForCleanStart;
    private boolean resumesFreshSession;
    private boolean endedByUs;
    private int brokersReason;

    /** Makes an uplink that is not started. */
    public LaneUplink(
            int number,
            OutboxStore store,
            String clientId,
            EventLoop eventLoop,
            LinkDialer dialer,
            ProxyContext.Uplink settings,
            DeliveryPolicies policies,
            Counters counters,
            EpochClock wallClock,
            NanoClock clock) {
        this.number = number;
        this.eventLoop = eventLoop;
        this.dialer = dialer;
        this.settings = settings;
        this.connect = new UplinkConnect(settings, clientId);
        this.counters = counters;
        this.clock = clock;
        this.status = new UplinkStatus(clock, settings.ackTimeoutMs());
        this.delivery = new LaneDelivery(
                number,
                store.lane(number),
                store.deadLetters(),
                settings.window(),
                policies,
                status,
                counters,
                wallClock,
                clock);
        this.backoff = new Backoff(200, 15_000, clock.nanoTime());
    }

    /** What the uplink says of itself. */
    public UplinkStatus status() {
        return status;
    }

    /** Starts dialling. Any thread. */
    public void start() {
        eventLoop.execute(this::dial);
        eventLoop.scheduleAtFixedRate(this::writeCursor, CURSOR_INTERVAL_MS, CURSOR_INTERVAL_MS, TimeUnit.MILLISECONDS);
        long checkMs = Math.max(20, Math.min(1000, settings.ackTimeoutMs() / 4));
        eventLoop.scheduleAtFixedRate(this::checkProgress, checkMs, checkMs, TimeUnit.MILLISECONDS);
    }

    /** More is durable: send it. Any thread. */
    public void wake() {
        if (pumpPending.compareAndSet(false, true)) {
            eventLoop.execute(pump);
        }
    }

    /** Stops for good: the session stays at the broker, the cursor is written. Any thread. */
    public Future<Void> stop() {
        Promise<Void> done = eventLoop.newPromise();
        eventLoop.execute(() -> {
            UplinkState before = state;
            transition(UplinkState.CLOSED);
            writeCursor();
            closeDelivery();
            if (ctx != null && before == UplinkState.RUNNING) {
                ByteBuf out = ctx.alloc().buffer(2);
                AckWriter.disconnect(out, ReasonCode.SUCCESS, version);
                ctx.writeAndFlush(out).addListener(ChannelFutureListener.CLOSE);
            } else if (ctx != null) {
                ctx.close();
            }
            done.setSuccess(null);
        });
        return done;
    }

    /** Dead letters of this lane were taken out: the ledger follows. Any thread. */
    public void deadLettersRemoved(int route, DropReason reason, long count) {
        eventLoop.execute(() -> delivery.deadLettersRemoved(route, reason, count));
    }

    private void transition(UplinkState next) {
        LOG.debug("Uplink {}: {} -> {}", number, state, next);
        state = next;
        status.state(next);
    }

    // ---- connecting

    private void dial() {
        if (state != UplinkState.DISCONNECTED) {
            return;
        }
        transition(UplinkState.DIALLING);
        FrameDecoder dialled = new FrameDecoder(this, Direction.FROM_SERVER, MAX_PACKET_SIZE, Integer.MAX_VALUE);
        decoder = dialled;
        dialler(dialled);
    }

    private void dialler(FrameDecoder dialled) {
        dialer.dial(eventLoop, dialled, WATER_MARK).addListener((Future<Channel> future) -> {
            if (state == UplinkState.CLOSED) {
                if (future.isSuccess()) {
                    future.getNow().close();
                }
            } else if (future.isSuccess()) {
                sendConnect(future.getNow().pipeline().context(dialled));
            } else {
                retryLater("cannot reach the broker at " + dialer.upstream() + ": "
                        + future.cause().getMessage());
            }
        });
    }

    private void sendConnect(ChannelHandlerContext context) {
        ctx = context;
        endedByUs = false;
        brokersReason = ReasonCode.SUCCESS;
        decoder.version(version);
        transition(UplinkState.CONNECTING);
        askedForCleanStart = !delivery.hasHistory();
        ByteBuf out = ctx.alloc().buffer();
        try (ControlCodec codec = new ControlCodec()) {
            connect.write(out, codec, version, askedForCleanStart);
        } catch (IOException e) {
            out.release();
            complain("cannot read --uplink-password-file: " + e.getMessage());
            ctx.close();
            return;
        }
        ctx.writeAndFlush(out);
        connackDeadline = eventLoop.schedule(
                () -> {
                    complain("the broker does not answer CONNECT");
                    context.close();
                },
                CONNACK_TIMEOUT_MS,
                TimeUnit.MILLISECONDS);
    }

    private void retryLater(String why) {
        complain(why);
        transition(UplinkState.DISCONNECTED);
        eventLoop.schedule(this::dial, backoff.nextDelayMs(), TimeUnit.MILLISECONDS);
    }

    /** One line per kind of trouble, not one per attempt. */
    private void complain(String why) {
        status.error(why);
        if (!why.equals(lastComplaint)) {
            lastComplaint = why;
            LOG.warn("Uplink {} ('{}'): {}", number, connect.clientId(), why);
        }
    }

    private void onConnack(ByteBuf buf, int bodyOffset, int end) {
        if (state != UplinkState.CONNECTING) {
            throw MqttProtocolException.protocolError("MQTT-3.2.0-2", "a second CONNACK");
        }
        ConnackPacket connack = ConnackPacket.parse(buf, bodyOffset, end, version);
        if (connack.sessionPresent() && askedForCleanStart) {
            breach(ReasonCode.PROTOCOL_ERROR, "Session Present 1 after a clean start");
            return;
        }
        connackDeadline.cancel(false);
        if (connack.code() != 0) {
            onRefused(connack);
            return;
        }
        if (askedForCleanStart) {
            resumeFreshSession();
            return;
        }
        backoff.reset();
        lastComplaint = "";
        status.error("");
        counters.increment(Meter.UPLINK_CONNECTED);
        boolean resumed = connack.sessionPresent();
        LOG.info(
                "Uplink {} connected to {} as '{}' (MQTT {}, {})",
                number,
                dialer.upstream(),
                connect.clientId(),
                version.protocolLevel(),
                resumed ? "session resumed" : "new session");
        if (connack.sessionExpiryInterval() >= 0 && connack.sessionExpiryInterval() != 0xffff_ffffL) {
            counters.increment(Meter.UPLINK_SESSION_EXPIRY_LOWERED);
            LOG.warn(
                    "The broker keeps the uplink's session for {} s only: after a longer outage, QoS 2 is at least once",
                    connack.sessionExpiryInterval());
        }
        try {
            transition(UplinkState.RUNNING);
            int keepAliveS = connack.serverKeepAlive() > 0 ? connack.serverKeepAlive() : UplinkConnect.KEEP_ALIVE_S;
            keepAlive().start(keepAliveS);
            delivery.connected(ctx, version, connack, resumed);
        } catch (StoreException e) {
            fail(e);
        }
    }

    /**
     * What a clean start has made is not used: in 3.1.1 it ends with its connection, and Mosquitto 2.0 does not keep it over a
     * restart of its own. So it is left at once and resumed, which makes it a session that lasts.
     */
    private void resumeFreshSession() {
        try {
            delivery.sessionMade();
            resumesFreshSession = true;
            ByteBuf out = ctx.alloc().buffer(4);
            AckWriter.disconnect(out, ReasonCode.SUCCESS, version);
            ctx.writeAndFlush(out).addListener(ChannelFutureListener.CLOSE);
        } catch (StoreException e) {
            fail(e);
        }
    }

    private void onRefused(ConnackPacket connack) {
        counters.increment(Meter.UPLINK_REFUSED);
        boolean unsupported = version.isV5()
                ? connack.code() == ReasonCode.UNSUPPORTED_PROTOCOL_VERSION
                        || connack.code() == ConnectReturnCode.UNACCEPTABLE_PROTOCOL_VERSION
                : connack.code() == ConnectReturnCode.UNACCEPTABLE_PROTOCOL_VERSION;
        if (unsupported && version.isV5()) {
            fallBack();
        } else {
            String name = version.isV5() ? ReasonCode.name(connack.code()) : "return code " + connack.code();
            complain("the broker refuses CONNECT: " + name
                    + "; check --uplink-username, --uplink-password-file and the broker's rules");
        }
        ctx.close();
    }

    private void fallBack() {
        version = MqttVersion.MQTT_3_1_1;
        triedOlder = true;
        LOG.warn("The broker does not speak MQTT 5: the uplink falls back to 3.1.1. Properties are lost, and what the"
                + " broker drops it acknowledges all the same");
    }

    // ---- running

    private void onWake() {
        pumpPending.set(false);
        if (state == UplinkState.RUNNING) {
            try {
                delivery.pump();
            } catch (StoreException e) {
                fail(e);
            }
        }
    }

    @Override
    public boolean onFrame(ChannelHandlerContext context, ByteBuf buf, int offset, int bodyOffset, int end) {
        if (context != ctx || state == UplinkState.CLOSED) {
            return true;
        }
        keepAlive().read();
        int type = PacketType.of(buf.getUnsignedByte(offset));
        if (state != UplinkState.RUNNING && type != PacketType.CONNACK) {
            // and not "an older version", as for a CONNACK that cannot be read
            breach(ReasonCode.PROTOCOL_ERROR, PacketType.name(type) + " before CONNACK [MQTT-3.2.0-1]");
            return true;
        }
        switch (type) {
            case PacketType.CONNACK -> onConnack(buf, bodyOffset, end);
            case PacketType.PUBACK, PacketType.PUBREC, PacketType.PUBCOMP -> {
                ack.wrap(buf, bodyOffset, end, version, type);
                delivery.onAck(type, ack.packetId(), ack.reasonCode());
            }
            case PacketType.PINGRESP -> onPingResponse();
            case PacketType.DISCONNECT -> {
                int reason = DisconnectPacket.parse(buf, bodyOffset, end, version, Direction.FROM_SERVER)
                        .reasonCode();
                complain("the broker disconnects: " + ReasonCode.name(reason));
                brokersReason = reason;
                endedByUs = FailureClass.isBrokersOwnMatter(reason);
                ctx.close();
            }
            default ->
                throw MqttProtocolException.protocolError(
                        "", PacketType.name(type) + " for a connection that only publishes");
        }
        return true;
    }

    private void onPingResponse() {
        try {
            delivery.onPingResponse();
        } catch (StoreException e) {
            fail(e);
        }
    }

    @Override
    public void onReadComplete(ChannelHandlerContext context) {
        if (context == ctx && state == UplinkState.RUNNING) {
            try {
                delivery.onReadComplete();
            } catch (StoreException e) {
                fail(e);
            }
        }
    }

    @Override
    public void onWritabilityChanged(ChannelHandlerContext context) {
        if (context == ctx && context.channel().isWritable()) {
            wake();
        }
    }

    @Override
    public boolean onStreamBegin(
            ChannelHandlerContext context, ByteBuf buf, int offset, int bodyOffset, int available, int frameLength) {
        throw MqttProtocolException.protocolError("", "PUBLISH for a connection that only publishes");
    }

    @Override
    public void onStreamData(ChannelHandlerContext context, ByteBuf buf, int offset, int length, boolean last) {
        throw new IllegalStateException("nothing is streamed here");
    }

    @Override
    public void onProtocolViolation(ChannelHandlerContext context, MqttProtocolException violation) {
        if (context != ctx || state == UplinkState.CLOSED) {
            context.close();
        } else if (state == UplinkState.CONNECTING && version.isV5() && !triedOlder) {
            counters.increment(Meter.BROKER_PROTOCOL_ERRORS);
            fallBack(); // a 3.1.1 broker answers in its own form
            context.close();
        } else {
            breach(violation.reasonCode(), violation.getMessage());
        }
    }

    /** The broker broke the protocol: it is told why, where it can be (v5 §4.13.1), and the connection ends. */
    private void breach(int reason, String what) {
        counters.increment(Meter.BROKER_PROTOCOL_ERRORS);
        complain("the broker breaks the protocol: " + what);
        if (state == UplinkState.RUNNING && version.isV5()) {
            ByteBuf out = ctx.alloc().buffer(AckWriter.MAX_BYTES);
            AckWriter.disconnect(out, reason, version);
            ctx.writeAndFlush(out);
        }
        end();
    }

    @Override
    public void onInactive(ChannelHandlerContext context) {
        if (context != ctx || state == UplinkState.CLOSED) {
            return;
        }
        boolean wasRunning = state == UplinkState.RUNNING;
        if (connackDeadline != null) { // none was set if CONNECT could not be written
            connackDeadline.cancel(false);
            connackDeadline = null;
        }
        if (keepAlive != null) {
            keepAlive.stop();
            keepAlive = null;
        }
        ctx = null;
        if (wasRunning) {
            counters.increment(Meter.UPLINK_LOST);
            lost();
        }
        if (resumesFreshSession) {
            resumesFreshSession = false;
            transition(UplinkState.DISCONNECTED);
            dial();
        } else {
            String tlsFailure = BrokerTls.failure(context.channel());
            retryLater(
                    tlsFailure == null
                            ? "the connection to the broker at " + dialer.upstream() + " ended"
                            : tlsFailure);
        }
    }

    private void lost() {
        try {
            delivery.disconnected(!endedByUs, brokersReason);
        } catch (StoreException e) {
            complain(e.getMessage());
        }
    }

    private void checkProgress() {
        if (state != UplinkState.CLOSED) {
            sweep();
        }
        if (state == UplinkState.RUNNING && delivery.isOverdue(settings.ackTimeoutMs())) {
            counters.increment(Meter.UPLINK_RECYCLED);
            complain("no acknowledgement for " + settings.ackTimeoutMs() + " ms: connecting anew");
            end();
        }
    }

    private void sweep() {
        try {
            delivery.sweep();
        } catch (StoreException e) {
            complain(e.getMessage());
        }
    }

    private void writeCursor() {
        try {
            if (state != UplinkState.CLOSED && delivery.isRoomWanted()) {
                delivery.sweep();
            }
            delivery.writeCursor();
        } catch (StoreException e) {
            complain(e.getMessage());
        }
    }

    private void closeDelivery() {
        try {
            delivery.close();
        } catch (StoreException e) {
            complain(e.getMessage());
        }
    }

    private void fail(StoreException e) {
        complain(e.getMessage());
        if (ctx != null) {
            end();
        }
    }

    /** Ends the connection; it was not the broker that hung up. */
    private void end() {
        endedByUs = true;
        ctx.close();
    }

    private LinkKeepAlive keepAlive() {
        if (keepAlive == null) {
            ChannelHandlerContext link = ctx;
            keepAlive = new LinkKeepAlive(link, clock, () -> {
                complain("the broker is silent");
                endedByUs = true;
                link.close();
            });
        }
        return keepAlive;
    }
}
