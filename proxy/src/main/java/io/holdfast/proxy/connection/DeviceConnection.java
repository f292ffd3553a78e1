package io.holdfast.proxy.connection;

import io.holdfast.codec.AckView;
import io.holdfast.codec.AckWriter;
import io.holdfast.codec.AuthPacket;
import io.holdfast.codec.ConnackLimits;
import io.holdfast.codec.ConnackPacket;
import io.holdfast.codec.ConnectPacket;
import io.holdfast.codec.ControlPackets;
import io.holdfast.codec.Direction;
import io.holdfast.codec.DisconnectPacket;
import io.holdfast.codec.FrameDecoder;
import io.holdfast.codec.FrameListener;
import io.holdfast.codec.MqttProtocolException;
import io.holdfast.codec.MqttVersion;
import io.holdfast.codec.PacketType;
import io.holdfast.codec.ReasonCode;
import io.holdfast.proxy.ProxyContext;
import io.holdfast.proxy.ProxyServices;
import io.holdfast.proxy.ack.ReasonStrings;
import io.holdfast.proxy.admission.AdmittedDevice;
import io.holdfast.proxy.admission.LoopContext;
import io.holdfast.proxy.admission.PublishAdmission;
import io.holdfast.proxy.guard.BegunPackets;
import io.holdfast.proxy.guard.GracefulClose;
import io.holdfast.proxy.guard.UnreadAnswers;
import io.holdfast.proxy.link.LinkOwner;
import io.holdfast.proxy.link.SessionLink;
import io.holdfast.proxy.metrics.Meter;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.Future;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One device: goes through {@link ConnectionState}, hands PUBLISH and PUBREL to {@link PublishAdmission}, everything else
 * to the {@link SessionLink}, and is the one place that closes. On the event loop that accepted the device.
 */
public final class DeviceConnection implements FrameListener, LinkOwner, AdmittedDevice {
    private static final Logger LOG = LoggerFactory.getLogger(DeviceConnection.class);
    private static final int FRAME_OVERHEAD_BYTES = 96;

    // for the connection
    private final ProxyServices services;
    private final LoopContext loop;
    private final AckView ack = new AckView(Direction.FROM_CLIENT);
    private ChannelHandlerContext ctx;
    private FrameDecoder decoder;
    private ConnectionState state = ConnectionState.AWAITING_CONNECT;
    private Future<?> connectDeadline;
    private DeviceKeepAlive keepAlive;
    private final BegunPackets.Entry begunPacket = new BegunPackets.Entry(this::onBegunPacketGivenUp);

    // from CONNECT on
    private ConnectPacket connect;
    private MqttVersion version;
    private String clientId = "";
    private SessionLink link;
    private boolean contending;

    // from CONNACK on
    private ConnackPacket connack;
    private ConnackLimits limits;
    private PublishAdmission publishes;
    private long sessionExpiryMs;
    private ArrayDeque<ByteBuf> behindStream;
    private long behindStreamBytes;
    private boolean streaming;

    /** Makes the connection of a socket that has just been accepted. */
    public DeviceConnection(ProxyServices services, LoopContext loop) {
        this.services = services;
        this.loop = loop;
    }

    /** The pipeline stands: the connect deadline runs from now. */
    public void accepted(ChannelHandlerContext context, FrameDecoder frameDecoder) {
        ctx = context;
        decoder = frameDecoder;
        services.counters().increment(Meter.CONNECTIONS_ACCEPTED);
        connectDeadline = loop.eventLoop()
                .schedule(
                        () -> close(CloseCause.CONNECT_DEADLINE, ReasonCode.UNSPECIFIED_ERROR, "no CONNECT in time"),
                        services.context().devices().connectDeadlineMs(),
                        TimeUnit.MILLISECONDS);
    }

    /** The Client Identifier; empty until CONNECT, and for a 3.x device without one. */
    public String clientId() {
        return clientId;
    }

    // ---- from the device

