package io.holdfast.proxy.guard;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.FreePorts;
import io.holdfast.proxy.testing.HoldfastProcess;
import io.holdfast.proxy.testing.MetricsPage;
import io.holdfast.proxy.testing.MosquittoBroker;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import io.holdfast.proxy.testing.TestAuthority;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * A small proxy under each {@link Attack}, then under all of them. Honest clients next to it are answered within a second
 * all along, memory is flat, everything is counted, and afterwards nothing is left.
 */
@EnabledOnOs(OS.LINUX)
class MaliciousPeersTest {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final int HEAP_MIB = 64;
    private static final int DIRECT_MIB = 48;
    private static final long LIVE_HEAP_MIB = 32;
    /** Java itself, its code and its stacks, and the mapped segments. */
    private static final long BESIDES_MIB = 300;

    private static final int SECOND_MS = 1000;
    private static final Pattern TOTAL = Pattern.compile("(?m)^Total\\s+\\d+\\s+(\\d+)");
    private static final Pattern CONNECTIONS = Pattern.compile(
            "(?m)^\\s*\\d+:\\s+(\\d+)\\s+\\d+\\s+io\\.holdfast\\.proxy\\.connection\\.DeviceConnection\\b");

    @TempDir
    Path directory;

    private final int port = FreePorts.next();
    private final int tlsPort = FreePorts.next();
    private final int adminPort = FreePorts.next();
    private final CountDownLatch never = new CountDownLatch(1);

    @Test
    @Timeout(180)
    void shortForm() throws Exception {
        run(Duration.ofSeconds(2), Duration.ofSeconds(4));
    }

    @Test
    @Tag("long")
    @Timeout(3600)
    void longForm() throws Exception {
        long seconds = Long.getLong("holdfast.attack.seconds", 60);
        run(Duration.ofSeconds(seconds), Duration.ofSeconds(5 * seconds));
    }

    private HoldfastProcess proxy(MosquittoBroker broker) {
        TestAuthority.Issued server = new TestAuthority(directory, "authority").server("localhost", "127.0.0.1");
        List<String> arguments = List.of(
                "run",
                "--upstream",
                broker.url(),
                "--listen",
                "mqtt://127.0.0.1:" + port,
                "--listen",
                "mqtts://127.0.0.1:" + tlsPort,
                "--tls-cert",
                server.certificate().toString(),
                "--tls-key",
                server.key().toString(),
                "--admin",
                "127.0.0.1:" + adminPort,
                "--data-dir",
                directory.resolve("data").toString(),
                "--segment-bytes",
                "16MiB",
                "--route",
                "hold h/#",
                "--route",
                "outbox #",
                "--connect-deadline",
                "2s",
                "--max-unconnected",
                "200",
                "--ingress-memory-budget",
                "16MiB",
                "--max-packet-size",
                "" + Attack.MAX_PACKET);
        return HoldfastProcess.of(arguments.toArray(new String[0]))
                .jvmFlags(
                        "-Xmx" + HEAP_MIB + "m",
                        "-XX:MaxDirectMemorySize=" + DIRECT_MIB + "m",
                        "-XX:+ExitOnOutOfMemoryError");
    }

    private void run(Duration each, Duration all) throws Exception {
        try (MosquittoBroker broker = MosquittoBroker.create(directory.resolve("broker"))) {
            broker.start();
            try (HoldfastProcess proxy = proxy(broker).start();
                    Noise noise = new Noise(directory, broker.port());
                    HonestClient v311 = new HonestClient(port, Packets.V311, "honest3", List.of("h/1", "t/1"));
                    HonestClient v5 = new HonestClient(port, Packets.V5, "honest5", List.of("h/2", "t/2"))) {
                MetricsPage metrics = new MetricsPage(adminPort);
                List<HonestClient> honest = List.of(v311, v5);
                for (Attack attack : Attack.values()) {
                    attack(List.of(attack), each, proxy, metrics, honest, noise);
                }
                long before = residentMib(proxy);
                attack(List.of(Attack.values()), all, proxy, metrics, honest, noise);
                assertNothingIsLeft(proxy, metrics, honest.size());
                long after = residentMib(proxy);
                System.out.printf("malicious peers: %d MiB resident before all together, %d after%n", before, after);
                assertTrue(after < HEAP_MIB + DIRECT_MIB + BESIDES_MIB, () -> after + " MiB resident");
                assertEquals(0, proxy.sigterm(), proxy::output);
            }
        }
    }

