package io.holdfast.proxy.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.proxy.testing.FreePorts;
import io.holdfast.proxy.testing.HoldfastProcess;
import io.holdfast.proxy.testing.MosquittoBroker;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import io.holdfast.proxy.testing.Subscribers;
import io.holdfast.proxy.testing.TestAuthority;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * P1 and P3 over power cuts, with TLS on both sides: the data directory lies in a file system inside an image file, and the
 * uplink is refused, so that everything stays stored. In the middle of a burst the proxy is stopped and the image copied:
 * the copy has what had reached the "disk", and nothing of the page cache. Another proxy on the copy delivers to another
 * broker, and has to bring every message that had been acknowledged. Needs root and loop devices.
 */
class PowerCutBehindAnAcknowledgementTest {
    private static final List<String> DEVICES = List.of("dev0", "dev1", "dev2");

    @TempDir
    Path directory;

    private final List<Path> mounted = new ArrayList<>();
    private TestAuthority authority;
    private TestAuthority.Issued identity;
    private SplittableRandom random;

    @AfterEach
    void unmount() throws Exception {
        for (Path mountPoint : mounted) {
            run("umount", mountPoint.toString());
        }
    }

    @Test
    void shortForm() throws Exception {
        cut(2);
    }

    @Test
    @Tag("crash")
    void longForm() throws Exception {
        cut(Integer.getInteger("holdfast.crash.cuts", 30));
    }

    private void cut(int cuts) throws Exception {
        long seed = Long.getLong("holdfast.crash.seed", System.nanoTime());
        System.out.printf("power cuts: seed %d, %d cuts%n", seed, cuts);
        random = new SplittableRandom(seed);
        authority = new TestAuthority(Files.createDirectory(directory.resolve("ca")), "ca");
        identity = authority.server("localhost", "localhost", "127.0.0.1");
        Path image = directory.resolve("disk.img");
        Path live = mountLive(image);
        Path copy = Files.createDirectory(directory.resolve("copy"));
        int port = FreePorts.next();
        long found = 0;
        try (MosquittoBroker broker = broker("live", "clientid_prefixes dev");
                HoldfastProcess proxy = proxy(broker, port, live).start()) {
            List<Device> devices = new ArrayList<>();
            for (int i = 0; i < DEVICES.size(); i++) {
                devices.add(new Device(DEVICES.get(i), i % 2 == 0 ? Packets.V311 : Packets.V5, port));
            }
            for (int i = 0; i < cuts; i++) {
                for (Device device : devices) {
                    device.burst();
                }
                require("kill", "-STOP", Long.toString(proxy.pid()));
                Path cutImage = directory.resolve("cut.img");
                run("cp", "--sparse=always", image.toString(), cutImage.toString());
                require("kill", "-CONT", Long.toString(proxy.pid()));
                String where = "seed " + seed + ", cut " + i;
                require("mount", "-o", "loop", cutImage.toString(), copy.toString());
                mounted.add(copy);
                found += verify(copy, devices, where);
                require("umount", copy.toString());
                mounted.remove(copy);
                devices.forEach(Device::drain);
            }
            devices.forEach(Device::close);
        }
        System.out.printf("power cuts: seed %d, %d cuts, %d messages came%n", seed, cuts, found);
    }

    private long verify(Path copy, List<Device> devices, String where) throws Exception {
        try (MosquittoBroker other = broker("cut", "max_inflight_messages 0");
                Subscribers subscribers = new Subscribers(other.port(), DEVICES);
                HoldfastProcess proxy = proxy(other, FreePorts.next(), copy).start()) {
            for (Device device : devices) {
                for (int qos = 1; qos <= 2; qos++) {
                    int owed = device.settled[qos];
                    int ofQos = qos;
                    Awaitility.await(where + ": " + device.name + " QoS " + qos + " up to " + owed)
                            .atMost(Duration.ofSeconds(60))
                            .until(() ->
                                    subscribers.received(device.name, ofQos).size() >= owed);
                    List<Integer> came = subscribers.received(device.name, qos);
                    for (int number = 1; number <= owed; number++) {
                        assertEquals(number, came.get(number - 1), where + ": " + device.name + " QoS " + qos);
                    }
                    assertEquals(came.size(), new HashSet<>(came).size(), where + ": twice");
                }
            }
            assertTrue(proxy.isAlive());
            return subscribers.count();
        } finally {
            run("rm", "-rf", directory.resolve("broker-cut").toString());
        }
    }

