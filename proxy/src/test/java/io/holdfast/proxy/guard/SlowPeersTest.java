package io.holdfast.proxy.guard;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.LinkAndUplinkBroker;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ProxyUnderTest;
import io.holdfast.proxy.testing.RawMqttClient;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Peers that send too slowly, too little, or do not read. */
@Timeout(60)
class SlowPeersTest {
    private static final int MAX_PACKET = 64 * 1024;

    @TempDir
    Path directory;

    private final LinkAndUplinkBroker broker = LinkAndUplinkBroker.start();
    private ProxyUnderTest proxy;

    private void startProxy(String... flags) {
        List<String> all = new ArrayList<>(List.of(flags));
        all.addAll(List.of("--max-packet-size", "" + MAX_PACKET, "--ingress-memory-budget", "1MiB"));
        proxy = ProxyUnderTest.start(broker.url(), directory, all.toArray(new String[0]));
    }

    @AfterEach
    void stop() {
        proxy.close();
        broker.close();
    }

    private RawMqttClient connect(int version, String clientId, int keepAliveSeconds) {
        RawMqttClient device = RawMqttClient.open(proxy.port());
        device.send(new Packets.Connect(version, clientId)
                .keepAlive(keepAliveSeconds)
                .bytes());
        device.expect(Packet.CONNACK);
        return device;
    }

    /** [MQTT-3.1.2-22]: a Control Packet has to come, not a byte. */
    @Test
    void bytesThatNeverBecomeAPacketAreNoSignOfLife() {
        startProxy();
        try (RawMqttClient device = connect(Packets.V311, "d", 1)) {
            byte[] publish = Packets.publishFlags(Packets.V311, 2, 1, "t", Packets.NONE, new byte[1000]);
            int[] sent = {0};
            await().pollInterval(Duration.ofMillis(100))
                    .atMost(Duration.ofSeconds(10))
                    .until(() -> {
                        try {
                            device.send(new byte[] {publish[sent[0]++]});
                        } catch (UncheckedIOException e) {
                            return true;
                        }
                        return proxy.count(Meter.CLOSED_KEEP_ALIVE) == 1;
                    });
            assertTrue(sent[0] < 60, () -> sent[0] + " bytes at ten per second");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"10 ff ff ff 7f", "10 ff ff ff 7f 00 04 4d 51 54 54 05"})
    void aConnectThatClaims256MiBIsClosedAtOnce(String bytes) {
        startProxy();
        try (RawMqttClient device = RawMqttClient.open(proxy.port())) {
            device.sendHex(bytes);
            device.expectClosed(Duration.ofSeconds(5));
            assertEquals(1, proxy.count(Meter.CLOSED_PROTOCOL));
        }
    }

    /** Without a Keep Alive nothing ends half a packet, so what all of them hold is bounded. */
    @Test
    void ofTooManyUnfinishedPacketsThoseThatBeganFirstAreGivenUp() {
        startProxy();
        byte[] publish = Packets.publishFlags(Packets.V5, 2, 1, "t", Packets.NONE, new byte[MAX_PACKET - 20]);
        byte[] most = Arrays.copyOf(publish, publish.length - 1);
        List<RawMqttClient> halves = new ArrayList<>();
        try {
            for (int i = 0; i < 30; i++) {
                RawMqttClient half = i % 2 == 0 ? connect(Packets.V5, "half" + i, 0) : RawMqttClient.open(proxy.port());
                halves.add(half);
                half.send(i % 2 == 0 ? most : largeConnect(i));
            }
            // 128 KiB per loop or four loops' parts of 256 KiB: never more than a handful of 64 KiB.
            int loops = Runtime.getRuntime().availableProcessors();
            await().until(() -> proxy.count(Meter.CLOSED_UNFINISHED_PACKET) >= 30 - 2L * loops - 2);
            assertEquals("e00197", halves.get(0).expect(Packet.DISCONNECT).hex());
            halves.get(0).expectClosed(RawMqttClient.PATIENCE);
            halves.get(1).expectClosed(RawMqttClient.PATIENCE);
            try (RawMqttClient device = connect(Packets.V311, "device", 60)) {
                for (int i = 0; i < 5; i++) {
                    device.send(Packets.publishFlags(Packets.V311, 2, 1, "t", Packets.NONE, new byte[MAX_PACKET - 20]));
                    device.expect(Packet.PUBACK);
                }
            }
        } finally {
            halves.forEach(RawMqttClient::close);
        }
    }

    private static byte[] largeConnect(int i) {
        byte[] connect = new Packets.Connect(Packets.V311, "half" + i)
                .will(0, false, "t", "w".repeat(MAX_PACKET - 100))
                .bytes();
        return Arrays.copyOf(connect, connect.length - 1);
    }

    @ParameterizedTest
    @ValueSource(ints = {Packets.V311, Packets.V5})
    void aDeviceThatDoesNotReadItsAnswersIsClosed(int version) {
        startProxy();
        try (RawMqttClient device = connect(version, "d", 60);
                RawMqttClient other = connect(version, "other", 60)) {
            byte[][] pings = new byte[10_000][];
            Arrays.fill(pings, Packets.pingreq());
            byte[] many = Packets.concat(pings);
            await().pollInterval(Duration.ofMillis(1))
                    .atMost(Duration.ofSeconds(40))
                    .until(() -> {
                        try {
                            device.send(many);
                        } catch (UncheckedIOException e) {
                            // closed
                        }
                        return proxy.count(Meter.CLOSED_NOT_READING) == 1;
                    });
            other.send(Packets.pingreq());
            other.expect(Packet.PINGRESP);
        }
    }
}
