package io.holdfast.codec;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * Cuts the bytes of one connection into MQTT Control Packets and hands them to a {@link FrameListener}; no object and no
 * copy for a packet that lies whole in the network buffer.
 *
 * <p>Type, flags and Remaining Length are checked as soon as they are there, before anything is buffered: a limit is
 * held against the declared length of this packet alone. A packet that comes in pieces is collected in a buffer that
 * grows with what has arrived (at most twice that), never with what the header claims.
 *
 * <p>All methods are for the channel's event loop. The buffered bytes are at most one packet, plus, while suspended,
 * what one read of the channel brings.
 */
public final class FrameDecoder extends ChannelInboundHandlerAdapter {
    private static final int LEAST_CAPACITY = 64;

    // For the handler's life.
    private final FrameListener listener;
    private final Direction direction;
    private final int streamThreshold;
    private ChannelHandlerContext context;

    // For the connection; the version and the limit may change once the handshake is through.
    private int maxPacketSize;
    private MqttVersion version;
    private boolean[] allowedFirstBytes;
    private boolean suspended;
    private boolean autoReadOff;
    private boolean discarding;
    private boolean inactive;

    // For the bytes at hand.
    private ByteBuf kept;
    private int keptBytesTold;
    private boolean handingOut;
    private boolean handedOut;

    // For the packet at hand: set when its header has been read.
    private int headerLength;
    private int frameLength;
    private int streamRemaining;

    /**
     * @param maxPacketSize the most bytes of a whole packet, fixed header included (v5 §3.1.2.11.4).
     * @param streamThreshold a PUBLISH from a server with more bytes is streamed unless it is there in one piece;
     *     {@link Integer#MAX_VALUE} for never.
     */
    public FrameDecoder(FrameListener listener, Direction direction, int maxPacketSize, int streamThreshold) {
        this.listener = listener;
        this.direction = direction;
        this.maxPacketSize = maxPacketSize;
        this.streamThreshold = direction == Direction.FROM_SERVER ? streamThreshold : Integer.MAX_VALUE;
        this.allowedFirstBytes = FixedHeader.allowedFirstBytes(direction, null);
    }

    /** Sets the version that later packets must follow. Until then only CONNECT, or from a server CONNACK, may come. */
    public void version(MqttVersion newVersion) {
        this.version = newVersion;
        this.allowedFirstBytes = FixedHeader.allowedFirstBytes(direction, newVersion);
    }

    /** Sets the limit, in bytes of a whole packet, for packets not yet handed out. */
    public void maxPacketSize(int newMaxPacketSize) {
        this.maxPacketSize = newMaxPacketSize;
    }

    /** Hands out nothing more until {@link #resume}; what has arrived is kept, and the channel is not read. */
    public void suspend() {
        suspended = true;
        setAutoRead(false);
    }

    /** True from {@link #suspend}, or a refused packet, to {@link #resume}. */
    public boolean isSuspended() {
        return suspended;
    }

    /** Hands out what is kept, then lets the channel be read, unless suspended again meanwhile. */
    public void resume(ChannelHandlerContext ctx) {
        suspended = false;
        if (handingOut || discarding) {
            return;
        }
        if (kept != null) {
            handedOut = false;
            handOutKept(ctx);
            if (handedOut) {
                listener.onReadComplete(ctx);
            }
        }
        if (!suspended && !discarding) {
            setAutoRead(true);
        }
        tellKept();
    }

