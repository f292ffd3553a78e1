package io.holdfast.proxy.guard;

import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.timeout.TimeoutException;
import java.io.IOException;
import java.nio.channels.NotYetConnectedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The last handler of every pipeline: a broken or idle socket is everyday and closes quietly; anything else is a fault of ours. */
@Sharable
public final class ChannelErrors extends ChannelInboundHandlerAdapter {
    /** The one instance; it has no state. */
    public static final ChannelErrors INSTANCE = new ChannelErrors();

    private static final Logger LOG = LoggerFactory.getLogger(ChannelErrors.class);

    private ChannelErrors() {}

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (cause instanceof NotYetConnectedException && !ctx.channel().isActive()) {
            // Between its registration and connect() a busy loop may poll a socket: epoll tells of a hang-up, and the
            // transport reads it. Closing it here would fail the dial, and so refuse a device.
            LOG.debug("{} is not connected yet", ctx.channel());
            return;
        }
        if (cause instanceof IOException || cause instanceof TimeoutException) {
            LOG.debug("{}: {}", ctx.channel(), cause.getMessage());
        } else {
            LOG.error("Closing {} after an error", ctx.channel(), cause);
        }
        ctx.close();
    }
}
