package io.holdfast.proxy.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.testing.Broker;
import io.holdfast.proxy.testing.Delivery;
import io.holdfast.proxy.testing.FreePorts;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ResendingDevice;
import io.holdfast.proxy.testing.SessionEndingDevice;
import io.holdfast.proxy.testing.Sockets;
import io.holdfast.proxy.testing.Subscribers;
import io.holdfast.store.StoppedStore;
import io.holdfast.store.StoreException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Crashes the proxy under full load, again and again, every other time at a named point; then everything is counted: nothing
 * acknowledged is lost, QoS 2 comes once, in order, the ledger adds up.
 */
final class CrashRounds {
    private static final Duration POINT_PATIENCE = Duration.ofSeconds(4);
    private static final String SESSION_ENDER = "ender";
    private static final String OVERSIZED = "oversized";

    /** What {@link #OVERSIZED} sends; the broker is to take less. */
    private static final int OVERSIZED_BYTES = 3000;

    /** To be the broker's Maximum Packet Size. */
    static final int BROKER_PACKET_BYTES = 2000;

    private final Broker broker;
    private final long seed;
    private final int from;
    private final int rounds;
    private final int devices;
    private final SplittableRandom random;
    private final CrashCount count = new CrashCount();
    private final int port = FreePorts.next();
    private final int adminPort = FreePorts.next();
    private final Ledger ledger = new Ledger(adminPort);
    private final List<ResendingDevice> resending = new ArrayList<>();
    private final SessionEndingDevice sessionEnder = new SessionEndingDevice(SESSION_ENDER, port);
    private final ResendingDevice oversized;
    private final List<Thread> threads = new ArrayList<>();
    private String upstream;
    private String listen = "mqtt";
    private Sockets sockets = Sockets.PLAIN;
    private PowerCutDisk disk;
    private Path dataDirectory;

    /**
     * Rounds that have not begun.
     *
     * @param from   number of the first round: it decides which points come first
     * @param rounds how many
     */
    CrashRounds(Broker broker, long seed, int from, int rounds, int devices) {
        this.broker = broker;
        this.upstream = broker.url();
        this.seed = seed;
        this.from = from;
        this.rounds = rounds;
        this.devices = devices;
        this.random = new SplittableRandom(seed);
        this.oversized = new ResendingDevice(OVERSIZED, port, Packets.V311, 1, seed).oversized(OVERSIZED_BYTES);
    }

    /** Both sides of the proxy speak TLS; the subscribers do not. */
    CrashRounds overTls(String newUpstream, Sockets newSockets) {
        upstream = newUpstream;
        listen = "mqtts";
        sockets = newSockets;
        return this;
    }

    /** Each crash is a power cut. */
    CrashRounds withPowerCuts(PowerCutDisk newDisk) {
        disk = newDisk;
        return this;
    }