    @Override
    public boolean onFrame(ChannelHandlerContext context, ByteBuf buf, int offset, int bodyOffset, int end) {
        int type = PacketType.of(buf.getUnsignedByte(offset));
        switch (state) {
            case AWAITING_CONNECT:
                onConnect(buf, offset, bodyOffset, end);
                return true;
            case DIALLING:
            case OPENING_SESSION:
                return onFrameBeforeConnack(type, buf, offset, bodyOffset, end);
            case CONNECTED:
                keepAlive.read();
                return onConnectedFrame(type, buf, offset, bodyOffset, end);
            case CLOSED:
            default:
                return true;
        }
    }

    /** Everything but AUTH waits for CONNACK. */
    private boolean onFrameBeforeConnack(int type, ByteBuf buf, int offset, int bodyOffset, int end) {
        if (state == ConnectionState.DIALLING && type == PacketType.AUTH) {
            onAuth(buf, offset, bodyOffset, end);
            link.flush();
            return true;
        }
        if (connect.authenticationMethod() != null && type != PacketType.AUTH && type != PacketType.DISCONNECT) {
            throw MqttProtocolException.protocolError(
                    "MQTT-3.1.2-30",
                    PacketType.name(type) + " before CONNACK, but an Authentication Method in CONNECT");
        }
        return false;
    }

    private boolean onConnectedFrame(int type, ByteBuf buf, int offset, int bodyOffset, int end) {
        switch (type) {
            case PacketType.PUBLISH -> {
                return publishes.onPublish(buf, offset, bodyOffset, end);
            }
            case PacketType.PUBREL -> {
                return publishes.onRelease(buf, offset, bodyOffset, end);
            }
            case PacketType.PUBACK, PacketType.PUBREC, PacketType.PUBCOMP -> {
                ack.wrap(buf, bodyOffset, end, version, type);
                link.forwardAck(type, ack.packetId(), ack.reasonCode(), buf.retainedSlice(offset, end - offset));
                publishes.pauseIfOverBudget();
            }
            case PacketType.SUBSCRIBE, PacketType.UNSUBSCRIBE -> {
                ControlPackets.check(buf, offset, bodyOffset, end, type, version, Direction.FROM_CLIENT);
                link.request(type, buf.getUnsignedShort(bodyOffset), copy(buf, offset, end), -1);
                publishes.pauseIfOverBudget();
            }
            case PacketType.PINGREQ -> {
                ByteBuf pingresp = ctx.alloc().buffer(2);
                AckWriter.pingresp(pingresp);
                write(pingresp);
            }
            case PacketType.DISCONNECT -> onDisconnect(buf, offset, bodyOffset, end);
            case PacketType.AUTH -> {
                onAuth(buf, offset, bodyOffset, end);
                publishes.pauseIfOverBudget();
            }
            case PacketType.CONNECT ->
                throw MqttProtocolException.protocolError("MQTT-3.1.0-2", "a second CONNECT on one connection");
            default -> throw MqttProtocolException.protocolError("", PacketType.name(type) + " from a client");
        }
        return true;
    }

    private void onAuth(ByteBuf buf, int offset, int bodyOffset, int end) {
        AuthPacket.parse(buf, bodyOffset, end, Direction.FROM_CLIENT)
                .requirePartOf(
                        connect.authenticationMethod(), state == ConnectionState.CONNECTED, Direction.FROM_CLIENT);
        link.forward(buf.retainedSlice(offset, end - offset));
    }

    private ByteBuf copy(ByteBuf buf, int offset, int end) {
        return ctx.alloc().buffer(end - offset).writeBytes(buf, offset, end - offset);
    }

    private void onConnect(ByteBuf buf, int offset, int bodyOffset, int end) {
        connectDeadline.cancel(false);
        services.unconnected().remove(ctx.channel());
        connect = ConnectPacket.parse(buf, offset, bodyOffset, end);
        version = connect.version();
        clientId = connect.clientId();
        decoder.version(version);
        if (connect.isBridge() && services.routes().anyOutbox()) {
            throw ConnectPacket.unsupportedVersion(
                    "CONNECT of a bridge, whose own messages would come back to it through an outbox route");
        }
        state = ConnectionState.DIALLING;
        contend(true);
        ProxyContext.Devices limits = services.context().devices();
        link = new SessionLink(
                this,
                services.dialer(),
                loop.eventLoop(),
                services.counters(),
                services.clock(),
                connect,
                services.routes().anyOutbox(),
                limits.holdTimeoutMs(),
                services.holdBudget()::acquire,
                services.clock().nanoTime());
        dialBehindOlder();
    }

