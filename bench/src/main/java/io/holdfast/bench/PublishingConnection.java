package io.holdfast.bench;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import org.agrona.concurrent.NanoClock;

/**
 * One MQTT 3.1.1 client that keeps {@code window} QoS 1 PUBLISHes unacknowledged: each PUBACK is answered with the next
 * one. What a read brings is answered in one write. For its event loop.
 */
final class PublishingConnection extends ChannelInboundHandlerAdapter {
    // CONNACK and PUBACK of MQTT 3.1.1 have four bytes each, and nothing else comes.
    private static final int ANSWER_LENGTH = 4;
    private static final int CONNECT = 0x10;
    private static final int CONNACK_ACCEPTED = 0x20020000;
    private static final int PUBLISH_QOS_1 = 0x32;
    private static final int PUBACK = 0x4002;

    // For the connection's life.
    private final AckRecorder recorder;
    private final NanoClock clock;
    private final String clientId;
    private final byte[] frame;
    private final int packetIdOffset;
    private final long[] sentNanos;
    private final Promise<Void> connected;
    private final Promise<Void> idle;

    // For the bytes at hand.
    private ChannelHandlerContext context;
    private int answer;
    private int answerBytes;
    private ByteBuf out;
    private int unacknowledged;
    private boolean stopping;

    PublishingConnection(
            String clientId,
            int window,
            int payloadLength,
            AckRecorder recorder,
            NanoClock clock,
            Promise<Void> connected,
            Promise<Void> idle) {
        this.clientId = clientId;
        this.recorder = recorder;
        this.clock = clock;
        this.connected = connected;
        this.idle = idle;
        this.sentNanos = new long[window + 1];
        ByteBuf template = Unpooled.buffer();
        String topic = "bench/" + clientId;
        template.writeByte(PUBLISH_QOS_1);
        PublishShape.variableByteInteger(template, Short.BYTES + topic.length() + Short.BYTES + payloadLength);
        template.writeShort(topic.length());
        ByteBufUtil.writeAscii(template, topic);
        this.packetIdOffset = template.readableBytes();
        template.writeShort(0).writeZero(payloadLength);
        this.frame = ByteBufUtil.getBytes(template);
    }

    /** Fills the window; from then on every acknowledgement brings the next PUBLISH. */
    void begin() {
        out = context.alloc().buffer();
        long now = clock.nanoTime();
        for (int packetId = 1; packetId < sentNanos.length; packetId++) {
            publish(packetId, now);
        }
        flush();
    }

    /** Sends no more; {@code idle} is done once everything has been acknowledged. */
    void stop() {
        stopping = true;
        completeIfIdle();
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        context = ctx;
        ByteBuf connect = ctx.alloc().buffer();
        connect.writeByte(CONNECT).writeByte(10 + Short.BYTES + clientId.length());
        connect.writeShort(4);
        ByteBufUtil.writeAscii(connect, "MQTT");
        connect.writeByte(4).writeByte(2).writeShort(0); // level, clean session, no keep alive
        connect.writeShort(clientId.length());
        ByteBufUtil.writeAscii(connect, clientId);
        ctx.writeAndFlush(connect);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf in = (ByteBuf) message;
        try {
            long now = clock.nanoTime();
            while (in.isReadable()) {
                answer = answer << Byte.SIZE | in.readUnsignedByte();
                if (++answerBytes == ANSWER_LENGTH) {
                    answerBytes = 0;
                    onAnswer(now);
                }
            }
        } finally {
            in.release();
        }
    }

    private void onAnswer(long now) {
        if (answer >>> Short.SIZE == PUBACK) {
            onPuback(answer & 0xFFFF, now);
        } else if (answer == CONNACK_ACCEPTED) {
            connected.trySuccess(null);
        } else {
            fail(new IOException("unexpected answer 0x" + Integer.toHexString(answer)));
        }
    }

    private void onPuback(int packetId, long now) {
        unacknowledged--;
        recorder.acknowledged(now - sentNanos[packetId]);
        if (!stopping) {
            publish(packetId, now);
        } else {
            completeIfIdle();
        }
    }

    private void publish(int packetId, long now) {
        if (out == null) {
            out = context.alloc().buffer();
        }
        int offset = out.writerIndex();
        out.writeBytes(frame);
        out.setShort(offset + packetIdOffset, packetId);
        sentNanos[packetId] = now;
        unacknowledged++;
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        flush();
    }

    private void flush() {
        if (out != null) {
            context.writeAndFlush(out);
            out = null;
        }
    }

    private void completeIfIdle() {
        if (unacknowledged == 0) {
            idle.trySuccess(null);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        fail(new IOException("the server closed the connection of " + clientId));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        fail(cause);
        ctx.close();
    }

    private void fail(Throwable cause) {
        connected.tryFailure(cause);
        idle.tryFailure(cause);
    }
}
