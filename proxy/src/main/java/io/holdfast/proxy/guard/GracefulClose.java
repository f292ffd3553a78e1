package io.holdfast.proxy.guard;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.AttributeKey;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Closes a channel so that it can still read what was written last. A socket that is closed while bytes of its
 * peer lie unread is reset, and the reset overtakes the DISCONNECT or the acknowledgements that are on their way; so only
 * the sending side is closed at first, and what comes is thrown away. On the channel's event loop.
 */
public final class GracefulClose {
    /** A peer that does not read its last packets does not keep the socket. */
    private static final long ABORT_AFTER_MS = 5_000;
    /** Nor does one that goes on sending. */
    private static final long LINGER_MS = 1_000;

    private static final AttributeKey<Boolean> CLOSING = AttributeKey.valueOf(GracefulClose.class, "closing");

    private GracefulClose() {}

    /** Whether {@link #close} is at work: what the peer does now does not matter any more. */
    public static boolean isClosing(Channel channel) {
        return channel.hasAttr(CLOSING);
    }

    /** Closes behind what has been written; nothing may be written after it. */
    public static void close(Channel channel) {
        if (!channel.isActive()) {
            return;
        }
        SslHandler tls = channel.pipeline().get(SslHandler.class);
        if (tls != null && !tls.handshakeFuture().isDone()) {
            channel.close(); // nothing has been written, and behind the handshake nothing would be
            return;
        }
        channel.attr(CLOSING).set(true);
        closeAfter(channel, ABORT_AFTER_MS);
        channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> {
            if (tls == null || !channel.isActive()) {
                linger(channel);
            } else {
                // Without close_notify the peer would see a truncation.
                tls.closeOutbound().addListener(told -> channel.eventLoop().execute(() -> lingerWithout(tls, channel)));
            }
        });
    }

    /** TLS that is closed in one direction would collect what comes in the other; behind it, it is thrown away. */
    private static void lingerWithout(SslHandler tls, Channel channel) {
        if (channel.pipeline().context(tls) != null) {
            channel.pipeline().remove(tls);
        }
        linger(channel);
    }

    private static void linger(Channel channel) {
        if (channel instanceof DuplexChannel duplex && duplex.isActive()) {
            duplex.shutdownOutput();
            channel.config().setAutoRead(true);
            closeAfter(channel, LINGER_MS);
        } else {
            channel.close();
        }
    }

    private static void closeAfter(Channel channel, long ms) {
        Future<?> timer = channel.eventLoop().schedule(() -> channel.close(), ms, TimeUnit.MILLISECONDS);
        channel.closeFuture().addListener(closed -> timer.cancel(false));
    }
}