    /**
     * What an older connection of this client id has sent goes to the broker before this CONNECT does, which makes the
     * broker close the older link.
     */
    private void dialBehindOlder() {
        DeviceConnection older = clientId.isEmpty() ? null : services.registry().connected(clientId);
        if (older == null || older.loop == loop || older.loop.eventLoop().isShuttingDown()) {
            link.dial();
        } else {
            older.loop.eventLoop().execute(() -> loop.eventLoop().execute(this::dialUnlessClosed));
        }
    }

    private void dialUnlessClosed() {
        if (state == ConnectionState.DIALLING) {
            link.dial();
        }
    }

    private void contend(boolean begins) {
        if (begins == contending || clientId.isEmpty()) {
            return;
        }
        contending = begins;
        if (begins) {
            services.registry().connecting(clientId);
        } else {
            services.registry().connectAnswered(clientId);
        }
    }

    private void onDisconnect(ByteBuf buf, int offset, int bodyOffset, int end) {
        int reason = end > bodyOffset ? buf.getUnsignedByte(bodyOffset) : ReasonCode.SUCCESS;
        if (version.isV5() && !DisconnectPacket.isReasonCodeAllowed(reason, Direction.FROM_CLIENT)) {
            close(CloseCause.LEFT_WRONGLY, reason, "DISCONNECT with a Reason Code not a client's [MQTT-3.14.2-1]");
            return;
        }
        DisconnectPacket packet = DisconnectPacket.parse(buf, bodyOffset, end, version, Direction.FROM_CLIENT);
        if (packet.sessionExpiryInterval() > 0 && connect.sessionExpiryInterval() == 0) {
            throw MqttProtocolException.protocolError(
                    "", "DISCONNECT raises a Session Expiry Interval of 0 (v5 section 3.14.2.2.2)");
        }
        if (packet.sessionExpiryInterval() >= 0) {
            sessionExpiryMs = expiryMs(packet.sessionExpiryInterval());
        }
        link.disconnect(buf.retainedSlice(offset, end - offset));
        close(CloseCause.DISCONNECTED, ReasonCode.SUCCESS, "");
    }

    // ---- the handshake with the broker

    @Override
    public void onConnack(ConnackPacket packet) {
        if (state != ConnectionState.DIALLING) {
            return;
        }
        connack = packet;
        limits = limitsOf(packet);
        if (packet.code() != 0) {
            writeConnack(packet);
            close(CloseCause.CONNECT_REFUSED, packet.code(), "the broker refused it");
            return;
        }
        if (packet.assignedClientIdentifier() != null) {
            clientId = packet.assignedClientIdentifier();
        }
        state = ConnectionState.OPENING_SESSION;
        long epoch = services.registry().nextEpoch();
        String sessionName = clientId.isEmpty() ? "\0" + epoch : clientId; // no state outlives a connection without one
        sessionExpiryMs = sessionExpiryMs(packet);
        ReasonStrings reasonStrings =
                new ReasonStrings(version.isV5() && connect.requestProblemInformation(), connect.maximumPacketSize());
        publishes = new PublishAdmission(services, loop, this, version, sessionName, epoch, limits, reasonStrings);
        publishes.open(packet.sessionPresent());
    }

