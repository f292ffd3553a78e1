package io.holdfast.proxy.link;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code --hold-timeout}: how long a held PUBLISH waits without a link. */
class HoldTimeoutTest {
    private static final String[] FLAGS = {"--hold-timeout", "500ms"};

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void whatWasNeverSentIsRefusedToAV5DeviceWhichStays(int qos) {
        try (LinkFixture fixture = new LinkFixture(directory, FLAGS);
                RawMqttClient device = fixture.connect(Packets.V5, true)) {
            fixture.broker.link().sessionPresent(true);
            fixture.brokerGoesAway();
            await().until(() -> fixture.proxy.count(Meter.LINK_LOST) == 1);
            for (int round = 0; round < 2; round++) {
                device.send(Packets.publish(Packets.V5, qos, 1, "h/1", "held"));
                device.send(Packets.publish(Packets.V5, 1, 2, "o/1", "behind"));
                assertEquals(
                        0x83,
                        device.expect(qos == 1 ? Packet.PUBACK : Packet.PUBREC, 1)
                                .reasonCode());
                assertEquals(0, device.expect(Packet.PUBACK, 2).reasonCode());
            }
            fixture.brokerComesBack();
            await().atMost(LinkFixture.SOON).until(() -> {
                device.send(Packets.publish(Packets.V5, qos, 1, "h/1", "again"));
                return device.expect(qos == 1 ? Packet.PUBACK : Packet.PUBREC, 1)
                                .reasonCode()
                        == 0;
            });
            assertEquals(1, fixture.broker.linkReceived(Packet.PUBLISH).size());
        }
    }

    @Test
    void a311DeviceIsClosedForItCannotBeTold() {
        try (LinkFixture fixture = new LinkFixture(directory, FLAGS);
                RawMqttClient device = fixture.connect(Packets.V311, true)) {
            fixture.brokerGoesAway();
            await().until(() -> fixture.proxy.count(Meter.LINK_LOST) == 1);
            device.send(Packets.publish(Packets.V311, 1, 1, "h/1", "held"));
            device.expectClosed(LinkFixture.SOON);
        }
    }

    @Test
    void whatTheBrokerMayHaveClosesTheDevice() {
        try (LinkFixture fixture = new LinkFixture(directory, FLAGS);
                RawMqttClient device = fixture.connect(Packets.V5, true)) {
            fixture.broker.link().swallow(Packet.PUBLISH);
            device.send(Packets.publish(Packets.V5, 1, 1, "h/1", "held"));
            fixture.broker.awaitLink(Packet.PUBLISH, 1);
            fixture.brokerGoesAway();
            Packet disconnect = device.readPacket(LinkFixture.SOON);
            assertEquals(Packet.DISCONNECT, disconnect.type(), "and no PUBACK with a refusal");
            device.expectClosed(LinkFixture.SOON);
        }
    }

    @Test
    void aBrokerThatTakesConnectionsAndSaysNothingIsNoLink() {
        try (LinkFixture fixture = new LinkFixture(directory, FLAGS);
                RawMqttClient device = fixture.connect(Packets.V5, true)) {
            fixture.broker.link().swallow(Packet.CONNECT);
            fixture.broker.cutLinks();
            await().atMost(LinkFixture.SOON)
                    .until(() -> fixture.broker.linkConnections().size() == 2);
            device.send(Packets.publish(Packets.V5, 1, 1, "h/1", "held while the redial waits for its CONNACK"));
            assertEquals(0x83, device.expect(Packet.PUBACK, 1).reasonCode());
        }
    }

    @Test
    void aHeldPublishOnAWorkingLinkWaitsForTheBrokerHoweverLong() {
        try (LinkFixture fixture = new LinkFixture(directory, FLAGS);
                RawMqttClient device = fixture.connect(Packets.V5, true)) {
            fixture.broker.link().keepBack(Packet.PUBLISH);
            device.send(Packets.publish(Packets.V5, 1, 1, "h/1", "held"));
            device.expectSilence(Duration.ofSeconds(1));
            fixture.broker.link().releaseAll();
            device.expect(Packet.PUBACK, 1);
        }
    }
}
