package io.holdfast.proxy.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.testing.FreePorts;
import io.holdfast.proxy.testing.HoldfastProcess;
import io.holdfast.proxy.testing.MosquittoBroker;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import io.holdfast.proxy.testing.Subscribers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The broker is away, the devices fill the outbox down to the floor, and a foreign file takes what is left of the disk: nothing
 * is acknowledged that is not stored, the devices are kept alive, and once the broker is back the backlog goes out although
 * nothing is free, and the outbox accepts again by itself. In a variant the proxy is killed while the disk is full.
 */
class DiskFullTest {
    private static final List<String> NAMES = List.of("hold5", "hold311", "reject5", "reject311");
    private static final int WINDOW = 16;
    private static final int PAYLOAD = 4_000;
    private static final Duration STUCK = Duration.ofSeconds(2);

    @TempDir
    Path directory;

    private final List<Device> devices = new ArrayList<>();
    private int port;

    @Test
    void onTmpfs() throws Exception {
        play("tmpfs", 16, false);
    }

    @Test
    void onExt4KilledWhileFull() throws Exception {
        play("ext4", 24, true);
    }

    @ParameterizedTest
    @Tag("long")
    @CsvSource({"tmpfs, false", "tmpfs, true", "ext4, false", "ext4, true"})
    void longForm(String type, boolean isKilled) throws Exception {
        play(type, 128, isKilled);
    }