    @Override
    public void onSessionOpen() {
        if (state != ConnectionState.OPENING_SESSION) {
            return;
        }
        state = ConnectionState.CONNECTED;
        if (!clientId.isEmpty()) {
            DeviceConnection older = services.registry().connected(clientId, this);
            if (older != null && older != this) {
                older.loop.eventLoop().execute(older::onTakenOver);
            }
        }
        contend(false); // only now: the older link, broken by this CONNECT, must not be redialled against it
        if (!writeConnack(connack)) {
            close(CloseCause.CONNECT_REFUSED, ReasonCode.PACKET_TOO_LARGE, "its Maximum Packet Size takes no CONNACK");
            return;
        }
        int keepAliveSeconds = connack.serverKeepAlive() >= 0 ? connack.serverKeepAlive() : connect.keepAliveSeconds();
        keepAlive = new DeviceKeepAlive(
                loop.eventLoop(),
                services.clock(),
                keepAliveSeconds,
                () -> close(
                        CloseCause.KEEP_ALIVE, ReasonCode.KEEP_ALIVE_TIMEOUT, "silent for 1.5 times its Keep Alive"));
        keepAlive.start();
        link.open(sessionExpiryMs > 0, connect.clientId().isEmpty() ? clientId : null);
        decoder.resume(ctx);
        onReadComplete(ctx);
    }

    /** False if the device cannot take it [MQTT-3.1.2-24]. */
    private boolean writeConnack(ConnackPacket packet) {
        ByteBuf out = ctx.alloc().buffer();
        boolean fits = packet.writeTo(out, limits, connect.maximumPacketSize());
        ctx.writeAndFlush(out);
        return fits;
    }

    /**
     * What the device is told. Where everything goes by hold the broker's windows are the only ones that matter, so it
     * hears of them; else the outbox takes more than the broker does, and PUBLISHes for the broker wait here.
     */
    private ConnackLimits limitsOf(ConnackPacket packet) {
        ProxyContext.Devices own = services.context().devices();
        boolean holdOnly = !services.routes().anyOutbox();
        return new ConnackLimits(
                holdOnly ? Math.min(own.receiveMaximum(), packet.receiveMaximum()) : own.receiveMaximum(),
                holdOnly ? Math.min(own.topicAliasMaximum(), packet.topicAliasMaximum()) : own.topicAliasMaximum(),
                own.maxPacketSize(),
                2);
    }

    private long sessionExpiryMs(ConnackPacket packet) {
        if (!version.isV5()) {
            return connect.cleanStart() ? 0 : services.context().devices().maxSessionExpiryMs();
        }
        return expiryMs(
                packet.sessionExpiryInterval() >= 0 ? packet.sessionExpiryInterval() : connect.sessionExpiryInterval());
    }

    private static long expiryMs(long seconds) {
        return seconds == 0xffff_ffffL ? Long.MAX_VALUE : TimeUnit.SECONDS.toMillis(seconds);
    }

    @Override
    public void onDialFailed(String why) {
        if (state == ConnectionState.DIALLING || state == ConnectionState.OPENING_SESSION) {
            ByteBuf out = ctx.alloc().buffer();
            AckWriter.connack(out, false, ReasonCode.SERVER_UNAVAILABLE, version);
            writeLast(out);
            close(CloseCause.CONNECT_REFUSED, ReasonCode.SERVER_UNAVAILABLE, why);
        }
    }

    /** The broker hung up on this CONNECT: so does the proxy, as the device would have seen it directly. */
    @Override
    public void onConnectUnanswered(String why) {
        if (state == ConnectionState.OPENING_SESSION) {
            onDialFailed(why); // it had answered
        } else {
            close(CloseCause.CONNECT_REFUSED, ReasonCode.SERVER_UNAVAILABLE, why);
        }
    }

    @Override
    public void onTakenOver() {
        close(CloseCause.TAKEN_OVER, ReasonCode.SESSION_TAKEN_OVER, "the client id connected again");
    }

    /** The proxy stops: the device is told, and closed. Any thread. */
    public void shutDown() {
        loop.eventLoop().execute(() -> close(CloseCause.SHUTDOWN, ReasonCode.SERVER_SHUTTING_DOWN, "the proxy stops"));
    }

    // ---- from the broker

    @Override
    public void onFrameForDevice(ByteBuf frame) {
        write(frame);
    }

    @Override
    public void onStreamForDevice(ByteBuf part, boolean last) {
        if (state == ConnectionState.CLOSED) {
            part.release();
            return;
        }
        ctx.write(part);
        streaming = !last;
        if (last && behindStream != null) {
            ByteBuf frame;
            while ((frame = behindStream.pollFirst()) != null) {
                ctx.write(frame);
            }
            behindStreamBytes = 0;
        }
        checkWritable();
    }

