package io.holdfast.proxy.guard;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.LinkAndUplinkBroker;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ProxyUnderTest;
import io.holdfast.proxy.testing.RawMqttClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is refused at accept, and that it makes room for whoever comes in good order. */
class AcceptLimitsTest {
    @TempDir
    Path directory;

    private final LinkAndUplinkBroker broker = LinkAndUplinkBroker.start();
    private final List<RawMqttClient> silent = new ArrayList<>();
    private ProxyUnderTest proxy;

    private void startProxy(String... flags) {
        proxy = ProxyUnderTest.start(broker.url(), directory, flags);
    }

    @AfterEach
    void stop() {
        silent.forEach(RawMqttClient::close);
        proxy.close();
        broker.close();
    }

    private RawMqttClient connect(String clientId) {
        return RawMqttClient.connect(proxy.port(), Packets.V5, clientId, true);
    }

    private static void assertServed(RawMqttClient device) {
        device.send(Packets.pingreq());
        device.expect(Packet.PINGRESP);
    }

    @Test
    void aDeviceOverTheLimitIsRefusedUntilAnotherLeaves() {
        startProxy("--max-connections", "2");
        try (RawMqttClient first = connect("first")) {
            RawMqttClient second = connect("second");
            try (RawMqttClient third = RawMqttClient.open(proxy.port())) {
                third.expectClosed(RawMqttClient.PATIENCE);
            }
            assertEquals(1, proxy.count(Meter.SHED_CONNECTIONS));
            second.close();
            await().untilAsserted(() -> connect("fourth").close());
            assertServed(first);
        }
    }

    @Test
    void socketsThatAreSilentGiveWayToADevice() {
        startProxy("--max-connections", "3");
        for (int i = 0; i < 3; i++) {
            silent.add(RawMqttClient.open(proxy.port()));
        }
        silent.get(2).expectSilence(Duration.ofMillis(700)); // younger, their CONNECT may be on its way
        try (RawMqttClient device = connect("device");
                RawMqttClient another = connect("another")) {
            silent.get(0).expectClosed(RawMqttClient.PATIENCE);
            silent.get(1).expectClosed(RawMqttClient.PATIENCE);
            assertEquals(2, proxy.count(Meter.SHED_UNCONNECTED));
            silent.get(2).send(Packets.connect(Packets.V5, "late", true));
            silent.get(2).expect(Packet.CONNACK);
            assertServed(device);
            assertServed(another);
        }
    }

    @Test
    void oneAddressHasItsShareAndAnotherItsOwn() {
        startProxy("--max-connections-per-address", "2");
        try (RawMqttClient first = connect("first")) {
            RawMqttClient second = connect("second");
            try (RawMqttClient third = RawMqttClient.open(proxy.port())) {
                third.expectClosed(RawMqttClient.PATIENCE);
            }
            assertEquals(1, proxy.count(Meter.SHED_ADDRESS));
            try (RawMqttClient elsewhere = RawMqttClient.openFrom("127.0.0.2", proxy.port())) {
                elsewhere.send(Packets.connect(Packets.V5, "elsewhere", true));
                elsewhere.expect(Packet.CONNACK);
            }
            second.close();
            await().untilAsserted(() -> connect("fourth").close());
            assertServed(first);
        }
    }

    @Test
    void socketsThatComeTooFastAreRefusedAndLaterOnesAreNot() {
        startProxy("--accept-rate", "10");
        for (int i = 0; i < 60; i++) {
            silent.add(RawMqttClient.open(proxy.port()));
        }
        await().until(() -> proxy.count(Meter.SHED_ACCEPT_RATE) + proxy.count(Meter.CONNECTIONS_ACCEPTED) == 60);
        assertTrue(
                proxy.count(Meter.SHED_ACCEPT_RATE) >= 30, () -> "accepted " + proxy.count(Meter.CONNECTIONS_ACCEPTED));
        await().untilAsserted(() -> connect("device").close());
    }

    @Test
    void ofTooManySocketsWithoutAConnectTheOldestGo() {
        startProxy("--max-unconnected", "10");
        try (RawMqttClient early = connect("early")) {
            for (int i = 0; i < 50; i++) {
                silent.add(RawMqttClient.open(proxy.port()));
            }
            try (RawMqttClient device = connect("device")) {
                assertServed(device);
                assertServed(early);
            }
            for (int i = 0; i < 40; i++) {
                silent.get(i).expectClosed(RawMqttClient.PATIENCE);
            }
            silent.get(49).send(Packets.connect(Packets.V5, "late", true));
            silent.get(49).expect(Packet.CONNACK);
            assertEquals(41, proxy.count(Meter.SHED_UNCONNECTED));
        }
    }

    @Test
    void badSettingsNameTheirFlag() {
        startProxy();
        for (String[] bad : new String[][] {
            {"--max-connections", "0"},
            {"--max-connections-per-address", "-1"},
            {"--accept-rate", "-1"},
            {"--max-unconnected", "0"},
            {"--max-publish-rate", "-1"},
            {"--on-cap-violation", "drop"},
        }) {
            RuntimeException refused = assertThrows(
                    RuntimeException.class,
                    () -> ProxyUnderTest.start(broker.url(), directory.resolve("none"), bad)
                            .close());
            assertTrue(refused.getMessage().startsWith(bad[0] + " "), refused::getMessage);
        }
    }
}
