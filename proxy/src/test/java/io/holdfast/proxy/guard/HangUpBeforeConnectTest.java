package io.holdfast.proxy.guard;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.Channel;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.NotYetConnectedException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A busy loop polls a socket that is registered and not yet connected: the read that fails must not fail the dial. */
class HangUpBeforeConnectTest {
    private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final Channel channel = new NioSocketChannel();

    @AfterEach
    void close() throws Exception {
        channel.close().sync();
        group.shutdownGracefully().sync();
    }

    @Test
    void socketThatIsNotYetConnectedIsKept() throws Exception {
        register();
        fail();
        assertTrue(channel.isOpen());
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertTrue(channel.connect(server.getLocalSocketAddress()).await().isSuccess());
        }
    }

    @Test
    void connectedSocketIsClosed() throws Exception {
        register();
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            channel.connect(server.getLocalSocketAddress()).sync();
            fail();
            assertFalse(channel.isOpen());
        }
    }

    private void register() throws InterruptedException {
        channel.pipeline().addLast(ChannelErrors.INSTANCE);
        group.register(channel).sync();
    }

    private void fail() throws InterruptedException {
        channel.pipeline().fireExceptionCaught(new NotYetConnectedException());
        channel.eventLoop().submit(() -> {}).sync();
    }
}