    private void play(String type, int mebibytes, boolean isKilled) throws Exception {
        port = FreePorts.next();
        Ledger ledger;
        try (SmallDisk disk = SmallDisk.mount(directory, type, mebibytes);
                MosquittoBroker broker =
                        MosquittoBroker.create(directory.resolve("broker"), "max_inflight_messages 0")) {
            broker.start();
            int adminPort = FreePorts.next();
            ledger = new Ledger(adminPort);
            try (Subscribers subscribers = new Subscribers(broker.port(), NAMES);
                    HoldfastProcess proxy =
                            proxy(broker, adminPort, disk, mebibytes).start()) {
                connect();
                broker.stop();
                devices.forEach(device -> device.publishUntilFull(Integer.MAX_VALUE));
                disk.fillUp();
                assertEquals(0, disk.freeBytes() / 4096);
                devices.forEach(Device::finishFlows);
                devices.forEach(device -> device.publishUntilFull(WINDOW));
                pingAll();
                long settled = settled();
                assertTrue(settled > mebibytes * 60L, "stored before it was full: " + settled);
                assertEquals(settled, ledger.accepted());
                assertEquals(settled, ledger.pending());
                System.out.printf(
                        "%s: %d messages in %d KiB, %d bytes free%n",
                        type, settled, SmallDisk.used(disk.root().resolve("data")) >> 10, disk.freeBytes());
                if (isKilled) {
                    proxy.kill9();
                    devices.forEach(Device::forget);
                    disk.fillUp();
                    proxy.start();
                    assertEquals(settled, ledger.accepted());
                    disk.fillUp();
                }
                long begin = System.nanoTime();
                broker.start();
                Awaitility.await().atMost(Duration.ofMinutes(2)).until(() -> ledger.delivered() >= settled);
                System.out.printf(
                        "%s: drained %d in %d ms%n",
                        type, settled, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin));
                if (isKilled) {
                    connect();
                }
                goOn();
                subscribers.awaitQuiet(
                        () -> ledger.hasArrivedAt(subscribers), Duration.ofMillis(500), Duration.ofMinutes(2));
                assertEquals(ledger.accepted(), ledger.delivered());
                if (!isKilled) {
                    assertEquals(settled(), ledger.accepted());
                }
                judge(subscribers);
                assertTrue(proxy.isAlive());
                assertTrue(!proxy.output().contains("InternalError"), proxy.output());
            } finally {
                devices.forEach(Device::close);
            }
        }
    }

    private HoldfastProcess proxy(MosquittoBroker broker, int adminPort, SmallDisk disk, int mebibytes) {
        return HoldfastProcess.of(
                "run",
                "--upstream",
                broker.url(),
                "--listen",
                "mqtt://127.0.0.1:" + port,
                "--admin",
                "127.0.0.1:" + adminPort,
                "--route",
                "outbox:when-full=reject d/reject5/#",
                "--route",
                "outbox:when-full=reject d/reject311/#",
                "--route",
                "outbox #",
                "--data-dir",
                disk.root().resolve("data").toString(),
                "--outbox-max-bytes",
                "1GiB",
                "--disk-reserve-bytes",
                (mebibytes / 6) + "MiB",
                "--segment-bytes",
                "256KiB",
                "--max-packet-size",
                "8KiB",
                "--max-payload",
                "4KiB");
    }

    private void connect() {
        for (String name : NAMES) {
            devices.stream()
                    .filter(device -> device.name.equals(name))
                    .findAny()
                    .ifPresentOrElse(Device::reconnect, () -> devices.add(new Device(name)));
        }
    }

    private long settled() {
        return devices.stream()
                .mapToLong(device -> device.settled[1] + device.settled[2])
                .sum();
    }

    /** P10. Those that wait for an acknowledgement have their window full. */
    private void pingAll() {
        for (Device device : devices) {
            long begin = System.nanoTime();
            device.client.send(Packets.pingreq());
            device.awaitPingResponse();
            long ms = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
            System.out.printf("%s: PINGRESP after %d ms%n", device.name, ms);
            assertTrue(ms < 1_000, device.name + ": PINGRESP after " + ms + " ms");
        }
    }

    /** It accepts again without a restart: also what was waiting, and each device two more. */
    private void goOn() {
        for (Device device : devices) {
            Awaitility.await(device.name).atMost(Duration.ofSeconds(60)).until(() -> device.publishTwo());
        }
    }

    private void judge(Subscribers subscribers) {
        for (Device device : devices) {
            for (int qos = 1; qos <= 2; qos++) {
                List<Integer> came = subscribers.received(device.name, qos);
                String what = device.name + ", QoS " + qos + ": ";
                HashSet<Integer> distinct = new HashSet<>(came);
                for (int number : device.acknowledged.get(qos)) {
                    assertTrue(distinct.contains(number), what + number + " was acknowledged and is lost");
                }
                if (qos == 2) {
                    assertEquals(distinct.size(), came.size(), what + "twice");
                }
                List<Integer> firsts = came.stream().distinct().toList();
                assertEquals(firsts.stream().sorted().toList(), firsts, what + "order");
            }
        }
    }

    /** Numbers its messages per QoS; QoS 1 and 2 in turn. */
    private final class Device {
        private final String name;
        private final int version;
        private final List<List<Integer>> acknowledged =
                List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        private final int[] sent = new int[3];
        private final int[] settled = new int[3];
        private final int[] numberOf = new int[65_536];
        private RawMqttClient client;
        private int lastPacketId;
        private int unanswered;
        private int uncompleted;
        private boolean isRefused;
        private boolean isPingAnswered;

        Device(String name) {
            this.name = name;
            this.version = name.endsWith("5") ? Packets.V5 : Packets.V311;
            reconnect();
        }

        private void reconnect() {
            client = RawMqttClient.connect(port, version, name, true);
        }

        /** Its connection and what was unanswered on it. */
        void forget() {
            client.close();
            unanswered = 0;
            uncompleted = 0;
        }

        /** Until it is refused or hears nothing for a while; at most that many. */
        void publishUntilFull(int messages) {
            isRefused = false;
            int left = messages;
            while (!isRefused) {
                while (unanswered < WINDOW && left > 0) {
                    publish();
                    left--;
                }
                if (unanswered + uncompleted == 0 || !read(STUCK)) {
                    return;
                }
            }
            while (unanswered + uncompleted > 0 && read(STUCK)) {
                // the others of the window
            }
        }

        /** Whether two messages more, and all that was waiting, are acknowledged. */
        boolean publishTwo() {
            isRefused = false;
            publish();
            publish();
            while (unanswered + uncompleted > 0) {
                if (!read(Duration.ofSeconds(30))) {
                    throw new AssertionError(name + ": no answer to " + unanswered + " messages");
                }
            }
            return !isRefused;
        }

        /** PUBREL is taken although nothing is free. */
        void finishFlows() {
            while (uncompleted > 0) {
                assertTrue(read(STUCK), name + ": no PUBCOMP");
            }
        }

        private void publish() {
            int qos = 1 + lastPacketId % 2;
            lastPacketId = lastPacketId % 60_000 + 1;
            numberOf[lastPacketId] = ++sent[qos];
            byte[] payload = String.format("%0" + PAYLOAD + "d", sent[qos]).getBytes(StandardCharsets.US_ASCII);
            client.send(Packets.publishFlags(
                    version, qos << 1, lastPacketId, "d/" + name + "/" + qos, Packets.NONE, payload));
            unanswered++;
        }

        /** False if nothing comes in time. */
        private boolean read(Duration patience) {
            Packet packet = client.poll(patience);
            if (packet == null) {
                return false;
            }
            switch (packet.type()) {
                case Packet.PUBACK -> answered(1, packet);
                case Packet.PUBREC -> answered(2, packet);
                case Packet.PUBCOMP -> uncompleted--;
                case Packet.PINGRESP -> isPingAnswered = true;
                default -> throw new AssertionError(name + ": unexpected " + packet);
            }
            return true;
        }

        private void answered(int qos, Packet packet) {
            unanswered--;
            if (packet.reasonCode() >= 0x80) {
                assertEquals(0x97, packet.reasonCode());
                assertEquals("reject5", name);
                isRefused = true;
                return;
            }
            settled[qos]++;
            acknowledged.get(qos).add(numberOf[packet.packetId()]);
            if (qos == 2) {
                client.send(Packets.ack(Packet.PUBREL, packet.packetId()));
                uncompleted++;
            }
        }

        void awaitPingResponse() {
            isPingAnswered = false;
            while (!isPingAnswered) {
                assertTrue(read(Duration.ofSeconds(10)), name + ": no PINGRESP");
            }
        }

        void close() {
            client.close();
        }
    }
}
