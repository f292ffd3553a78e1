package io.holdfast.proxy;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;

/** The I/O that Netty does: epoll where its native library loads, the JDK's otherwise. */
public enum Transport {
    /** Linux epoll. */
    EPOLL(EpollSocketChannel.class, EpollServerSocketChannel.class),
    /** The JDK's selectors. */
    NIO(NioSocketChannel.class, NioServerSocketChannel.class);

    private final Class<? extends Channel> channel;
    private final Class<? extends ServerChannel> serverChannel;

    Transport(Class<? extends Channel> channel, Class<? extends ServerChannel> serverChannel) {
        this.channel = channel;
        this.serverChannel = serverChannel;
    }

    /** The best that works here. */
    public static Transport best() {
        return Epoll.isAvailable() ? EPOLL : NIO;
    }

    /** Class of a connection. */
    public Class<? extends Channel> channel() {
        return channel;
    }

    /** Class of a listener. */
    public Class<? extends ServerChannel> serverChannel() {
        return serverChannel;
    }

    /** {@code threads} event loops whose threads are named {@code name-…}. */
    public EventLoopGroup newGroup(int threads, String name) {
        IoHandlerFactory factory = this == EPOLL ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
        return new MultiThreadIoEventLoopGroup(threads, new DefaultThreadFactory(name), factory);
    }
}
