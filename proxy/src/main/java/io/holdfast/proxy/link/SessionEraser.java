package io.holdfast.proxy.link;

import io.holdfast.codec.AckWriter;
import io.holdfast.codec.ConnectPacket;
import io.holdfast.codec.ReasonCode;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.ReferenceCountUtil;
import java.util.concurrent.TimeUnit;

/**
 * Ends a 3.x session at the broker: CONNECT with Clean Session 1, then DISCONNECT. In 3.1.1 there is no other way
 * ([MQTT-3.1.2-6]). One event loop.
 */
final class SessionEraser extends ChannelInboundHandlerAdapter {
    private final ConnectPacket connect;
    private final Runnable onDone;
    private boolean done;

    /** Will erase the session of {@code connect}'s client id; {@code onDone} runs once, whatever came of it. */
    SessionEraser(ConnectPacket connect, Runnable onDone) {
        this.connect = connect;
        this.onDone = onDone;
    }

    void start(LinkDialer dialer, EventLoop eventLoop, long timeoutMs) {
        dialer.dial(eventLoop, this, WriteBufferWaterMark.DEFAULT).addListener((ChannelFutureListener) future -> {
            if (future.isSuccess()) {
                eventLoop.schedule(() -> future.channel().close(), timeoutMs, TimeUnit.MILLISECONDS);
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