    /** Throws away what is kept and everything that comes: the connection is about to be closed. */
    public void discard() {
        discarding = true;
        if (!handingOut) {
            releaseKept();
            tellKept();
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
        if (suspended) {
            setAutoRead(false);
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        discard();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        discard();
        if (!inactive) {
            inactive = true;
            listener.onInactive(ctx);
        }
        ctx.fireChannelInactive();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        listener.onReadComplete(ctx);
        ctx.fireChannelReadComplete();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        listener.onWritabilityChanged(ctx);
        ctx.fireChannelWritabilityChanged();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (!(msg instanceof ByteBuf in)) {
            ctx.fireChannelRead(msg);
            return;
        }
        try {
            if (kept != null && !suspended) {
                completeKept(ctx, in);
            }
            if (kept == null) {
                handOut(ctx, in);
            }
            if (!discarding && in.isReadable()) {
                keep(ctx, in, in.readableBytes());
            }
        } finally {
            in.release();
        }
        if (!suspended && !discarding) {
            setAutoRead(true);
        }
        tellKept();
    }

    private void tellKept() {
        int bytes = kept == null || suspended ? 0 : kept.capacity();
        if (bytes != keptBytesTold) {
            keptBytesTold = bytes;
            listener.onKept(bytes);
        }
    }

    /** Gives the kept part of a packet the bytes it lacks, and no more: the packets behind it need no copy. */
    private void completeKept(ChannelHandlerContext ctx, ByteBuf in) {
        while (kept != null && in.isReadable() && !suspended && !discarding) {
            int lacking;
            try {
                lacking = readHeader(kept) - kept.readableBytes();
            } catch (MqttProtocolException violation) {
                // Accepted before, but the limit or the version has changed since.
                discard();
                listener.onProtocolViolation(ctx, violation);
                return;
            }
            keep(ctx, in, Math.min(lacking, in.readableBytes()));
            handOutKept(ctx);
        }
    }

    private void handOutKept(ChannelHandlerContext ctx) {
        handOut(ctx, kept);
        if (discarding || !kept.isReadable()) {
            releaseKept();
        }
    }

    /** Hands out every whole packet in {@code buf}; the reader index goes behind each one that was taken. */
    private void handOut(ChannelHandlerContext ctx, ByteBuf buf) {
        handingOut = true;
        try {
            while (!suspended && !discarding && buf.isReadable()) {
                if (streamRemaining > 0) {
                    streamOn(ctx, buf);
                } else if (buf.readableBytes() < readHeader(buf)) {
                    break;
                } else if (!handOutOne(ctx, buf)) {
                    suspend();
                }
                if (!ctx.channel().isOpen()) {
                    discarding = true;
                }
            }
        } catch (MqttProtocolException violation) {
            discarding = true;
            listener.onProtocolViolation(ctx, violation);
        } catch (RuntimeException e) {
            // A fault of the listener's: where the next packet begins for it is unknown.
            discarding = true;
            throw e;
        } finally {
            handingOut = false;
            if (discarding) {
                releaseKept();
            }
        }
    }

    private boolean handOutOne(ChannelHandlerContext ctx, ByteBuf buf) {
        int offset = buf.readerIndex();
        int available = buf.readableBytes();
        int length = frameLength;
        handedOut = true;
        if (available >= length) {
            if (!listener.onFrame(ctx, buf, offset, offset + headerLength, offset + length)) {
                return false;
            }
            buf.readerIndex(offset + length);
            return true;
        }
        if (!listener.onStreamBegin(ctx, buf, offset, offset + headerLength, available, length)) {
            return false;
        }
        buf.skipBytes(available);
        streamRemaining = length - available;
        return true;
    }

    private void streamOn(ChannelHandlerContext ctx, ByteBuf buf) {
        int offset = buf.readerIndex();
        int length = Math.min(streamRemaining, buf.readableBytes());
        buf.skipBytes(length);
        streamRemaining -= length;
        handedOut = true;
        listener.onStreamData(ctx, buf, offset, length, streamRemaining == 0);
    }

    /**
     * Checks the fixed header at the reader index, as far as it is there.
     *
     * @return the bytes, from the reader index on, that the next step needs: one more than there are while the header is
     *     incomplete, else the packet's, or to begin streaming those up to the Packet Identifier.
     */
    private int readHeader(ByteBuf buf) {
        int offset = buf.readerIndex();
        int limit = buf.writerIndex();
        int firstByte = buf.getUnsignedByte(offset);
        frameLength = 0;
        if (!allowedFirstBytes[firstByte]) {
            throw FixedHeader.reject(firstByte, direction, version);
        }
        long decoded = VariableByteInteger.decode(buf, offset + 1, limit);
        if (decoded == VariableByteInteger.INCOMPLETE) {
            return limit - offset + 1;
        }
        int type = PacketType.of(firstByte);
        if (decoded == VariableByteInteger.MALFORMED) {
            throw MqttProtocolException.malformed(
                    version == MqttVersion.MQTT_5 ? "MQTT-1.5.5-1" : "",
                    PacketType.name(type) + " with a Remaining Length of more than four bytes, or of more than needed");
        }
        int remainingLength = VariableByteInteger.value(decoded);
        headerLength = 1 + VariableByteInteger.bytes(decoded);
        int length = headerLength + remainingLength;
        if (length > maxPacketSize) {
            throw MqttProtocolException.of(
                    ReasonCode.PACKET_TOO_LARGE,
                    direction == Direction.FROM_CLIENT ? "MQTT-3.2.2-15" : "MQTT-3.1.2-24",
                    PacketType.name(type) + " of " + length + " bytes; the limit is " + maxPacketSize);
        }
        MqttProtocolException wrongLength = FixedHeader.checkRemainingLength(type, remainingLength, version);
        if (wrongLength != null) {
            throw wrongLength;
        }
        frameLength = length;
        boolean streamed = length > streamThreshold && type == PacketType.PUBLISH && limit - offset < length;
        return streamed ? bytesToBeginStream(buf, offset, firstByte) : length;
    }

    private int bytesToBeginStream(ByteBuf buf, int offset, int firstByte) {
        int topicLengthEnd = headerLength + Short.BYTES;
        if (buf.writerIndex() - offset < topicLengthEnd) {
            return topicLengthEnd;
        }
        int packetIdBytes = (firstByte & 0x6) == 0 ? 0 : Short.BYTES;
        int bytes = topicLengthEnd + buf.getUnsignedShort(offset + headerLength) + packetIdBytes;
        if (bytes > frameLength) {
            throw MqttProtocolException.malformed("", "the Topic Name of a PUBLISH goes beyond its end");
        }
        return bytes;
    }

    private void keep(ChannelHandlerContext ctx, ByteBuf in, int length) {
        int readable = kept == null ? 0 : kept.readableBytes();
        if (kept == null || kept.writableBytes() < length) {
            ByteBuf larger = ctx.alloc().buffer(capacityFor(readable + length));
            if (kept != null) {
                larger.writeBytes(kept);
                kept.release();
            }
            kept = larger;
        }
        kept.writeBytes(in, length);
    }

    /** Twice what has arrived, but not more than the packet has; while suspended, just what has arrived. */
    private int capacityFor(int bytes) {
        if (suspended) {
            return bytes;
        }
        long doubled = 2L * bytes;
        return (int)
                Math.max(Math.max(bytes, LEAST_CAPACITY), frameLength == 0 ? doubled : Math.min(frameLength, doubled));
    }

    private void setAutoRead(boolean autoRead) {
        if (context != null && autoReadOff == autoRead) {
            autoReadOff = !autoRead;
            context.channel().config().setAutoRead(autoRead);
        }
    }

    private void releaseKept() {
        if (kept != null) {
            kept.release();
            kept = null;
        }
    }
}
