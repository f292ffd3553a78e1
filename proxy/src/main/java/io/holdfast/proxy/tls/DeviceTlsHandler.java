package io.holdfast.proxy.tls;

import io.holdfast.proxy.guard.GracefulClose;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import javax.net.ssl.SSLException;

/** Watches a device's TLS, right behind Netty's handler: says why it failed, and closes when the device says it is over. */
final class DeviceTlsHandler extends ChannelDuplexHandler {
    private final DeviceTls tls;
    private boolean secured;
    private boolean failed;
    private boolean closedByUs;

    DeviceTlsHandler(DeviceTls tls) {
        this.tls = tls;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof SslHandshakeCompletionEvent handshake) {
            if (handshake.isSuccess()) {
                secured = true;
            } else {
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
        if (Causes.find(cause, SSLException.class) != null && !GracefulClose.isClosing(ctx.channel())) {
            report(ctx, cause);
            ctx.close();
        } else {
            ctx.fireExceptionCaught(cause);
        }
    }

    /** Before it is secured: by the connect deadline, or to make room. */
    @Override
    public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
        closedByUs = true;
        ctx.close(promise);
    }

    private void report(ChannelHandlerContext ctx, Throwable cause) {
        if (!failed) {
            failed = true;
            boolean unfinished = closedByUs && !secured;
            tls.failed(ctx.channel(), unfinished ? DeviceTlsFailure.UNFINISHED : DeviceTlsFailure.of(cause), cause);
        }
    }
}
