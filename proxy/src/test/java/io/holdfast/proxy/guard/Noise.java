package io.holdfast.proxy.guard;

import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * How slow the machine itself is at the same time: a PUBLISH to the broker without the proxy, and a sync of a file, five
 * times a second. What these take is nobody's fault that is under test.
 */
final class Noise implements AutoCloseable {
    private static final int PERIOD_MS = 200;

    private final Thread thread;
    private final CountDownLatch over = new CountDownLatch(1);
    private volatile long longestMs;

    Noise(Path directory, int brokerPort) {
        thread = new Thread(() -> run(directory.resolve("noise"), brokerPort), "noise");
        thread.setDaemon(true);
        thread.start();
    }

    private void run(Path path, int brokerPort) {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                RawMqttClient client = RawMqttClient.connect(brokerPort, Packets.V311, "noise", true)) {
            while (!over.await(PERIOD_MS, TimeUnit.MILLISECONDS)) {
                long begin = System.nanoTime();
                client.send(Packets.publish(Packets.V311, 1, 1, "noise", "m"));
                client.expect(Packet.PUBACK);
                file.write(ByteBuffer.wrap(new byte[512]));
                file.force(true);
                longestMs = Math.max(longestMs, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin));
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The longest since the last call. */
    long takeLongestMs() {
        long longest = longestMs;
        longestMs = 0;
        return longest;
    }

    @Override
    public void close() {
        over.countDown();
        try {
            thread.join(TimeUnit.SECONDS.toMillis(20));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
