package io.holdfast.proxy.interop;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Keep Alive is the proxy's own on both sides. */
@InteropTest
class KeepAliveTest {

    /** One device pings and stays on a quiet link, the other one is silent: closed, and the broker publishes its will. */
    @ParameterizedTest(name = "{0} version {1}")
    @CsvSource({
        "MOSQUITTO_OUTBOX, 3",
        "MOSQUITTO_HOLD, 4",
        "MOSQUITTO_OUTBOX, 5",
        "HIVEMQ_OUTBOX, 4",
        "HIVEMQ_HOLD, 5",
    })
    void theSilentDeviceIsClosedAndTheOneThatPingsStays(Deployment deployment, int version) {
        String topic = deployment.topic("alive");
        try (Client atBroker = Library.HIVEMQ_5.connect(deployment.brokerPort());
                RawMqttClient pings = connect(deployment, version, topic, "pings");
                RawMqttClient silent = connect(deployment, version, topic, "silent")) {
            atBroker.subscribe(topic, 1);
            long beganNs = System.nanoTime();
            // Its own link is quiet for longer than the broker would stand: the proxy pings there.
            await().pollInterval(Duration.ofMillis(400))
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> {
                        pings.send(Packets.pingreq());
                        pings.expect(Packet.PINGRESP);
                        return !atBroker.received().isEmpty();
                    });
            assertTrue(System.nanoTime() - beganNs > 1_000_000_000L, "closed within its Keep Alive");
            if (version == Packets.V5) {
                assertEquals(0x8D, silent.expect(Packet.DISCONNECT).reasonCode());
            }
            silent.expectClosed(RawMqttClient.PATIENCE);
            atBroker.expect(Message.of(topic, 1, "silent"));
        }
    }

    private static RawMqttClient connect(Deployment deployment, int version, String topic, String will) {
        RawMqttClient device = RawMqttClient.open(deployment.port());
        device.send(new Packets.Connect(version, Deployment.unique("k"))
                .keepAlive(1)
                .will(1, false, topic, will)
                .bytes());
        assertEquals(0, device.expect(Packet.CONNACK).reasonCode());
        return device;
    }
}