    /** Behind the packet that is being streamed, if there is one. */
    @Override
    public void write(ByteBuf frame) {
        if (state == ConnectionState.CLOSED) {
            frame.release();
        } else if (streaming) {
            if (behindStream == null) {
                behindStream = new ArrayDeque<>();
            }
            behindStream.addLast(frame);
            behindStreamBytes += frame.readableBytes() + FRAME_OVERHEAD_BYTES;
            checkReads();
        } else {
            ctx.write(frame);
            checkWritable();
        }
    }

    private void checkWritable() {
        if (!ctx.channel().isWritable()) {
            link.readable(false);
            checkReads();
        }
    }

    private void checkReads() {
        if (UnreadAnswers.areTooMany(ctx.channel(), behindStreamBytes)) {
            decoder.suspend();
            // Not inside what is going on: it may have more to write.
            loop.eventLoop()
                    .execute(() -> close(
                            CloseCause.NOT_READING, ReasonCode.QUOTA_EXCEEDED, "it does not read what it is answered"));
        }
    }

    @Override
    public void onKept(int bytes) {
        loop.begunPackets().changed(begunPacket, bytes);
    }

    private void onBegunPacketGivenUp() {
        close(
                CloseCause.UNFINISHED_PACKET,
                ReasonCode.QUOTA_EXCEEDED,
                "its packet has been unfinished the longest, and all unfinished packets are too much");
    }

    @Override
    public void onLinkReadComplete() {
        if (state == ConnectionState.DIALLING) {
            ctx.flush(); // AUTH, the one packet that passes before CONNACK
        } else {
            flush();
        }
    }

    @Override
    public void onPublishAnswered(long slot, int packetId, int reason, byte[] frame) {
        publishes.onHoldAnswered(slot, packetId, reason, frame);
    }

    @Override
    public void onPublishRefused(long slot, int packetId, int reason) {
        publishes.onHoldRefused(slot, packetId, reason);
    }

    @Override
    public void onReleaseAnswered(long slot, int packetId, int reason, byte[] frame) {
        publishes.onReleaseAnswered(slot, packetId, reason, frame);
    }

    @Override
    public boolean hasHoldState() {
        return publishes.hasHoldState();
    }

    @Override
    public boolean isContested() {
        return !clientId.isEmpty() && services.registry().isContested(clientId);
    }

    @Override
    public void onLinkEnded(String why, ByteBuf disconnectOrNull) {
        if (disconnectOrNull != null) {
            if (state == ConnectionState.CONNECTED) {
                flush();
                ctx.writeAndFlush(disconnectOrNull);
            } else {
                disconnectOrNull.release();
            }
        }
        close(CloseCause.BROKER, disconnectOrNull == null ? ReasonCode.SERVER_BUSY : ReasonCode.SUCCESS, why);
    }

    @Override
    public void onSessionLost(String why) {
        close(CloseCause.BROKER, ReasonCode.SERVER_BUSY, why);
    }

    // ---- reading and writing

    @Override
    public void onReadComplete(ChannelHandlerContext context) {
        if (state == ConnectionState.CONNECTED) {
            link.flush();
            flush();
        }
    }

    @Override
    public void flush() {
        if (state == ConnectionState.CONNECTED) {
            publishes.writeReady();
            ctx.flush();
        }
    }

    @Override
    public SessionLink link() {
        return link;
    }

    @Override
    public boolean isClosed() {
        return state == ConnectionState.CLOSED;
    }

    @Override
    public ChannelHandlerContext context() {
        return ctx;
    }

    @Override
    public void pauseReading() {
        services.counters().increment(Meter.DEVICE_PAUSED);
        keepAlive.paused(true);
        decoder.suspend();
    }

    @Override
    public void resumeReading() {
        if (state == ConnectionState.CONNECTED && decoder.isSuspended()) {
            keepAlive.paused(false);
            decoder.resume(ctx);
        }
    }

