package io.holdfast.proxy.link;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** [MQTT-3.1.2-24], [MQTT-3.1.2-25]: what the device cannot take is never sent to it, and does not come again for ever. */
class BrokerIgnoresTheDevicesMaximumPacketSizeTest {
    private static final int MAXIMUM_PACKET_SIZE = 0x27;
    private static final int LIMIT = 200;

    @TempDir
    Path directory;

    private static RawMqttClient connect(LinkFixture fixture) {
        RawMqttClient device = RawMqttClient.open(fixture.proxy.port());
        device.send(new Packets.Connect(Packets.V5, "d")
                .properties(Packets.property32(MAXIMUM_PACKET_SIZE, LIMIT))
                .bytes());
        device.expect(Packet.CONNACK);
        return device;
    }

    /** A PUBLISH of so many bytes in all. */
    private static byte[] publish(int flags, int id, int bytes) {
        for (int payload = bytes; ; payload--) {
            byte[] publish = Packets.publishFlags(Packets.V5, flags, id, "t", Packets.NONE, new byte[payload]);
            if (publish.length == bytes) {
                return publish;
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {LIMIT + 1, 300_000})
    void aPublishIsDiscardedAndRefused(int size) {
        try (LinkFixture fixture = new LinkFixture(directory)) {
            fixture.broker
                    .link()
                    .swallow(Packet.PUBREC)
                    .on(
                            Packet.SUBSCRIBE,
                            (connection, subscribe) -> Packets.concat(
                                    Packets.suback(Packets.V5, Packet.SUBACK, 1, 2),
                                    publish(0, 0, size),
                                    publish(2, 7, size),
                                    publish(2, 8, LIMIT),
                                    publish(4, 9, size),
                                    publish(2, 10, 20)));
            try (RawMqttClient device = connect(fixture)) {
                device.send(Packets.subscribe(Packets.V5, 1, "#", 2));
                device.expect(Packet.SUBACK);
                device.expect(Packet.PUBLISH, 8);
                device.expect(Packet.PUBLISH, 10);
                await().until(() -> fixture.latestLink().size() == 4);
                assertEquals(
                        List.of("4003000797", "5003000997"),
                        fixture.latestLink().subList(2, 4).stream()
                                .map(Packet::hex)
                                .toList());
                assertEquals(3, fixture.proxy.count(Meter.DROPPED_TOO_LARGE_FOR_DEVICE));
                device.send(Packets.pingreq());
                device.expect(Packet.PINGRESP);
            }
        }
    }

    @Test
    void anAcknowledgementComesWithoutItsProperties() {
        try (LinkFixture fixture = new LinkFixture(directory)) {
            byte[] properties = Packets.userProperty("k", "v".repeat(LIMIT));
            fixture.broker
                    .link()
                    .on(
                            Packet.PUBLISH,
                            (connection, publish) ->
                                    Packets.concat(Packets.hex("40 d3 01 00 05 10 ce 01"), properties));
            assertEquals(0xce, properties.length);
            try (RawMqttClient device = connect(fixture)) {
                device.send(Packets.publish(Packets.V5, 1, 5, "h/1", "m"));
                assertEquals("4003000510", device.expect(Packet.PUBACK).hex());
            }
        }
    }

    @Test
    void anythingElseEndsTheLink() {
        try (LinkFixture fixture = new LinkFixture(directory)) {
            fixture.broker
                    .link()
                    .on(
                            Packet.SUBSCRIBE,
                            (connection, subscribe) -> Packets.suback(Packets.V5, Packet.SUBACK, 1, new int[LIMIT]));
            try (RawMqttClient device = connect(fixture)) {
                device.send(Packets.subscribe(Packets.V5, 1, "#", 2));
                await().until(() -> fixture.proxy.count(Meter.BROKER_PROTOCOL_ERRORS) == 1);
                device.send(Packets.pingreq());
                device.expect(Packet.PINGRESP);
            }
        }
    }
}
