package io.holdfast.proxy.guard;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.FreePorts;
import io.holdfast.proxy.testing.HoldfastProcess;
import io.holdfast.proxy.testing.MetricsPage;
import io.holdfast.proxy.testing.MosquittoBroker;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Broken packets over sockets, from addresses all over 127/8, into a small proxy with Netty's paranoid leak detection. Honest
 * clients next to it are served all along; each broken connection is closed; there is no error in the log, no leak, no
 * connection left over, and memory is flat.
 */
@EnabledOnOs(OS.LINUX)
class BrokenPacketsOnSocketsTest {
    private static final int WORKERS = 16;
    private static final int GROWTH_MIB = 64;
    private static final int[] VERSIONS = {Packets.V31, Packets.V311, Packets.V5};

    @TempDir
    Path directory;

    private final int port = FreePorts.next();
    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong sessions = new AtomicLong();

    @Test
    void shortForm() throws Exception {
        fuzz(10_000);
    }

    @Test
    @Tag("fuzz")
    void longForm() throws Exception {
        fuzz(Long.getLong("holdfast.fuzz.live", 500_000));
    }

    private void fuzz(long packets) throws Exception {
        long seed = Long.getLong("holdfast.fuzz.seed", System.nanoTime());
        System.out.printf("fuzz, live: seed %d, %d packets%n", seed, packets);
        int adminPort = FreePorts.next();
        try (MosquittoBroker broker = MosquittoBroker.create(directory.resolve("broker"))) {
            broker.start();
            try (HoldfastProcess proxy = proxy(broker, adminPort).start();
                    HonestClient v311 = new HonestClient(port, Packets.V311, "honest3", List.of("h/1", "t/1"));
                    HonestClient v5 = new HonestClient(port, Packets.V5, "honest5", List.of("h/2", "t/2"))) {
                long begin = System.nanoTime();
                attack(seed, packets / 3, proxy);
                long beforeMib = residentMib(proxy);
                attack(seed + 1, packets, proxy);
                long seconds = Math.max(1, TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin));
                long longest = Math.max(v311.takeLongestMs(), v5.takeLongestMs());
                System.out.printf(
                        "fuzz, live: seed %d, %d packets in %d connections, %d packets/s, honest clients waited %d ms at most,"
                                + " %d MiB resident after a third, %d at the end%n",
                        seed, sent.get(), sessions.get(), sent.get() / seconds, longest, beforeMib, residentMib(proxy));
                MetricsPage metrics = new MetricsPage(adminPort);
                await().atMost(Duration.ofSeconds(30)).until(() -> metrics.gauge(Meter.DEVICES_CONNECTED) == 2);
                assertTrue(residentMib(proxy) < beforeMib + GROWTH_MIB, () -> residentMib(proxy) + " MiB resident");
                assertEquals(0, proxy.sigterm(), "exit code");
                assertEquals(
                        List.of(),
                        proxy.allOutput()
                                .lines()
                                .filter(line ->
                                        line.contains(" ERROR ") || line.contains("LEAK") || line.startsWith("\tat "))
                                .filter(line -> !line.contains("acknowledged and dropped"))
                                .toList());
            }
        }
    }

    private HoldfastProcess proxy(MosquittoBroker broker, int adminPort) {
        return HoldfastProcess.of(
                        "run",
                        "--upstream",
                        broker.url(),
                        "--listen",
                        "mqtt://127.0.0.1:" + port,
                        "--admin",
                        "127.0.0.1:" + adminPort,
                        "--data-dir",
                        directory.resolve("data").toString(),
                        "--route",
                        "hold h/#",
                        "--route",
                        "outbox #",
                        "--connect-deadline",
                        "3s",
                        "--ingress-memory-budget",
                        "16MiB")
                .jvmFlags(
                        "-Xmx96m",
                        "-XX:MaxDirectMemorySize=64m",
                        "-XX:+ExitOnOutOfMemoryError",
                        "-Dio.netty.leakDetection.level=paranoid");
    }

    /** Until {@code packets} more have been sent. */
    private void attack(long seed, long packets, HoldfastProcess proxy) throws InterruptedException {
        long end = sent.get() + packets;
        ExecutorService workers = Executors.newFixedThreadPool(WORKERS);
        List<? extends Future<?>> all = IntStream.range(0, WORKERS)
                .mapToObj(worker -> workers.submit(() -> {
                    SplittableRandom random = new SplittableRandom(seed * WORKERS + worker);
                    for (int i = 0; sent.get() < end; i++) {
                        session(random, "seed " + seed + " worker " + worker + " session " + i);
                    }
                }))
                .toList();
        workers.shutdown();
        for (Future<?> one : all) {
            try {
                one.get();
            } catch (ExecutionException e) {
                workers.shutdownNow();
                throw new AssertionError(e.getCause().getMessage() + "\n" + proxy.output(), e.getCause());
            }
        }
    }

    private void session(SplittableRandom random, String where) {
        int version = VERSIONS[random.nextInt(VERSIONS.length)];
        BrokenPackets source = new BrokenPackets(random, version);
        byte[] bytes = source.connect();
        int count = 1 + random.nextInt(60);
        for (int i = 0; i < count; i++) {
            bytes = Packets.concat(bytes, source.next());
        }
        sessions.incrementAndGet();
        sent.addAndGet(count + 1L);
        try (Socket socket = new Socket()) {
            socket.bind(new InetSocketAddress(
                    InetAddress.getByAddress(new byte[] {
                        127, (byte) random.nextInt(256), (byte) random.nextInt(256), (byte) random.nextInt(1, 255)
                    }),
                    0));
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 10_000);
            socket.setSoTimeout(20_000);
            OutputStream out = socket.getOutputStream();
            for (int from = 0; from < bytes.length; ) {
                int to = Math.min(bytes.length, from + 1 + random.nextInt(400));
                out.write(bytes, from, to - from);
                from = to;
            }
            socket.shutdownOutput();
            readToTheEnd(socket.getInputStream());
        } catch (SocketTimeoutException e) {
            throw new AssertionError(where + ": not closed", e);
        } catch (IOException e) {
            return; // closed while it was still sending, which is right
        }
    }

    private static void readToTheEnd(InputStream in) throws IOException {
        byte[] buffer = new byte[4096];
        int length;
        do {
            length = in.read(buffer);
        } while (length >= 0);
    }

    private static long residentMib(HoldfastProcess proxy) {
        try (var lines = Files.lines(Path.of("/proc/" + proxy.pid() + "/status"))) {
            String line =
                    lines.filter(one -> one.startsWith("VmRSS:")).findFirst().orElseThrow();
            return Long.parseLong(line.replaceAll("\\D", "")) >> 10;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What a broken device sends: much that is right, and then something that is not. */
    private static final class BrokenPackets {
        private static final String[] TOPICS = {"h/f", "t/f", "f", "$SYS/f", "f/é", "//", "t/#", "", "a/+"};

        private final SplittableRandom random;
        private final int version;

        BrokenPackets(SplittableRandom random, int version) {
            this.random = random;
            this.version = version;
        }

        byte[] connect() {
            byte[] connect = Packets.connect(version, "f" + random.nextInt(500), random.nextBoolean());
            return random.nextInt(8) == 0 ? change(connect) : connect;
        }

        byte[] next() {
            int kind = random.nextInt(100);
            if (kind < 2) {
                byte[] noise = new byte[random.nextInt(1, 60)];
                random.nextBytes(noise);
                return noise;
            }
            byte[] packet = valid();
            return kind < 92 ? packet : change(packet);
        }

        private byte[] valid() {
            int id = random.nextInt(1, 65_536);
            String topic = TOPICS[random.nextInt(random.nextInt(10) == 0 ? TOPICS.length : 3)];
            return switch (random.nextInt(9)) {
                case 0 -> Packets.pingreq();
                case 1 -> Packets.subscribe(version, id, "s/" + topic, random.nextInt(3));
                case 2 -> Packets.unsubscribe(version, id, "s/" + topic);
                case 3 -> Packets.ack(Packet.PUBREL, id);
                case 4 -> Packets.ack(random.nextBoolean() ? Packet.PUBACK : Packet.PUBCOMP, id);
                default -> Packets.publish(version, random.nextInt(3), id, topic, "x".repeat(random.nextInt(200)));
            };
        }

        private byte[] change(byte[] packet) {
            int at = random.nextInt(packet.length);
            switch (random.nextInt(6)) {
                case 0 -> packet[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> packet[at] = (byte) random.nextInt(256);
                case 2 -> packet[Math.min(1, packet.length - 1)] = (byte) random.nextInt(256);
                case 3 -> {
                    return Arrays.copyOf(packet, at);
                }
                case 4 -> {
                    return Packets.concat(
                            Arrays.copyOf(packet, at),
                            Integer.toString(random.nextInt()).getBytes(StandardCharsets.US_ASCII),
                            Arrays.copyOfRange(packet, at, packet.length));
                }
                default -> {
                    return Packets.concat(Arrays.copyOf(packet, at), valid());
                }
            }
            return packet;
        }
    }
}