    @Override
    public void closeRefusing(int reason, String why) {
        close(CloseCause.REFUSAL_CANNOT_BE_TOLD, reason, why);
    }

    @Override
    public boolean onStreamBegin(
            ChannelHandlerContext context, ByteBuf buf, int offset, int bodyOffset, int available, int frameLength) {
        throw new IllegalStateException("packets of devices are not streamed");
    }

    @Override
    public void onStreamData(ChannelHandlerContext context, ByteBuf buf, int offset, int length, boolean last) {
        throw new IllegalStateException("packets of devices are not streamed");
    }

    @Override
    public void onWritabilityChanged(ChannelHandlerContext context) {
        if (link != null && context.channel().isWritable()) {
            link.readable(true);
        }
    }

    // ---- the end

    @Override
    public void onProtocolViolation(ChannelHandlerContext context, MqttProtocolException violation) {
        String why =
                violation.getMessage() + (violation.statement().isEmpty() ? "" : " [" + violation.statement() + "]");
        boolean unknownLevel = violation.reasonCode() == ReasonCode.UNSUPPORTED_PROTOCOL_VERSION;
        if (state == ConnectionState.AWAITING_CONNECT && unknownLevel) {
            ByteBuf out = context.alloc().buffer();
            AckWriter.connack(out, false, violation.reasonCode(), MqttVersion.MQTT_3_1_1);
            context.writeAndFlush(out);
        }
        close(CloseCause.PROTOCOL, violation.reasonCode(), why);
    }

    @Override
    public void onInactive(ChannelHandlerContext context) {
        close(CloseCause.SOCKET_CLOSED, ReasonCode.SUCCESS, "");
    }

    /**
     * The one place that ends a connection: tells a v5 device why ([MQTT-4.13.2-1]), writes one line, counts, and lets
     * go of everything. What is unsettled stays unacknowledged.
     */
    void close(CloseCause cause, int reason, String why) {
        if (state == ConnectionState.CLOSED) {
            return;
        }
        if (ReasonCode.isFailure(reason)
                && version != null
                && version.isV5()
                && ctx.channel().isActive()) {
            tell(cause, reason);
        }
        state = ConnectionState.CLOSED;
        report(cause, reason, why);
        connectDeadline.cancel(false);
        contend(false);
        if (keepAlive != null) {
            keepAlive.stop();
        }
        if (link != null) {
            link.close();
        }
        if (publishes != null) {
            publishes.close(sessionExpiryMs);
        }
        if (!clientId.isEmpty()) {
            services.registry().disconnected(clientId, this);
        }
        if (behindStream != null) {
            behindStream.forEach(ByteBuf::release);
            behindStream.clear();
        }
        decoder.discard();
        GracefulClose.close(ctx.channel());
    }

    /** Before CONNACK the answer is a CONNACK [MQTT-3.14.0-1], which a refused CONNECT has had already. */
    private void tell(CloseCause cause, int reason) {
        if (cause == CloseCause.LEFT_WRONGLY || cause == CloseCause.CONNECT_REFUSED || streaming) {
            return;
        }
        ByteBuf out = ctx.alloc().buffer();
        if (state == ConnectionState.CONNECTED) {
            flush();
            AckWriter.disconnect(out, reason, version);
        } else {
            AckWriter.connack(out, false, reason, version);
        }
        writeLast(out);
    }

    /** Unless it is more than the device takes [MQTT-3.1.2-24]. Takes over {@code out}. */
    private void writeLast(ByteBuf out) {
        long most = connect.maximumPacketSize();
        if (most == 0 || out.readableBytes() <= most) {
            ctx.writeAndFlush(out);
        } else {
            out.release();
        }
    }

    private void report(CloseCause cause, int reason, String why) {
        if (cause.meter() != null) {
            services.counters().increment(cause.meter());
            loop.closingLog()
                    .closing(
                            clientId,
                            ctx.channel().remoteAddress(),
                            why,
                            reason,
                            services.clock().nanoTime());
        } else {
            LOG.debug(
                    "Client '{}' at {} is gone: {} {}", clientId, ctx.channel().remoteAddress(), cause, why);
        }
    }
}
