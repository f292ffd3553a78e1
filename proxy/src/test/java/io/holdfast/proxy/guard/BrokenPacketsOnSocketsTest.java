package io.holdfast.proxy.guard;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.FreePorts;
import io.holdfast.proxy.testing.HoldfastProcess;
import io.holdfast.proxy.testing.MetricsPage;
import io.holdfast.proxy.testing.MosquittoBroker;
import io.holdfast.proxy.testing.MqttSocket;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
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
    private static final int WORKERS = 32;
    private static final int GROWTH_MIB = 64;
    private static final int FEW = 16;
    private static final long PATIENCE_MS = 1000;
    private static final Duration DRAINED = Duration.ofMinutes(3);
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final List<String> TOPICS = List.of("h/1", "h/2", "h/3", "t/1", "t/2", "t/3");
    private static final Duration QUIET = Duration.ofMillis(200);
    private static final int[] VERSIONS = {Packets.V31, Packets.V311, Packets.V5};

    private enum Answer {
        CAME,
        NONE,
        CLOSED
    }

    @TempDir
    Path directory;

    private final int port = FreePorts.next();
    private final AtomicLong examined = new AtomicLong();
    private final AtomicLong sessions = new AtomicLong();

    @Test
    void shortForm() throws Exception {
        fuzz(5_000);
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
                    Socket plain = new Socket(InetAddress.getLoopbackAddress(), broker.port());
                    HonestClient v31 = new HonestClient(port, Packets.V31, "honest31", List.of("h/1", "t/1"));
                    HonestClient v311 = new HonestClient(port, Packets.V311, "honest311", List.of("h/2", "t/2"));
                    HonestClient v5 = new HonestClient(port, Packets.V5, "honest5", List.of("h/3", "t/3"))) {
                List<HonestClient> honest = List.of(v31, v311, v5);
                MqttSocket subscriber = new MqttSocket(plain);
                subscribe(subscriber);
                int[] earlier = honest.stream().mapToInt(HonestClient::rounds).toArray();
                MetricsPage metrics = new MetricsPage(adminPort);
                long begin = System.nanoTime();
                attack(seed, packets / 3, proxy);
                long beforeMib = residentMib(proxy);
                awaitHonestOnly(metrics, honest);
                int descriptors = descriptors(proxy);
                int threads = (int) status(proxy, "Threads:");
                attack(seed + 1, packets - packets / 3, proxy);
                long tookMs = Math.max(1, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin));
                long longest = honest.stream()
                        .mapToLong(HonestClient::takeLongestMs)
                        .max()
                        .orElseThrow();
                System.out.printf(
                        "fuzz, live: seed %d, %d packets looked at in %d connections, %d packets/s, %d PUBLISHes taken,"
                                + " honest clients waited %d ms at most, %d MiB resident after a third, %d at the end%n",
                        seed,
                        examined.get(),
                        sessions.get(),
                        examined.get() * 1000 / tookMs,
                        taken(metrics),
                        longest,
                        beforeMib,
                        residentMib(proxy));
                assertTrue(taken(metrics) > packets / 10, () -> "only " + taken(metrics) + " PUBLISHes were taken");
                assertTrue(longest < PATIENCE_MS, () -> "honest clients waited " + longest + " ms");
                awaitHonestOnly(metrics, honest);
                System.out.printf("fuzz, live: %d dead letters%n", awaitLedger(metrics));
                assertTrue(residentMib(proxy) < beforeMib + GROWTH_MIB, () -> residentMib(proxy) + " MiB resident");
                await().atMost(SOON).untilAsserted(() -> {
                    assertTrue(descriptors(proxy) <= descriptors + FEW, descriptors(proxy) + ", were " + descriptors);
                    assertTrue(status(proxy, "Threads:") <= threads + FEW, "threads");
                });
                honest.forEach(HonestClient::close);
                assertMessagesCame(subscriber, honest, earlier);
                assertEquals(0, proxy.sigterm(), "exit code");
                assertEquals(
                        List.of(),
                        proxy.allOutput()
                                .lines()
                                .filter(line -> line.contains(" ERROR ")
                                        || line.contains("LEAK")
                                        || line.startsWith("\tat ")
                                        || line.contains("Exception:"))
                                .toList());
            }
        }
    }

    private static void subscribe(MqttSocket subscriber) throws IOException {
        subscriber.send(new Packets.Connect(Packets.V311, "all").keepAlive(0).bytes());
        subscriber.read(SOON);
        for (String topic : TOPICS) {
            subscriber.send(Packets.subscribe(Packets.V311, 1, topic, 0));
            subscriber.read(SOON);
        }
    }

    private static void awaitHonestOnly(MetricsPage metrics, List<HonestClient> honest) {
        await().atMost(SOON).until(() -> metrics.gauge(Meter.DEVICES_CONNECTED) == honest.size());
    }

    private static long taken(MetricsPage metrics) {
        return metrics.count(Meter.PUBLISH_OUTBOX)
                + metrics.count(Meter.PUBLISH_HOLD)
                + metrics.count(Meter.PUBLISH_QOS0);
    }

    /** Of each topic as many as the honest clients had acknowledged since, at the least. */
    private static void assertMessagesCame(MqttSocket subscriber, List<HonestClient> honest, int[] earlier)
            throws IOException {
        Map<String, Integer> came = new HashMap<>();
        try {
            while (true) {
                Packet packet = subscriber.read(Duration.ofSeconds(2));
                came.merge(packet.topic(), 1, Integer::sum);
            }
        } catch (SocketTimeoutException e) {
            for (int i = 0; i < honest.size(); i++) {
                int rounds = honest.get(i).rounds() - earlier[i];
                assertTrue(came.getOrDefault("h/" + (i + 1), 0) >= rounds, rounds + " rounds, " + came);
                assertTrue(came.getOrDefault("t/" + (i + 1), 0) >= rounds, rounds + " rounds, " + came);
            }
        }
    }

    /** Nothing is unaccounted for, and nothing stays behind: what the broker hangs up on goes to the dead letters. */
    private static long awaitLedger(MetricsPage metrics) {
        AtomicLong deadLetters = new AtomicLong();
        await().atMost(DRAINED).pollInterval(Duration.ofMillis(200)).untilAsserted(() -> {
            String page = metrics.text();
            deadLetters.set(sum(page, "holdfast_outbox_dead_lettered"));
            assertEquals(0, sum(page, "holdfast_outbox_pending"));
            assertEquals(
                    sum(page, "holdfast_outbox_accepted_total"),
                    deadLetters.get()
                            + sum(page, "holdfast_outbox_delivered_total")
                            + sum(page, "holdfast_outbox_expired_total")
                            + sum(page, "holdfast_outbox_dropped_total"));
        });
        return deadLetters.get();
    }

    private static long sum(String page, String name) {
        return (long) page.lines()
                .filter(line -> line.startsWith(name + "{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    private HoldfastProcess proxy(MosquittoBroker broker, int adminPort) {
        return HoldfastProcess.proxy(
                        broker.url(),
                        port,
                        adminPort,
                        directory.resolve("data"),
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

    /** Until {@code packets} more have been looked at. */
    private void attack(long seed, long packets, HoldfastProcess proxy) throws InterruptedException {
        long end = examined.get() + packets;
        ExecutorService workers = Executors.newFixedThreadPool(WORKERS);
        List<Future<Object>> all = IntStream.range(0, WORKERS)
                .mapToObj(worker -> workers.submit((Callable<Object>) () -> {
                    SplittableRandom random = new SplittableRandom(seed * WORKERS + worker);
                    for (int i = 0; examined.get() < end; i++) {
                        session(random, "seed " + seed + " worker " + worker + " session " + i);
                    }
                    return null;
                }))
                .toList();
        workers.shutdown();
        for (Future<Object> one : all) {
            try {
                one.get();
            } catch (ExecutionException e) {
                workers.shutdownNow();
                throw new AssertionError(e.getCause().getMessage() + "\n" + proxy.output(), e.getCause());
            }
        }
    }

    /** CONNECT, its answer, then batches until it is closed; what is before a PINGRESP has been looked at, all of it. */
    private void session(SplittableRandom random, String where) throws IOException {
        int version = VERSIONS[random.nextInt(VERSIONS.length)];
        BrokenPackets source = new BrokenPackets(random, version);
        sessions.incrementAndGet();
        try (Socket plain = open(random)) {
            MqttSocket socket = new MqttSocket(plain);
            try {
                if (talk(socket, source, random)) {
                    plain.shutdownOutput();
                    awaitClosed(socket, where);
                }
            } catch (SocketException e) {
                return; // closed while it was still sending, which is right
            }
        }
    }

    private Socket open(SplittableRandom random) throws IOException {
        Socket socket = new Socket();
        socket.bind(new InetSocketAddress(
                InetAddress.getByAddress(new byte[] {
                    127, (byte) random.nextInt(256), (byte) random.nextInt(256), (byte) random.nextInt(1, 255)
                }),
                0));
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 10_000);
        socket.setTcpNoDelay(true);
        return socket;
    }

    /** True if it has not been closed. */
    private boolean talk(MqttSocket socket, BrokenPackets source, SplittableRandom random) throws IOException {
        Answer answer = exchange(socket, source.connect(), Packet.CONNACK, random);
        examined.incrementAndGet();
        int unanswered = 0;
        for (int batch = random.nextInt(1, 12); answer == Answer.CAME && batch > 0; batch--) {
            int count = random.nextInt(1, 16);
            byte[] bytes = {};
            for (int i = 0; i < count; i++) {
                bytes = Packets.concat(bytes, source.next());
            }
            try {
                answer = exchange(socket, Packets.concat(bytes, Packets.pingreq()), Packet.PINGRESP, random);
            } catch (SocketException e) {
                answer = Answer.CLOSED;
            }
            unanswered += count;
            switch (answer) {
                case CAME -> {
                    examined.addAndGet(unanswered);
                    unanswered = 0;
                }
                case CLOSED -> examined.incrementAndGet(); // one of them at the least
                default -> answer = Answer.CAME; // a length that claims more: the next batch is inside
            }
        }
        return answer != Answer.CLOSED;
    }

    private static Answer exchange(MqttSocket socket, byte[] bytes, int answer, SplittableRandom random)
            throws IOException {
        for (int from = 0; from < bytes.length; ) {
            int to = Math.min(bytes.length, from + 1 + random.nextInt(400));
            socket.send(Arrays.copyOfRange(bytes, from, to));
            from = to;
        }
        try {
            Packet packet;
            do {
                packet = socket.read(QUIET);
            } while (packet != null && packet.type() != answer);
            return packet == null ? Answer.CLOSED : Answer.CAME;
        } catch (SocketTimeoutException e) {
            return Answer.NONE;
        }
    }

    private static void awaitClosed(MqttSocket socket, String where) throws IOException {
        try {
            Packet packet;
            do {
                packet = socket.read(Duration.ofSeconds(20));
            } while (packet != null);
        } catch (SocketTimeoutException e) {
            throw new AssertionError(where + ": not closed", e);
        }
    }

    private static long residentMib(HoldfastProcess proxy) {
        return status(proxy, "VmRSS:") >> 10;
    }

    private static long status(HoldfastProcess proxy, String name) {
        try (var lines = Files.lines(Path.of("/proc/" + proxy.pid() + "/status"))) {
            String line = lines.filter(one -> one.startsWith(name)).findFirst().orElseThrow();
            return Long.parseLong(line.replaceAll("\\D", ""));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int descriptors(HoldfastProcess proxy) {
        return Objects.requireNonNull(new File("/proc/" + proxy.pid() + "/fd").list()).length;
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
            return switch (random.nextInt(64)) {
                case 0 -> Packets.disconnect();
                case 1, 2, 3, 4, 5 -> Packets.subscribe(version, id, "s/" + topic, random.nextInt(3));
                case 6, 7, 8, 9, 10 -> Packets.unsubscribe(version, id, "s/" + topic);
                case 11, 12, 13, 14, 15 -> Packets.ack(Packet.PUBREL, id);
                case 16, 17, 18, 19, 20 -> Packets.ack(random.nextBoolean() ? Packet.PUBACK : Packet.PUBCOMP, id);
                default -> publish(id, topic);
            };
        }

        private byte[] publish(int id, String topic) {
            int qos = random.nextInt(3);
            int flags = qos << 1 | random.nextInt(2) | (qos > 0 && random.nextInt(4) == 0 ? 8 : 0);
            byte[] properties = Packets.NONE;
            for (int i = version == Packets.V5 ? random.nextInt(4) : 0; i > 0; i--) {
                properties = Packets.concat(properties, Packets.userProperty("n" + i, "v".repeat(random.nextInt(40))));
            }
            if (version == Packets.V5 && random.nextInt(4) == 0) {
                properties = Packets.concat(properties, Packets.property16(0x23, random.nextInt(1, 12)));
            }
            byte[] payload = new byte[random.nextInt(200)];
            random.nextBytes(payload);
            return Packets.publishFlags(version, flags, id, topic, properties, payload);
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
