package io.holdfast.proxy.sim;

import io.netty.buffer.ByteBuf;
import io.netty.channel.AbstractChannel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayDeque;

/** The proxy's end of a {@link SimConnection}. On its event loop. */
public final class SimChannel extends AbstractChannel {
    private static final ChannelMetadata METADATA = new ChannelMetadata(false);
    private static final InetSocketAddress LOCAL = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1883);

    private final DefaultChannelConfig config = new DefaultChannelConfig(this);
    private final ArrayDeque<byte[]> arrived = new ArrayDeque<>();
    private SimConnection connection;
    private boolean isOpen = true;
    private boolean isReadWanted;
    private boolean isWriteBlocked;
    private boolean isPeerGone;

    /** Not connected yet: for the dialer. */
    public SimChannel() {
        super(null);
    }

    SimChannel(SimConnection accepted) {
        super(null);
        connection = accepted;
    }

    SimConnection connection() {
        return connection;
    }

    // ---- from the network; on the loop

    /** Bytes have arrived; they are read when the pipeline wants to. */
    void arrive(byte[] bytes) {
        arrived.addLast(bytes);
        readSome();
    }

    void peerClosed() {
        isPeerGone = true;
        readSome();
    }

    void reset() {
        if (isOpen) {
            pipeline().fireExceptionCaught(new IOException("Connection reset by peer"));
            unsafe().close(voidPromise());
        }
    }

    void roomToWrite() {
        if (isWriteBlocked && isOpen) {
            isWriteBlocked = false;
            ((Unsafe) unsafe()).flushAgain();
        }
    }

    private void readSome() {
        if (!isOpen) {
            arrived.clear();
            return;
        }
        if (isReadWanted && !arrived.isEmpty()) {
            isReadWanted = false;
            byte[] bytes = arrived.pollFirst();
            ByteBuf buffer = config.getAllocator().directBuffer(bytes.length);
            buffer.writeBytes(bytes);
            pipeline().fireChannelRead(buffer);
            pipeline().fireChannelReadComplete();
            if (isOpen && config.isAutoRead()) {
                read();
            }
        }
        if (isPeerGone && arrived.isEmpty() && isOpen) {
            unsafe().close(voidPromise());
        }
    }

    int unread() {
        return arrived.size();
    }

    // ---- Netty's side

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new Unsafe();
    }

    private final class Unsafe extends AbstractUnsafe {
        @Override
        public void connect(SocketAddress remote, SocketAddress local, ChannelPromise promise) {
            SimNetwork network = ((SimLoop) eventLoop()).network();
            config.setAllocator(network.allocator());
            network.dialled(SimChannel.this, promise);
        }

        void connected(SimConnection made, ChannelPromise promise) {
            if (!isOpen) {
                promise.tryFailure(new ConnectException("closed"));
            } else if (made == null) {
                promise.tryFailure(new ConnectException("Connection refused"));
                close(voidPromise());
            } else {
                connection = made;
                promise.trySuccess();
                pipeline().fireChannelActive();
                if (config.isAutoRead()) {
                    read();
                }
            }
        }

        void flushAgain() {
            super.flush0();
        }

        @Override
        protected void flush0() {
            if (!isWriteBlocked) {
                super.flush0();
            }
        }
    }

    /** The network's answer to a dial; null if nobody listens. */
    void connected(SimConnection made, ChannelPromise promise) {
        ((Unsafe) unsafe()).connected(made, promise);
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer outbound) {
        for (Object message = outbound.current(); message != null; message = outbound.current()) {
            ByteBuf buffer = (ByteBuf) message;
            int length = buffer.readableBytes();
            if (length == 0) {
                outbound.remove();
                continue;
            }
            int part = Math.min(length, connection.roomToPeer());
            if (part == 0) {
                isWriteBlocked = true;
                return;
            }
            byte[] bytes = new byte[part];
            buffer.getBytes(buffer.readerIndex(), bytes);
            connection.written(bytes);
            outbound.removeBytes(part);
        }
    }

    @Override
    protected boolean isCompatible(EventLoop loop) {
        return loop instanceof SimLoop;
    }

    @Override
    protected void doRegister(ChannelPromise promise) {
        config.setAllocator(((SimLoop) eventLoop()).network().allocator());
        promise.setSuccess();
    }

    @Override
    protected void doDeregister() {
        // nothing to take off
    }

    @Override
    protected SocketAddress localAddress0() {
        return LOCAL;
    }

    @Override
    protected SocketAddress remoteAddress0() {
        return LOCAL;
    }

    @Override
    protected void doBind(SocketAddress local) {
        throw new UnsupportedOperationException();
    }

    @Override
    protected void doDisconnect() {
        doClose();
    }

    @Override
    protected void doClose() {
        isOpen = false;
        if (connection != null) {
            connection.closedByProxy();
        }
    }

    @Override
    protected void doBeginRead() {
        isReadWanted = true;
        if (!arrived.isEmpty() || isPeerGone) {
            eventLoop().execute(this::readSome);
        }
    }

    @Override
    public ChannelConfig config() {
        return config;
    }

    @Override
    public boolean isOpen() {
        return isOpen;
    }

    @Override
    public boolean isActive() {
        return isOpen && connection != null;
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }
}
