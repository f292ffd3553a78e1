package io.holdfast.proxy.guard;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.FreePorts;
import io.holdfast.proxy.testing.HoldfastProcess;
import io.holdfast.proxy.testing.LinkAndUplinkBroker;
import io.holdfast.proxy.testing.MetricsPage;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** {@code ulimit -n 256}: who is connected is served, nothing spins or floods the log, and it accepts again. */
@EnabledOnOs(OS.LINUX)
@Timeout(120)
class DescriptorsExhaustedTest {
    private static final int DESCRIPTORS = 256;
    private static final Duration SOON = Duration.ofSeconds(20);

    @TempDir
    Path directory;

    private final int port = FreePorts.next();
    private final int adminPort = FreePorts.next();
    private final List<RawMqttClient> crowd = new ArrayList<>();

    private HoldfastProcess proxy(LinkAndUplinkBroker broker, String... flags) {
        return HoldfastProcess.proxy(broker.url(), port, adminPort, directory.resolve("data"), flags)
                .with("--segment-bytes", "4MiB")
                .descriptorLimit(DESCRIPTORS);
    }

    private static void assertServed(RawMqttClient device, int id) {
        device.send(Packets.pingreq());
        device.expect(Packet.PINGRESP);
        device.send(Packets.publish(Packets.V311, 1, id, "t", "m"));
        device.expect(Packet.PUBACK, id);
    }

    private void openCrowd(int size) {
        for (int i = 0; i < size; i++) {
            RawMqttClient one = RawMqttClient.open(port);
            crowd.add(one);
            one.send(new Packets.Connect(Packets.V311, "crowd" + i).keepAlive(0).bytes());
        }
    }

    private void closeCrowd() {
        crowd.forEach(RawMqttClient::reset);
        crowd.clear();
    }

    @Test
    void withoutAGuardTheSystemRefusesAndItGoesOnWhenThereIsRoom() {
        try (LinkAndUplinkBroker broker = LinkAndUplinkBroker.start();
                HoldfastProcess proxy =
                        proxy(broker, "--max-connections", "1000").start();
                RawMqttClient device = RawMqttClient.connect(port, Packets.V311, "device", true)) {
            assertTrue(proxy.output().contains("--max-connections 1000 needs"), proxy::output);
            MetricsPage metrics = new MetricsPage(adminPort);
            metrics.text(); // its own connection stays open
            assertServed(device, 100);
            openCrowd(300);
            await().atMost(SOON).until(() -> metrics.count(Meter.ACCEPT_FAILED) >= 2);
            Duration cpu = cpu(proxy);
            long failures = metrics.count(Meter.ACCEPT_FAILED);
            for (int id = 1; id <= 30; id++) {
                assertServed(device, id);
                device.expectSilence(Duration.ofMillis(50));
            }
            long moreFailures = metrics.count(Meter.ACCEPT_FAILED) - failures;
            assertTrue(moreFailures <= 20, () -> moreFailures + " failures to accept in two seconds");
            Duration spent = cpu(proxy).minus(cpu);
            assertTrue(spent.compareTo(Duration.ofMillis(1500)) < 0, () -> "it spins: " + spent);
            assertTrue(errors(proxy) <= 3, proxy::output);
            closeCrowd();
            await().atMost(SOON).untilAsserted(() -> {
                try (RawMqttClient next = RawMqttClient.connect(port, Packets.V311, "next", true)) {
                    assertServed(next, 1);
                }
            });
            await().atMost(SOON).until(() -> metrics.gauge(Meter.DEVICES_CONNECTED) == 1);
            assertServed(device, 31);
            assertEquals(0, proxy.sigterm());
        }
    }

    /** The default of --max-connections leaves each device its link, and the rest to the proxy. */
    @Test
    void theDefaultLimitNeverLetsItComeToThat() {
        try (LinkAndUplinkBroker broker = LinkAndUplinkBroker.start();
                HoldfastProcess proxy = proxy(broker).start();
                RawMqttClient device = RawMqttClient.connect(port, Packets.V311, "device", true)) {
            MetricsPage metrics = new MetricsPage(adminPort);
            openCrowd(300);
            await().atMost(SOON).until(() -> metrics.count(Meter.SHED_CONNECTIONS) >= 200);
            assertServed(device, 1);
            assertEquals(0, metrics.count(Meter.ACCEPT_FAILED));
            assertEquals(0, metrics.count(Meter.CONNECTIONS_REFUSED));
            assertEquals(0, errors(proxy), proxy::output);
            closeCrowd();
            await().atMost(SOON)
                    .untilAsserted(() -> RawMqttClient.connect(port, Packets.V311, "next", true)
                            .close());
        }
    }

    private static Duration cpu(HoldfastProcess proxy) {
        return ProcessHandle.of(proxy.pid())
                .orElseThrow()
                .info()
                .totalCpuDuration()
                .orElseThrow();
    }

    private static long errors(HoldfastProcess proxy) {
        return proxy.output().lines().filter(line -> line.contains(" ERROR ")).count();
    }
}