    /** A broker with a listener over TLS for the proxy, and a plain one for the subscribers. */
    private MosquittoBroker broker(String name, String line) throws IOException {
        Path files = Files.createDirectory(directory.resolve("broker-" + name));
        int tlsPort = FreePorts.next();
        MosquittoBroker broker = MosquittoBroker.create(
                files,
                line,
                "listener " + tlsPort + " localhost",
                "certfile " + identity.certificate(),
                "keyfile " + identity.key());
        Files.writeString(files.resolve("tls-port"), Integer.toString(tlsPort));
        broker.start();
        return broker;
    }

    private HoldfastProcess proxy(MosquittoBroker broker, int port, Path mountPoint) throws IOException {
        String name = mountPoint.endsWith("live") ? "live" : "cut";
        String tlsPort = Files.readString(directory.resolve("broker-" + name).resolve("tls-port"));
        assertTrue(broker.port() > 0);
        return HoldfastProcess.of(
                "run",
                "--upstream",
                "mqtts://localhost:" + tlsPort,
                "--upstream-ca",
                authority.file().toString(),
                "--listen",
                "mqtts://127.0.0.1:" + port,
                "--tls-cert",
                identity.certificate().toString(),
                "--tls-key",
                identity.key().toString(),
                "--admin",
                "off",
                "--data-dir",
                mountPoint.resolve("data").toString(),
                "--disk-reserve-bytes",
                "1MiB",
                "--segment-bytes",
                "256KiB",
                "--max-packet-size",
                "8KiB",
                "--max-payload",
                "4KiB",
                "--lanes",
                "2");
    }

    private Path mountLive(Path image) throws Exception {
        assumeTrue(
                "root".equals(System.getProperty("user.name")) && Files.exists(Path.of("/dev/loop-control")),
                "skipped: needs root and loop devices");
        Path mountPoint = Files.createDirectory(directory.resolve("live"));
        assumeTrue(
                run("truncate", "-s", "128M", image.toString()) == 0
                        && run("mkfs.ext4", "-q", "-F", image.toString()) == 0
                        && run("mount", "-o", "loop", image.toString(), mountPoint.toString()) == 0,
                "skipped: this machine does not let us mount an image");
        mounted.add(mountPoint);
        return mountPoint;
    }

    private static void require(String... command) throws Exception {
        assertEquals(0, run(command), String.join(" ", command));
    }

    private static int run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        if (process.exitValue() != 0) {
            System.out.println(String.join(" ", command) + ": " + output);
        }
        return process.exitValue();
    }

    /** Publishes numbers that count up per QoS, and knows which of them have been acknowledged: with PUBACK or PUBREC. */
    private final class Device {
        private final String name;
        private final int version;
        private final RawMqttClient client;
        private final int[] sent = new int[3];
        private final int[] settled = new int[3];
        private final ArrayDeque<Integer> unreleased = new ArrayDeque<>();
        private int lastPacketId;
        private int owed;

        Device(String name, int version, int port) {
            this.name = name;
            this.version = version;
            this.client = RawMqttClient.connect(port, authority.sockets(null), version, name, true);
        }

        /** Sends some, and reads the acknowledgements of a part of them; the rest is under way. */
        void burst() {
            int messages = random.nextInt(1, 200);
            for (int i = 0; i < messages; i++) {
                int qos = random.nextInt(1, 3);
                lastPacketId = lastPacketId % 60_000 + 1;
                String payload = Integer.toString(++sent[qos]);
                client.send(Packets.publish(version, qos, lastPacketId, "d/" + name + "/" + qos, payload));
                owed++;
            }
            for (int part = random.nextInt(1, messages + 1); part > 0; part--) {
                read();
                if (random.nextInt(3) == 0) {
                    release();
                }
            }
        }

        /** Until nothing is under way. */
        void drain() {
            while (owed > 0 || !unreleased.isEmpty()) {
                release();
                read();
            }
        }

        private void read() {
            if (owed == 0) {
                return;
            }
            Packet packet = client.readPacket(RawMqttClient.PATIENCE);
            switch (packet.type()) {
                case Packet.PUBACK -> {
                    settled[1]++;
                    owed--;
                }
                case Packet.PUBREC -> {
                    settled[2]++;
                    unreleased.add(packet.packetId());
                }
                case Packet.PUBCOMP -> owed--;
                default -> throw new AssertionError("unexpected " + packet);
            }
        }

        private void release() {
            if (!unreleased.isEmpty()) {
                client.send(Packets.ack(Packet.PUBREL, unreleased.poll()));
            }
        }

        void close() {
            client.close();
        }
    }
}
