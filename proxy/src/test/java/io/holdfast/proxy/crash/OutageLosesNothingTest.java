package io.holdfast.proxy.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.testing.Broker;
import io.holdfast.proxy.testing.Delivery;
import io.holdfast.proxy.testing.FreePorts;
import io.holdfast.proxy.testing.HiveMqBroker;
import io.holdfast.proxy.testing.HoldfastProcess;
import io.holdfast.proxy.testing.MosquittoBroker;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ResendingDevice;
import io.holdfast.proxy.testing.Subscribers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The broker is stopped, the devices go on publishing and get every acknowledgement, the proxy is killed and started again, and
 * only then the broker comes back: a subscriber with a persistent session gets everything, in order, QoS 2 once.
 */
class OutageLosesNothingTest {
    private static final int DEVICES = 20;
    private static final int MESSAGES = 500;
    private static final List<String> NAMES =
            IntStream.range(0, DEVICES).mapToObj(i -> "dev" + i).toList();

    @TempDir
    Path directory;

    @Test
    void inFrontOfMosquitto() throws Exception {
        // With fewer in flight, Mosquitto 2.0 lets new messages pass by what it has queued for the subscribers.
        String unlimited = "max_inflight_messages 0";
        try (MosquittoBroker broker = MosquittoBroker.create(directory.resolve("broker"), unlimited)) {
            play(broker);
        }
    }

    @Test
    void inFrontOfHiveMq() throws Exception {
        try (HiveMqBroker broker = HiveMqBroker.create(directory.resolve("broker"))) {
            play(broker);
        }
    }

    private void play(Broker broker) throws InterruptedException {
        broker.start();
        int port = FreePorts.next();
        int adminPort = FreePorts.next();
        Ledger ledger = new Ledger(adminPort);
        HoldfastProcess prepared = HoldfastProcess.proxy(broker.url(), port, adminPort, directory.resolve("data"));
        List<ResendingDevice> devices = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        try (Subscribers subscribers = new Subscribers(broker.port(), NAMES);
                HoldfastProcess proxy = prepared.start()) {
            for (int i = 0; i < DEVICES; i++) {
                ResendingDevice device = new ResendingDevice(
                                "dev" + i, port, i % 2 == 0 ? Packets.V311 : Packets.V5, 32, i)
                        .limitFirst(10);
                devices.add(device);
                Thread thread = new Thread(device, device.name());
                threads.add(thread);
                thread.start();
            }
            // A device that has had its first acknowledgements is connected; then the broker goes.
            Awaitility.await()
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> devices.stream().allMatch(device -> device.progress() >= 20));
            // HiveMQ CE remembers the ids of its QoS 2 flows in memory only: no flow may be open when it is stopped.
            Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> ledger.pending() == 0);
            broker.stop();
            devices.forEach(device -> device.limit(MESSAGES));
            for (Thread thread : threads) {
                thread.join(Duration.ofMinutes(2).toMillis());
                assertEquals(false, thread.isAlive(), () -> thread.getName() + " does not get its acknowledgements");
            }
            assertEquals(
                    DEVICES,
                    devices.stream().mapToInt(ResendingDevice::connections).sum(),
                    "no device was disconnected by the outage");
            proxy.kill9();
            proxy.start();
            long before = subscribers.count();
            assertTrue(ledger.pending() > 0, "there is a backlog");
            broker.start();
            subscribers.awaitQuiet(
                    () -> ledger.hasArrivedAt(subscribers), Duration.ofMillis(500), Duration.ofMinutes(2));
            assertTrue(subscribers.count() > before, "the backlog came after the outage");
            Delivery delivery = new Delivery();
            devices.forEach(device -> delivery.judge(device, subscribers));
            assertEquals(List.of(), delivery.faults());
            assertEquals(2 * DEVICES * MESSAGES + delivery.duplicates(), delivery.messages());
            assertEquals(0, proxy.sigterm(), "exit code");
        }
    }
}