    private void attack(
            List<Attack> attacks,
            Duration duration,
            HoldfastProcess proxy,
            MetricsPage metrics,
            List<HonestClient> honest,
            Noise noise)
            throws InterruptedException {
        long[] counted = attacks.stream()
                .mapToLong(attack -> metrics.count(attack.shows()))
                .toArray();
        int[] rounds = honest.stream().mapToInt(HonestClient::rounds).toArray();
        honest.forEach(HonestClient::takeLongestMs);
        noise.takeLongestMs();
        List<Attacker> attackers = new ArrayList<>();
        attacks.forEach(attack -> attackers.add(new Attacker(attack, attack.overTls() ? tlsPort : port)));
        never.await(duration.toMillis(), TimeUnit.MILLISECONDS);
        long slowestConnectMs = connectMs();
        for (int i = 0; i < attacks.size(); i++) {
            Meter meter = attacks.get(i).shows();
            long earlier = counted[i];
            // Among silent sockets without end these are closed to make room, long before their deadline.
            boolean deadline = meter == Meter.CONNECT_DEADLINE || meter == Meter.DEVICE_TLS_UNFINISHED;
            if (attacks.size() == 1 || !deadline) {
                await(meter + " grows").atMost(SOON).until(() -> metrics.count(meter) > earlier);
            }
        }
        attackers.forEach(Attacker::close);
        for (int i = 0; i < honest.size(); i++) {
            int earlier = rounds[i];
            HonestClient client = honest.get(i);
            await().atMost(SOON).until(() -> client.rounds() > earlier + 1);
        }
        long slowestMs =
                honest.stream().mapToLong(HonestClient::takeLongestMs).max().orElseThrow();
        long noiseMs = noise.takeLongestMs();
        System.out.printf(
                "malicious peers: %s for %s: honest answers within %d ms, CONNACK in %d ms; the machine alone %d ms%n",
                attacks.size() == 1 ? attacks.get(0) : "all", duration, slowestMs, slowestConnectMs, noiseMs);
        assertTrue(
                slowestMs < SECOND_MS + noiseMs,
                () -> attacks + ": " + slowestMs + " ms, and " + noiseMs + " ms without the proxy");
        assertTrue(proxy.isAlive(), proxy::output);
    }

    /** How long an honest newcomer waits for its CONNACK. */
    private long connectMs() {
        long begin = System.nanoTime();
        RawMqttClient.connect(port, Packets.V5, "newcomer", true).close();
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
    }

    private static void assertNothingIsLeft(HoldfastProcess proxy, MetricsPage metrics, int honest) {
        await().atMost(SOON).until(() -> metrics.gauge(Meter.DEVICES_CONNECTED) == honest);
        await().atMost(SOON).pollInterval(Duration.ofSeconds(1)).untilAsserted(() -> {
            String objects = proxy.liveObjects();
            assertEquals(honest, number(CONNECTIONS, objects), "connections that are objects still");
            long liveMib = number(TOTAL, objects) >> 20;
            assertTrue(liveMib < LIVE_HEAP_MIB, () -> liveMib + " MiB of live objects");
        });
        List<String> errors = proxy.output()
                .lines()
                .filter(line -> line.contains(" ERROR ") || line.contains("LEAK"))
                .filter(line -> !line.contains("has more User Properties than"))
                .toList();
        assertEquals(List.of(), errors);
        assertTrue(proxy.output().lines().noneMatch(line -> line.startsWith("\tat ")), proxy::output);
    }

    private static long number(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        assertTrue(matcher.find(), () -> "no " + pattern + " in " + text);
        return Long.parseLong(matcher.group(1));
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
}
