package io.holdfast.proxy.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.holdfast.proxy.testing.Broker;
import io.holdfast.proxy.testing.Delivery;
import io.holdfast.proxy.testing.FreePorts;
import io.holdfast.proxy.testing.HoldfastProcess;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ResendingDevice;
import io.holdfast.proxy.testing.Sockets;
import io.holdfast.proxy.testing.Subscribers;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** {@code kill -9} of the proxy at random instants under full load, again and again; then everything is counted. */
final class CrashRounds {
    private static final Pattern PENDING = Pattern.compile("\"pending\"\\s*:\\s*(\\d+)");

    private final Broker broker;
    private final long seed;
    private final int rounds;
    private final int devices;
    private String upstream;
    private String listen = "mqtt";
    private Sockets sockets = Sockets.PLAIN;

    CrashRounds(Broker broker, long seed, int rounds, int devices) {
        this.broker = broker;
        this.upstream = broker.url();
        this.seed = seed;
        this.rounds = rounds;
        this.devices = devices;
    }

    /** Both sides of the proxy speak TLS; the subscribers do not. */
    CrashRounds overTls(String newUpstream, Sockets newSockets) {
        upstream = newUpstream;
        listen = "mqtts";
        sockets = newSockets;
        return this;
    }

    void run(Path dataDirectory, String... flags) throws InterruptedException {
        System.out.printf("crash rounds: seed %d, %d rounds, %d devices%n", seed, rounds, devices);
        SplittableRandom random = new SplittableRandom(seed);
        int port = FreePorts.next();
        int adminPort = FreePorts.next();
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
                "--segment-bytes",
                "4MiB"));
        arguments.addAll(List.of(flags));
        List<ResendingDevice> all = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        try (Subscribers subscribers = new Subscribers(broker.port(), names());
                HoldfastProcess proxy =
                        HoldfastProcess.of(arguments.toArray(new String[0])).start()) {
            for (int i = 0; i < devices; i++) {
                ResendingDevice device = new ResendingDevice(
                                names().get(i), port, i % 2 == 0 ? Packets.V311 : Packets.V5, 32, seed + i)
                        .over(sockets);
                Thread thread = new Thread(device, device.name());
                all.add(device);
                threads.add(thread);
                thread.start();
            }
            for (int round = 0; round < rounds; round++) {
                TimeUnit.MILLISECONDS.sleep(random.nextInt(50, 1500)); // the instant is what is random here
                proxy.kill9();
                proxy.start();
            }
            all.forEach(ResendingDevice::finish);
            for (Thread thread : threads) {
                thread.join(Duration.ofMinutes(1).toMillis());
                assertEquals(false, thread.isAlive(), () -> thread.getName() + " does not get its acknowledgements");
            }
            subscribers.awaitQuiet(() -> pending(adminPort) == 0, Duration.ofMillis(500), Duration.ofMinutes(2));
            report(all, subscribers);
            assertEquals(0, proxy.sigterm(), "exit code");
        }
    }

    private List<String> names() {
        return IntStream.range(0, devices).mapToObj(i -> "dev" + i).toList();
    }

    private void report(List<ResendingDevice> all, Subscribers subscribers) {
        Delivery delivery = new Delivery();
        all.forEach(device -> delivery.judge(device, subscribers));
        System.out.printf(
                "crash rounds: seed %d, %d rounds, %d messages came, %d QoS 1 duplicates, %d connections, %d sessions lost%n",
                seed,
                rounds,
                delivery.messages(),
                delivery.duplicates(),
                all.stream().mapToInt(ResendingDevice::connections).sum(),
                all.stream().mapToInt(ResendingDevice::sessionsLost).sum());
        assertEquals(List.of(), delivery.faults(), () -> "seed " + seed);
    }

    /** Records pending by the proxy's own ledger; -1 if it cannot be asked. */
    static long pending(int adminPort) {
        try {
            HttpResponse<String> answer = HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + adminPort + "/ledger"))
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
            long last = -1;
            Matcher matcher = PENDING.matcher(answer.body());
            while (matcher.find()) {
                last = Long.parseLong(matcher.group(1)); // the total stands last
            }
            return last;
        } catch (IOException e) {
            return -1;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return -1;
        }
    }
}
