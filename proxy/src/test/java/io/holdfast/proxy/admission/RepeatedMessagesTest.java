package io.holdfast.proxy.admission;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.holdfast.proxy.testing.LinkAndUplinkBroker;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ProxyUnderTest;
import io.holdfast.proxy.testing.RawMqttClient;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code --dedup}: what a producer sends once more is acknowledged, counted and not delivered. */
class RepeatedMessagesTest {
    @TempDir
    Path directory;

    private final LinkAndUplinkBroker broker = LinkAndUplinkBroker.start();

    private ProxyUnderTest start(String... flags) {
        String[] all = new String[flags.length + 6];
        System.arraycopy(
                new String[] {
                    LinkAndUplinkBroker.UPLINK_FLAG,
                    LinkAndUplinkBroker.UPLINK,
                    "--route",
                    "outbox a/#",
                    "--route",
                    "outbox b/#"
                },
                0,
                all,
                0,
                6);
        System.arraycopy(flags, 0, all, 6, flags.length);
        return ProxyUnderTest.start(broker.url(), directory, all);
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    private static byte[] userProperty(String name, String value) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(0x26);
        text(out, name);
        text(out, value);
        return out.toByteArray();
    }

    private static byte[] correlationData(String value) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(0x09);
        text(out, value);
        return out.toByteArray();
    }

    private static void text(ByteArrayOutputStream out, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.write(0);
        out.write(bytes.length);
        out.writeBytes(bytes);
    }

    /** To the end of its flow. */
    private static void send(RawMqttClient device, int qos, int id, String topic, byte[] properties) {
        byte[] payload = (topic + id).getBytes(StandardCharsets.UTF_8);
        device.send(Packets.publishFlags(Packets.V5, qos << 1, id, topic, properties, payload));
        assertEquals(
                0, device.expect(qos == 1 ? Packet.PUBACK : Packet.PUBREC, id).reasonCode());
        if (qos == 2) {
            device.send(Packets.ack(Packet.PUBREL, id));
            assertEquals(0, device.expect(Packet.PUBCOMP, id).reasonCode());
        }
    }

    private void assertDelivered(ProxyUnderTest proxy, String... payloads) {
        await().atMost(Duration.ofSeconds(20)).until(() -> proxy.ledgerTotal("delivered") >= payloads.length);
        assertEquals(0, proxy.ledgerTotal("pending"));
        assertEquals(
                List.of(payloads),
                broker.uplinkReceived(Packet.PUBLISH).stream()
                        .map(publish -> new String(publish.payload(Packets.V5), StandardCharsets.UTF_8))
                        .toList());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void theSameClientRouteAndMessageIdIsDeliveredOnceAlsoOverARestart(int qos) {
        byte[] x = userProperty("mqtt.message-id", "x");
        byte[] y = userProperty("mqtt.message-id", "y");
        byte[] other = userProperty("mqtt.message-idx", "x");
        try (ProxyUnderTest proxy = start("--dedup", "message-id");
                RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V5, "d", true);
                RawMqttClient another = RawMqttClient.connect(proxy.port(), Packets.V5, "e", true)) {
            send(device, qos, 1, "a/1", x);
            send(device, qos, 2, "a/1", x);
            send(device, qos, 3, "a/2", x); // the topic is no part of it, the route is
            send(device, qos, 4, "b/1", x);
            send(device, qos, 5, "a/1", y);
            send(device, qos, 6, "a/1", other);
            send(device, qos, 7, "a/1", other);
            send(another, qos, 8, "a/1", x);
            assertDelivered(proxy, "a/11", "b/14", "a/15", "a/16", "a/17", "a/18");
            assertEquals(8, proxy.ledgerTotal("accepted"));
            assertEquals(2, proxy.ledgerTotal("duplicate"));
        }
        try (ProxyUnderTest proxy = start("--dedup", "message-id");
                RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V5, "d", true)) {
            send(device, qos, 9, "a/1", x);
            send(device, qos, 10, "a/1", userProperty("mqtt.message-id", "z"));
            assertDelivered(proxy, "a/11", "b/14", "a/15", "a/16", "a/17", "a/18", "a/110");
            assertEquals(3, proxy.ledgerTotal("duplicate"));
        }
    }

    @Test
    void correlationDataCountsOnlyWhereItIsAskedFor() {
        byte[] x = correlationData("x");
        try (ProxyUnderTest proxy = start("--dedup", "correlation-data");
                RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V5, "d", true)) {
            send(device, 1, 1, "a/1", x);
            send(device, 1, 2, "a/1", x);
            send(device, 1, 3, "a/1", userProperty("mqtt.message-id", "x"));
            send(device, 1, 4, "a/1", userProperty("mqtt.message-id", "x"));
            assertDelivered(proxy, "a/11", "a/13", "a/14");
        }
    }

    @Test
    void byDefaultEverythingIsDelivered() {
        byte[] x = userProperty("mqtt.message-id", "x");
        try (ProxyUnderTest proxy = start();
                RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V5, "d", true)) {
            send(device, 1, 1, "a/1", x);
            send(device, 1, 2, "a/1", x);
            assertDelivered(proxy, "a/11", "a/12");
        }
    }
}
