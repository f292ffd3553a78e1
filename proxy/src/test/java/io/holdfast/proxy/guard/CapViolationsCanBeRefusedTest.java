package io.holdfast.proxy.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.LinkAndUplinkBroker;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ProxyUnderTest;
import io.holdfast.proxy.testing.RawMqttClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code --on-cap-violation reject}. */
class CapViolationsCanBeRefusedTest {
    private static final byte[] TOO_MUCH = new byte[1025];

    @TempDir
    Path directory;

    private LinkAndUplinkBroker broker;
    private ProxyUnderTest proxy;

    @BeforeEach
    void start() {
        broker = LinkAndUplinkBroker.start();
        proxy = ProxyUnderTest.start(
                broker.url(),
                directory,
                "--on-cap-violation",
                "reject",
                "--max-payload",
                "1KiB",
                "--max-metadata",
                "64KiB",
                "--receive-maximum",
                "3",
                "--route",
                "hold h/#",
                "--route",
                "outbox #");
    }

    @AfterEach
    void stop() {
        proxy.close();
        broker.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"t", "h/1"})
    void aV5DeviceIsToldWhyAsOftenAsItTries(String topic) {
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V5, "d", true)) {
            device.send(Packets.publishFlags(Packets.V5, 0, 0, topic, Packets.NONE, TOO_MUCH));
            assertEquals(0, proxy.count(Meter.REJECTED_CAP_PAYLOAD));
            for (int id = 1; id <= 10; id++) { // more than the Receive Maximum: a refusal gives it back
                device.send(Packets.publishFlags(Packets.V5, 2, id, topic, Packets.NONE, TOO_MUCH));
                assertRefused(device.expect(Packet.PUBACK, id), "--max-payload");
                device.send(Packets.publishFlags(Packets.V5, 4, 77, topic, Packets.NONE, TOO_MUCH));
                assertRefused(device.expect(Packet.PUBREC, 77), "--max-payload");
            }
            device.send(Packets.publishFlags(Packets.V5, 4, 77, topic, Packets.NONE, new byte[1024]));
            assertEquals("5002004d", device.expect(Packet.PUBREC).hex());
        }
        assertEquals(20, proxy.count(Meter.REJECTED_CAP_PAYLOAD));
        assertEquals(1, proxy.count(Meter.DROPPED_CAP_PAYLOAD));
        assertEquals(0, broker.linkReceived(Packet.PUBREL).size());
    }

    private static void assertRefused(Packet answer, String flag) {
        assertEquals(0x97, answer.reasonCode(), answer::toString);
        String text = new String(answer.body(), StandardCharsets.UTF_8);
        assertTrue(text.contains(flag), text);
    }

    @Test
    void userPropertiesAndMetadata() {
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V5, "d", true)) {
            byte[] many = Packets.concat(
                    Collections.nCopies(129, Packets.userProperty("", "")).toArray(new byte[0][]));
            device.send(Packets.publishFlags(Packets.V5, 2, 1, "t", many, new byte[1]));
            assertRefused(device.expect(Packet.PUBACK, 1), "--max-user-properties");
            byte[] large = Packets.concat(
                    Packets.userProperty("k", "v".repeat(40_000)), Packets.userProperty("k", "v".repeat(40_000)));
            device.send(Packets.publishFlags(Packets.V5, 2, 2, "t", large, new byte[1]));
            assertRefused(device.expect(Packet.PUBACK, 2), "--max-metadata");
        }
        assertEquals(1, proxy.count(Meter.REJECTED_CAP_USER_PROPERTIES));
        assertEquals(1, proxy.count(Meter.REJECTED_CAP_METADATA));
    }

    @ParameterizedTest
    @ValueSource(strings = {"17 00", "27 00 00 00 20"})
    void aDeviceThatWantsNoReasonStringOrTakesNoneGetsNone(String property) {
        try (RawMqttClient device = RawMqttClient.open(proxy.port())) {
            // Request Problem Information 0 [MQTT-3.1.2-29]; Maximum Packet Size 32 [MQTT-3.4.2-2]
            device.send(new Packets.Connect(Packets.V5, "d")
                    .properties(Packets.hex(property))
                    .bytes());
            device.readPacket(RawMqttClient.PATIENCE);
            device.send(Packets.publishFlags(Packets.V5, 2, 1, "t", Packets.NONE, TOO_MUCH));
            assertEquals("4003000197", device.expect(Packet.PUBACK).hex());
        }
    }

    @Test
    void a3xDeviceCannotBeToldSoItIsAcknowledgedAndDropped() {
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V311, "d", true)) {
            device.send(Packets.publishFlags(Packets.V311, 2, 1, "t", Packets.NONE, TOO_MUCH));
            assertEquals("40020001", device.expect(Packet.PUBACK).hex());
        }
        assertEquals(1, proxy.count(Meter.DROPPED_CAP_PAYLOAD));
        assertEquals(0, proxy.count(Meter.REJECTED_CAP_PAYLOAD));
    }
}
