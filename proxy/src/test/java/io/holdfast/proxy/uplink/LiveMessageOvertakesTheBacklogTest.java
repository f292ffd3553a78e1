package io.holdfast.proxy.uplink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** QOS-14, QOS-16: backlog first, then live (P6), and DUP is the uplink's own. */
class LiveMessageOvertakesTheBacklogTest {
    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void whatComesAtTheMomentOfConnackWaitsBehindTheBacklogAlsoOverACut(int qos) {
        try (UplinkFixture fixture = UplinkFixture.refused(directory, "--uplink-window", "50")) {
            fixture.publish(qos, 0, 500);
            AtomicInteger publishes = new AtomicInteger();
            fixture.broker.uplink().on(Packet.PUBLISH, (connection, publish) -> {
                if (publishes.incrementAndGet() == 100) {
                    connection.reset();
                    return Packets.NONE;
                }
                return null;
            });
            try (RawMqttClient live = RawMqttClient.connect(fixture.proxy.port(), Packets.V311, "live", true)) {
                fixture.broker.uplink().sessionPresent(true).on(Packet.CONNECT, (connection, connect) -> {
                    if (publishes.get() == 0 && !connect.cleanStart()) {
                        live.send(Packets.concat(
                                Packets.publish(Packets.V311, qos, 1, "t", "m500"),
                                Packets.publish(Packets.V311, qos, 2, "t", "m501")));
                    }
                    return null;
                });
                live.expect(qos == 1 ? Packet.PUBACK : Packet.PUBREC, 1);
                live.expect(qos == 1 ? Packet.PUBACK : Packet.PUBREC, 2);
            }
            fixture.awaitDelivered(502);
            List<String> received = UplinkFixture.payloads(fixture.broker.uplinkReceived(Packet.PUBLISH), Packets.V5);
            assertEquals(
                    UplinkFixture.messages(0, 502),
                    List.copyOf(new LinkedHashSet<>(received)),
                    "in order, but for what was resent at the cut");
            assertTrue(received.size() <= 552, () -> "more than a window was sent twice: " + received.size());
        }
    }

    @Test
    void theDupOfTheDeviceIsNotCopied() {
        try (UplinkFixture fixture = new UplinkFixture(Packets.V5, directory);
                RawMqttClient device = RawMqttClient.connect(fixture.proxy.port(), Packets.V311, "d", true)) {
            device.sendHex("3a 06 00 01 61 00 01 78");
            device.expect(Packet.PUBACK, 1);
            device.sendHex("3c 06 00 01 61 00 02 79");
            device.expect(Packet.PUBREC, 2);
            for (Packet publish : fixture.broker.awaitUplink(Packet.PUBLISH, 2)) {
                assertFalse(publish.dup(), publish::toString);
            }
        }
    }
}
