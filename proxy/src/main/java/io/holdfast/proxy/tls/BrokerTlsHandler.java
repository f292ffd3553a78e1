package io.holdfast.proxy.tls;

import io.holdfast.proxy.guard.GracefulClose;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import javax.net.ssl.SSLException;

/** Watches TLS to the broker, right behind Netty's handler: completes the dial, and says why it failed. */
final class BrokerTlsHandler extends ChannelInboundHandlerAdapter {
    private final BrokerTls tls;
    private final Promise<Channel> secured;
    private boolean connected;
    private boolean failed;

    BrokerTlsHandler(BrokerTls tls, Promise<Channel> secured) {
        this.tls = tls;
        this.secured = secured;
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        connected = true;
        ctx.fireChannelActive();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof SslHandshakeCompletionEvent handshake) {
            if (handshake.isSuccess()) {
                secured.trySuccess(ctx.channel());
            } else if (connected) {
                report(ctx, handshake.cause());
            }
        } else if (event instanceof SslCloseCompletionEvent) {
            if (!GracefulClose.isClosing(ctx.channel())) {
                ctx.close(); // close_notify: as the end of the stream without TLS
            }
        } else {
            ctx.fireUserEventTriggered(event);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (Causes.find(cause, SSLException.class) != null) {
            report(ctx, cause);
            ctx.close();
        } else {
            ctx.fireExceptionCaught(cause);
        }
    }

    private void report(ChannelHandlerContext ctx, Throwable cause) {
        if (!failed) {
            failed = true;
            secured.tryFailure(new IOException(tls.failed(ctx.channel(), cause), cause));
        }
    }
}
