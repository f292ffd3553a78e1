package io.holdfast.bench;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.NanoClock;

/**
 * An MQTT 5 connection that keeps a window of PUBLISHes in flight, QoS 1 and QoS 2 in turn, as fast as the acknowledgements come
 * or at a pace; nothing else, so that it shows what the server takes. One event loop; the counters may be read by any thread.
 */
final class PipeliningPublisher extends ChannelInboundHandlerAdapter {
    private static final int CONNACK = 2;
    private static final int PUBACK = 4;
    private static final int PUBREC = 5;
    private static final int PUBCOMP = 7;
    private static final int FAILURE = 0x80;
    private static final int PACKET_IDS = 65_535;
    private static final long TICK_MS = 10;

    // for the life of the connection
    private final String clientId;
    private final int window;
    private final int perSecond;
    private final NanoClock clock;
    private final Promise<Void> connected;
    private final byte[][] frames = new byte[3][];
    private final int packetIdOffset;
    private ChannelHandlerContext context;

    // now
    private final ByteBuf unread = Unpooled.buffer();
    private ByteBuf out;
    private int packetId;
    private int inFlight;
    private int qos = 1;
    private double owed;
    private long tickedAtNs;
    private boolean isStopping;
    private long answeredAtNs;

    private volatile long acknowledged;
    private volatile long longestGapNs;
    private volatile Throwable failure;

    /**
     * A publisher for one connection.
     *
     * @param perSecond messages per second; 0 for as many as the window lets through
     */
    PipeliningPublisher(
            String clientId, int window, int payloadLength, int perSecond, NanoClock clock, Promise<Void> connected) {
        this.clientId = clientId;
        this.window = window;
        this.perSecond = perSecond;
        this.clock = clock;
        this.connected = connected;
        String topic = "bench/" + clientId;
        int offset = 0;
        for (int i = 1; i <= 2; i++) {
            ByteBuf frame = Unpooled.buffer();
            frame.writeByte(0x30 | i << 1);
            PublishShape.variableByteInteger(frame, Short.BYTES + topic.length() + Short.BYTES + 1 + payloadLength);
            frame.writeShort(topic.length());
            ByteBufUtil.writeAscii(frame, topic);
            offset = frame.readableBytes();
            frame.writeShort(0).writeByte(0).writeZero(payloadLength);
            frames[i] = ByteBufUtil.getBytes(frame);
        }
        this.packetIdOffset = offset;
    }

    /** Messages acknowledged in full: with PUBACK or PUBCOMP. */
    long acknowledged() {
        return acknowledged;
    }

    /** The longest time with messages in flight and without an acknowledgement, in milliseconds, since the last call. */
    long takeLongestGapMs() {
        long gap = longestGapNs;
        longestGapNs = 0;
        return TimeUnit.NANOSECONDS.toMillis(gap);
    }

    /** Why the connection ended; null while it lives. */
    Throwable failure() {
        return failure;
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        context = ctx;
        ByteBuf connect = ctx.alloc().buffer();
        connect.writeByte(0x10).writeByte(10 + 1 + Short.BYTES + clientId.length());
        connect.writeShort(4);
        ByteBufUtil.writeAscii(connect, "MQTT");
        connect.writeByte(5)
                .writeByte(2)
                .writeShort(0)
                .writeByte(0); // level, clean start, no keep alive, no properties
        connect.writeShort(clientId.length());
        ByteBufUtil.writeAscii(connect, clientId);
        ctx.writeAndFlush(connect);
    }

    /** Begins to publish. */
    void begin() {
        context.executor().execute(() -> {
            answeredAtNs = clock.nanoTime();
            tickedAtNs = answeredAtNs;
            if (perSecond > 0) {
                context.executor().scheduleAtFixedRate(this::tick, TICK_MS, TICK_MS, TimeUnit.MILLISECONDS);
            }
            fill();
        });
    }

    /** Publishes nothing new. */
    void stop() {
        context.executor().execute(() -> isStopping = true);
    }

    private void tick() {
        long now = clock.nanoTime();
        owed = Math.min(window, owed + (now - tickedAtNs) * (double) perSecond / TimeUnit.SECONDS.toNanos(1));
        tickedAtNs = now;
        noteGap(now);
        fill();
    }

    private void fill() {
        while (!isStopping && failure == null && inFlight < window && (perSecond == 0 || owed >= 1)) {
            owed--;
            publish();
        }
        flush();
    }

    private void publish() {
        if (inFlight == 0) {
            answeredAtNs = clock.nanoTime();
        }
        packetId = packetId % PACKET_IDS + 1;
        ByteBuf buf = out();
        int offset = buf.writerIndex();
        buf.writeBytes(frames[qos]);
        buf.setShort(offset + packetIdOffset, packetId);
        qos = 3 - qos;
        inFlight++;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf in = (ByteBuf) message;
        unread.writeBytes(in);
        in.release();
        while (unread.readableBytes() >= 2) {
            int length = unread.getUnsignedByte(unread.readerIndex() + 1); // answers are short
            if (unread.readableBytes() < 2 + length) {
                break;
            }
            onAnswer(
                    unread.getUnsignedByte(unread.readerIndex()) >>> 4, unread.slice(unread.readerIndex() + 2, length));
            unread.skipBytes(2 + length);
        }
        unread.discardReadBytes();
    }

    private void onAnswer(int type, ByteBuf body) {
        int reason = type == CONNACK ? body.getUnsignedByte(1) : body.readableBytes() > 2 ? body.getUnsignedByte(2) : 0;
        if (reason >= FAILURE) {
            fail(new IOException(clientId + ": refused, reason code 0x" + Integer.toHexString(reason)));
            return;
        }
        switch (type) {
            case CONNACK -> connected.trySuccess(null);
            case PUBREC -> out().writeByte(0x62).writeByte(2).writeShort(body.getUnsignedShort(0));
            case PUBACK, PUBCOMP -> {
                inFlight--;
                noteGap(clock.nanoTime());
                answeredAtNs = clock.nanoTime();
                count();
            }
            default -> fail(new IOException(clientId + ": unexpected packet of type " + type));
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // written by the event loop alone
    private void count() {
        acknowledged++;
    }

    private void noteGap(long now) {
        if (inFlight > 0) {
            longestGapNs = Math.max(longestGapNs, now - answeredAtNs);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        fill();
    }

    private ByteBuf out() {
        if (out == null) {
            out = context.alloc().buffer();
        }
        return out;
    }

    private void flush() {
        if (out != null) {
            context.writeAndFlush(out);
            out = null;
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        fail(new IOException(clientId + ": the server closed the connection"));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        fail(cause);
        ctx.close();
    }

    private void fail(Throwable cause) {
        if (failure == null) {
            failure = cause;
        }
        connected.tryFailure(cause);
    }
}
