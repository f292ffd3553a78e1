package io.holdfast.proxy.uplink;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.AutoAnswers;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** QOS-06, -07, -08, -15: what a resume sends counts against the window [MQTT-3.3.4-9], and the window comes back. */
class ResumeIgnoresTheSendQuotaTest {
    private static final int RECEIVE_MAXIMUM = 0x21;

    @TempDir
    Path directory;

    @Test
    void theWholeBacklogIsNotFiredAtOnce() {
        try (UplinkFixture fixture = UplinkFixture.refused(directory)) {
            AutoAnswers uplink = fixture.broker.uplink();
            fixture.publish(1, 0, 200);
            uplink.keepBack(Packet.PUBLISH).connackProperties(Packets.property16(RECEIVE_MAXIMUM, 10));
            fixture.broker.acceptUplink();
            await().until(() -> uplink.heldCount() == 10);
            await().during(Duration.ofMillis(300)).until(() -> uplink.heldCount() == 10);

            uplink.dropHeld();
            uplink.sessionPresent(true).connackProperties(Packets.property16(RECEIVE_MAXIMUM, 3));
            fixture.broker.cutUplink();
            await().until(() -> uplink.heldCount() == 3);
            await().during(Duration.ofMillis(300)).until(() -> uplink.heldCount() == 3);
            assertEquals(List.of("m0", "m1", "m2"), UplinkFixture.payloads(uplink.held(), Packets.V5));
            assertTrue(uplink.held().stream().allMatch(Packet::dup), () -> "DUP is missing: " + uplink.held());
            for (int answered = 0; answered < 200; answered++) {
                await().pollDelay(Duration.ZERO)
                        .pollInterval(Duration.ofMillis(1))
                        .until(() -> uplink.heldCount() > 0);
                assertTrue(uplink.heldCount() <= 3, () -> "open at the broker: " + uplink.held());
                uplink.release(0);
            }
            fixture.awaitDelivered(200);
            List<Packet> sent = uniqueBeyondDup(fixture);
            assertEquals(UplinkFixture.messages(0, 200), UplinkFixture.payloads(sent, Packets.V5));
        }
    }

    private static List<Packet> uniqueBeyondDup(UplinkFixture fixture) {
        return fixture.broker.uplinkReceived(Packet.PUBLISH).stream()
                .filter(packet -> !packet.dup())
                .toList();
    }

    @ParameterizedTest
    @CsvSource({"4, false", "5, false", "5, true"})
    void theFirstNewMessageBehindAWindowOfResendsGetsItsPubrel(int version, boolean reversed) {
        try (UplinkFixture fixture = new UplinkFixture(version, directory, "--uplink-window", "20")) {
            AutoAnswers uplink = fixture.broker.uplink();
            uplink.keepBack(Packet.PUBLISH).sessionPresent(true);
            fixture.publish(2, 0, 25);
            await().until(() -> uplink.heldCount() == 20);
            uplink.dropHeld();
            fixture.broker.cutUplink();
            await().until(() -> uplink.heldCount() == 20);
            List<Integer> expected = new ArrayList<>(UplinkFixture.ids(uplink.held()));
            uplink.letThrough(Packet.PUBLISH);
            if (reversed) {
                Collections.reverse(expected);
                uplink.releaseReversed();
            } else {
                uplink.releaseAll();
            }
            fixture.awaitDelivered(25);
            List<Packet> pubrels = fixture.broker.uplinkReceived(Packet.PUBREL);
            assertEquals(25, pubrels.size());
            assertEquals(expected, UplinkFixture.ids(pubrels.subList(0, 20)), "PUBRELs in the order of the PUBRECs");
            assertEquals(UplinkFixture.messages(0, 25), UplinkFixture.payloads(uniqueBeyondDup(fixture), version));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 10})
    void trafficResumesThoughTheWindowWasFullWhenTheLinkDropped(int window) {
        try (UplinkFixture fixture = new UplinkFixture(Packets.V5, directory, "--uplink-window", "" + window)) {
            AutoAnswers uplink = fixture.broker.uplink();
            uplink.keepBack(Packet.PUBLISH);
            fixture.publish(1, 0, 30);
            for (boolean sessionPresent : new boolean[] {true, false}) {
                await().until(() -> uplink.heldCount() == window);
                uplink.dropHeld();
                uplink.sessionPresent(sessionPresent);
                int connections = fixture.broker.uplinkConnections().size();
                fixture.broker.cutUplink();
                await().until(() -> uplink.heldCount() == window);
                List<Packet> resent = fixture.onConnection(connections, Packet.PUBLISH);
                assertEquals(UplinkFixture.messages(0, window), UplinkFixture.payloads(resent, Packets.V5));
                assertTrue(
                        resent.stream().allMatch(packet -> packet.dup() == sessionPresent),
                        () -> "DUP is for a session that knows the first one: " + resent);
            }
            assertEquals(1, fixture.proxy.count(Meter.UPLINK_RESUME_LOST));
            uplink.letThrough(Packet.PUBLISH).releaseAll();
            fixture.awaitDelivered(30);
        }
    }

    @Test
    void pubrelIsNotDelayedByAFullWindow() {
        try (UplinkFixture fixture = new UplinkFixture(Packets.V5, directory, "--uplink-window", "5")) {
            fixture.broker.uplink().keepBack(Packet.PUBREL);
            fixture.publish(2, 0, 20);
            fixture.broker.awaitUplink(Packet.PUBREL, 5);
            assertEquals(5, fixture.broker.uplinkReceived(Packet.PUBLISH).size(), "a flow is open until its PUBCOMP");
            fixture.broker.uplink().letThrough(Packet.PUBREL).releaseAll();
            fixture.awaitDelivered(20);
            assertEquals(
                    IntStream.rangeClosed(1, 20).boxed().toList(),
                    UplinkFixture.ids(fixture.broker.uplinkReceived(Packet.PUBREL)));
        }
    }
}