    /**
     * Plays them all.
     *
     * @return a line about what was shown
     * @throws AssertionError if a promise was broken
     */
    String run(Path newDataDirectory, String... flags) throws IOException, InterruptedException {
        dataDirectory = newDataDirectory;
        String what = (disk == null ? "kill -9" : "power cut") + " in front of "
                + broker.getClass().getSimpleName() + ", rounds " + from + " to " + (from + rounds - 1) + ", seed "
                + seed;
        System.out.println(what + ": begins");
        long startedNs = System.nanoTime();
        List<String> names = new ArrayList<>(
                IntStream.range(0, devices).mapToObj(i -> "dev" + i).toList());
        names.add(SESSION_ENDER);
        try (Subscribers subscribers = new Subscribers(broker.port(), names);
                CrashingProxy proxy = new CrashingProxy(arguments(flags), disk)) {
            startDevices();
            try {
                firstStart(proxy);
                for (int round = 0; round < rounds; round++) {
                    play(proxy, from + round);
                }
                drain(subscribers);
                Delivery delivery = judge(subscribers);
                String line = "%s: %s; %d messages came, %d QoS 1 duplicates, %d sessions ended, %d dead letters, %d s"
                        .formatted(
                                what,
                                count,
                                delivery.messages(),
                                delivery.duplicates(),
                                sessionEnder.received(),
                                oversized.acknowledged(2),
                                TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startedNs));
                assertEquals(List.of(), delivery.faults(), line);
                checkLedger(delivery, subscribers);
                assertEquals(0, proxy.end(), "exit code");
                audit("the end");
                System.out.println(line);
                return line;
            } finally {
                finishDevices();
            }
        }
    }

    private List<String> arguments(String... flags) {
        List<String> arguments = new ArrayList<>(List.of(
                "run",
                "--upstream",
                upstream,
                "--listen",
                listen + "://127.0.0.1:" + port,
                "--admin",
                "127.0.0.1:" + adminPort,
                "--data-dir",
                dataDirectory.toString(),
                "--segment-bytes", // so that each round rolls and reclaims
                "256KiB",
                "--max-packet-size",
                "8KiB",
                "--max-payload",
                "4KiB",
                "--lanes",
                "2"));
        arguments.addAll(List.of(flags));
        return arguments;
    }

    private void startDevices() {
        for (int i = 0; i < devices; i++) {
            resending.add(new ResendingDevice("dev" + i, port, i % 2 == 0 ? Packets.V311 : Packets.V5, 32, seed + i)
                    .over(sockets));
        }
        resending.forEach(device -> threads.add(new Thread(device, device.name())));
        if (sockets == Sockets.PLAIN) {
            threads.add(new Thread(sessionEnder, SESSION_ENDER));
            threads.add(new Thread(oversized, OVERSIZED));
        }
        threads.forEach(Thread::start);
    }

    private void firstStart(CrashingProxy proxy) throws IOException, InterruptedException {
        List<CrashPoint> points = CrashPoint.ofFirstStart();
        CrashPoint point = points.get(random.nextInt(points.size()));
        boolean isReached = !proxy.startUntil(point, point.randomTime(random)) || proxy.reachesPoint(POINT_PATIENCE);
        proxy.crash();
        audit("the first start, " + point);
        count.atPoint(point, isReached);
    }

    /** What the crash left: the ledger fits the log (P7). */
    private void audit(String when) {
        try (StoppedStore store = StoppedStore.open(dataDirectory)) {
            assertEquals(List.of(), store.audit().faults(), when);
        } catch (StoreException e) {
            throw new AssertionError(when + ": " + e.getMessage(), e);
        }
    }

    private void play(CrashingProxy proxy, int round) throws IOException, InterruptedException {
        if (round % 2 == 0) {
            proxy.start();
            ledger.check();
            TimeUnit.MILLISECONDS.sleep(random.nextInt(50, 1500)); // the instant is what is random here
            proxy.crash();
            audit("round " + round + ", at a random instant");
            count.atRandom();
        } else {
            List<CrashPoint> points = CrashPoint.ofAnyStart();
            CrashPoint point = points.get(round / 2 % points.size());
            boolean isReady = proxy.startUntil(point, point.randomTime(random));
            boolean isReached = !isReady || proxy.reachesPoint(POINT_PATIENCE);
            proxy.crash();
            audit("round " + round + ", " + point);
            count.atPoint(point, isReached);
        }
        if (round + 1 == from + rounds) {
            proxy.start();
            ledger.check();
        }
    }

    private void drain(Subscribers subscribers) throws InterruptedException {
        finishDevices();
        for (Thread thread : threads) {
            thread.join(Duration.ofMinutes(1).toMillis());
            assertEquals(false, thread.isAlive(), () -> thread.getName() + " does not get its acknowledgements");
        }
        try {
            subscribers.awaitQuiet(
                    () -> ledger.hasArrivedAt(subscribers), Duration.ofMillis(500), Duration.ofMinutes(2));
        } catch (ConditionTimeoutException e) {
            System.out.println("Not all has come: " + e.getMessage()); // the judgement says what
        }
    }

    private void finishDevices() {
        resending.forEach(ResendingDevice::finish);
        sessionEnder.finish();
        oversized.finish();
    }

    private Delivery judge(Subscribers subscribers) {
        Delivery delivery = new Delivery();
        resending.forEach(device -> delivery.judge(device, subscribers));
        delivery.faults().addAll(sessionEnder.judge(subscribers));
        delivery.faults().addAll(oversized.faults());
        return delivery;
    }

    /**
     * What was accepted was delivered, at least everything that was acknowledged, at most what came; and what the broker does not
     * take is among the dead letters, each once.
     */
    private void checkLedger(Delivery delivery, Subscribers subscribers) {
        long acknowledged = delivery.messages() - delivery.duplicates() + sessionEnder.received();
        long delivered = ledger.delivered();
        assertEquals(oversized.acknowledged(2), ledger.deadLettered(), "dead letters");
        assertEquals(ledger.accepted(), delivered + ledger.deadLettered(), "accepted, and finished");
        assertTrue(
                delivered >= acknowledged && delivered <= subscribers.count(),
                () -> delivered + " delivered, " + acknowledged + " acknowledged, " + subscribers.count() + " came");
    }
}
