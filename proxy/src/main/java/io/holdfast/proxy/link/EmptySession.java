package io.holdfast.proxy.link;

import io.holdfast.codec.AckWriter;
import io.holdfast.codec.ConnectPacket;
import io.holdfast.codec.ReasonCode;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Ends the empty session that a redial has made at the broker. Left alone, the device would be told Session Present 1 next
 * time and stay deaf. MQTT 5: DISCONNECT with Session Expiry Interval 0. 3.x: DISCONNECT, then CONNECT with Clean Session 1 and
 * DISCONNECT again; there is no other way ([MQTT-3.1.2-6]). One event loop.
 */
final class EmptySession extends ChannelInboundHandlerAdapter {
    /** DISCONNECT 0x00 with Session Expiry Interval 0 (v5 §3.14.2.2.2). */
    private static final byte[] DISCONNECT_ENDING_SESSION = {(byte) 0xe0, 7, 0, 5, 0x11, 0, 0, 0, 0};

    private static final long TIMEOUT_MS = 1_000;

    private final ConnectPacket connect;
    private final Runnable onDone;
    private boolean done;

    /** Will end the session of {@code connect}'s client id; {@code onDone} runs once, whatever came of it. */
    EmptySession(ConnectPacket connect, Runnable onDone) {
        this.connect = connect;
        this.onDone = onDone;
    }

    /** Ends it; {@code link} is the connection that has made it, and is closed. */
    void end(ChannelHandlerContext link, LinkDialer dialer, WriteBufferWaterMark waterMark) {
        ByteBuf out = link.alloc().buffer();
        if (connect.version().isV5()) {
            // Once the broker has closed it has also seen the DISCONNECT.
            link.channel().closeFuture().addListener(closed -> finish());
            link.writeAndFlush(out.writeBytes(DISCONNECT_ENDING_SESSION));
            link.executor().schedule(() -> link.close(), TIMEOUT_MS, TimeUnit.MILLISECONDS);
        } else {
            AckWriter.disconnect(out, ReasonCode.SUCCESS, connect.version());
            link.writeAndFlush(out).addListener(ChannelFutureListener.CLOSE);
            erase(dialer, link.channel().eventLoop(), waterMark);
        }
    }

    private void erase(LinkDialer dialer, EventLoop eventLoop, WriteBufferWaterMark waterMark) {
        dialer.dial(eventLoop, this, waterMark).addListener((Future<Channel> dialled) -> {
            if (dialled.isSuccess()) {
                eventLoop.schedule(() -> dialled.getNow().close(), TIMEOUT_MS, TimeUnit.MILLISECONDS);
            } else {
                finish();
            }
        });
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        ByteBuf frame = ctx.alloc().buffer();
        connect.writeRedial(frame, true);
        ctx.writeAndFlush(frame);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        // The CONNACK, whatever it says: a clean session has been made, or there was none to erase.
        ReferenceCountUtil.release(message);
        ByteBuf out = ctx.alloc().buffer(2);
        AckWriter.disconnect(out, ReasonCode.SUCCESS, connect.version());
        ctx.writeAndFlush(out).addListener(ChannelFutureListener.CLOSE);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        finish();
    }

    private void finish() {
        if (!done) {
            done = true;
            onDone.run();
        }
    }
}
