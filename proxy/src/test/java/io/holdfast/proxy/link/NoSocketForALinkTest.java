package io.holdfast.proxy.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.Endpoint;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Without descriptors a dial fails before there is a channel: told on the caller's event loop all the same. */
class NoSocketForALinkTest {
    /** As when {@code socket()} says EMFILE. */
    public static final class NoSocket extends NioSocketChannel {
        private final int descriptor = noDescriptor();

        private static int noDescriptor() {
            throw new IllegalStateException("Too many open files");
        }

        @Override
        public String toString() {
            return "socket " + descriptor;
        }
    }

    @Test
    void theFailureIsToldOnTheCallersEventLoop() throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try (LinkDialer dialer = new LinkDialer(NoSocket.class, new Endpoint("127.0.0.1", 1, false), null)) {
            EventLoop loop = group.next();
            CompletableFuture<Boolean> onLoop = new CompletableFuture<>();
            CompletableFuture<Boolean> failed = new CompletableFuture<>();
            loop.execute(() -> dialer.dial(loop, new ChannelInboundHandlerAdapter(), WriteBufferWaterMark.DEFAULT)
                    .addListener(future -> {
                        onLoop.complete(loop.inEventLoop());
                        failed.complete(!future.isSuccess());
                    }));
            assertTrue(failed.get(10, TimeUnit.SECONDS));
            assertEquals(true, onLoop.get(10, TimeUnit.SECONDS));
        } finally {
            group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }
}
