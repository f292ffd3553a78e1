package io.holdfast.bench;

import io.holdfast.proxy.Transport;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.agrona.concurrent.NanoClock;

/**
 * Connections × window QoS 1 PUBLISHes in flight on one event loop, for a while. The load is closed: a slow server gets
 * less of it, so latency is that under this concurrency, not under a fixed rate.
 */
final class ClosedLoopLoad implements AutoCloseable {
    private static final int LIMIT_S = 60;

    private final EventLoopGroup group;
    private final Transport transport;
    private final NanoClock clock;

    /** How many, and how large. */
    record Shape(int connections, int window, int payloadLength) {
        @Override
        public String toString() {
            return connections + " × " + window;
        }
    }

    ClosedLoopLoad(NanoClock clock) {
        this.clock = clock;
        this.transport = Transport.best();
        this.group = transport.newGroup(1, "load");
    }

    /**
     * Runs the load once.
     *
     * @param begun called when recording starts, {@code ended} when it stops; both on the caller's thread.
     * @throws IOException if a connection is refused or lost, or acknowledgements do not come within a minute.
     */
    AckRecorder run(int port, Shape shape, long warmUpMs, long measureMs, Runnable begun, Runnable ended)
            throws IOException, InterruptedException {
        EventLoop loop = group.next();
        AckRecorder recorder = new AckRecorder();
        List<Channel> channels = new ArrayList<>();
        List<PublishingConnection> connections = new ArrayList<>();
        List<Promise<Void>> idle = new ArrayList<>();
        try {
            for (int i = 0; i < shape.connections(); i++) {
                Promise<Void> connected = loop.newPromise();
                idle.add(loop.newPromise());
                PublishingConnection connection = new PublishingConnection(
                        "load-" + i, shape.window(), shape.payloadLength(), recorder, clock, connected, idle.get(i));
                channels.add(connect(loop, port, connection));
                connections.add(connection);
                await(connected);
            }
            await(loop.submit(() -> connections.forEach(PublishingConnection::begin)));
            await(loop.schedule(() -> recorder.start(clock.nanoTime()), warmUpMs, TimeUnit.MILLISECONDS));
            begun.run();
            await(loop.schedule(() -> recorder.stop(clock.nanoTime()), measureMs, TimeUnit.MILLISECONDS));
            ended.run();
            await(loop.submit(() -> connections.forEach(PublishingConnection::stop)));
            for (Promise<Void> promise : idle) {
                await(promise);
            }
            return recorder;
        } finally {
            for (Channel channel : channels) {
                channel.close().awaitUninterruptibly();
            }
        }
    }

    private Channel connect(EventLoop loop, int port, PublishingConnection connection)
            throws IOException, InterruptedException {
        var future = new Bootstrap()
                .group(loop)
                .channel(transport.channel())
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(connection)
                .connect("127.0.0.1", port);
        await(future);
        return future.channel();
    }

    private static void await(java.util.concurrent.Future<?> future) throws IOException, InterruptedException {
        try {
            future.get(LIMIT_S, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new IOException(e.getCause().getMessage(), e.getCause());
        } catch (TimeoutException e) {
            throw new IOException("no progress for " + LIMIT_S + " s", e);
        }
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
