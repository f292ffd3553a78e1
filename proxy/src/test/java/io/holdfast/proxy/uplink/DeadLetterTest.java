package io.holdfast.proxy.uplink;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the broker refuses, does not take, or what comes too late: to the dead letters, or dropped and counted. */
class DeadLetterTest {
    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({"1, 0x87", "2, 0x87", "1, 0x90", "2, 0x99", "1, 0x95"})
    void refusedForGoodGoesToTheDeadLettersOnce(int qos, String code) {
        try (UplinkFixture fixture = new UplinkFixture(Packets.V5, directory)) {
            refuse(fixture, "m1", Integer.decode(code), Integer.MAX_VALUE);
            fixture.publish(qos, 0, 3);
            await().until(() -> fixture.proxy.ledgerTotal("pending") == 0);
            assertEquals(1, fixture.proxy.ledgerTotal("dead_lettered"));
            assertEquals(2, fixture.proxy.ledgerTotal("delivered"));
            assertEquals(1, fixture.broker.uplinkConnections().size(), "the connection stays");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--on-permanent-failure=drop", "--route=outbox:on-permanent-failure=drop #"})
    void refusedForGoodIsDroppedWhereTheOperatorSaysSo(String flag) {
        try (UplinkFixture fixture = new UplinkFixture(Packets.V5, directory, flag)) {
            refuse(fixture, "m1", 0x87, Integer.MAX_VALUE);
            fixture.publish(1, 0, 3);
            await().until(() -> fixture.proxy.ledgerTotal("pending") == 0);
            assertEquals(1, fixture.proxy.ledgerTotal("permanent_failure"));
            assertEquals(0, fixture.proxy.ledgerTotal("dead_lettered"));
        }
    }

    /** The seed's rule: attempts AND time. */
    @Test
    void refusedForATimeIsGivenUpOnlyWhenAttemptsAndBudgetAreUsedUp() {
        try (UplinkFixture fixture =
                new UplinkFixture(Packets.V5, directory, "--max-replay-attempts", "3", "--replay-budget", "1s")) {
            AtomicInteger refusals = refuse(fixture, "m1", 0x97, Integer.MAX_VALUE);
            fixture.publish(1, 0, 3);
            await().atMost(UplinkFixture.SOON).until(() -> fixture.proxy.ledgerTotal("pending") == 0);
            assertEquals(1, fixture.proxy.ledgerTotal("dead_lettered"));
            assertTrue(refusals.get() > 3, () -> refusals + " attempts");
        }
    }

    @Test
    void attemptsAloneDoNotGiveUp() {
        try (UplinkFixture fixture =
                new UplinkFixture(Packets.V5, directory, "--max-replay-attempts", "1", "--replay-budget", "15m")) {
            refuse(fixture, "m1", 0x97, 4);
            fixture.publish(2, 0, 3);
            fixture.awaitDelivered(3);
            assertEquals(0, fixture.proxy.ledgerTotal("dead_lettered"));
        }
    }

    @ParameterizedTest
    @CsvSource({"dead-letter, dead_lettered", "drop, expired"})
    void expiredInAnOutageNeverGoesOut(String policy, String term) {
        try (UplinkFixture fixture = UplinkFixture.refused(directory, "--on-expired", policy);
                RawMqttClient device = RawMqttClient.connect(fixture.proxy.port(), Packets.V5, "d", true)) {
            byte[] oneSecond = Packets.property32(0x02, 1);
            for (int id = 1; id <= 5; id++) {
                device.send(Packets.publishFlags(Packets.V5, 2, id, "t", oneSecond, new byte[1]));
                device.expect(Packet.PUBACK, id);
            }
            await().atMost(UplinkFixture.SOON).until(() -> fixture.proxy.ledgerTotal(term) == 5); // still away
            device.send(Packets.publishFlags(Packets.V5, 2, 6, "t", Packets.NONE, new byte[1]));
            device.expect(Packet.PUBACK, 6);
            fixture.broker.acceptUplink();
            fixture.awaitDelivered(1);
            assertEquals(1, fixture.broker.uplinkReceived(Packet.PUBLISH).size());
        }
    }

    /** MQTT 5 3.2.2.3.4 to 3.2.2.3.6: nothing goes out that the broker said it does not take. */
    @ParameterizedTest
    @CsvSource({"0x24, 1, 1", "0x25, 0, 1", "0x27, 60, 4"})
    void beyondTheBrokersLimitsIsNotSent(String property, int value, int bytes) {
        int id = Integer.decode(property);
        byte[] limit = bytes == 1 ? new byte[] {(byte) id, (byte) value} : Packets.property32(id, value);
        try (UplinkFixture fixture = UplinkFixture.refused(directory);
                RawMqttClient device = RawMqttClient.connect(fixture.proxy.port(), Packets.V5, "d", true)) {
            fixture.broker.uplink().connackProperties(limit);
            device.send(Packets.publishFlags(Packets.V5, 4 | 1, 1, "t", Packets.NONE, new byte[100]));
            device.expect(Packet.PUBREC, 1);
            device.send(Packets.publishFlags(Packets.V5, 2, 2, "t", Packets.NONE, new byte[1]));
            device.expect(Packet.PUBACK, 2);
            fixture.broker.acceptUplink();
            fixture.awaitDelivered(1);
            assertEquals(1, fixture.proxy.ledgerTotal("dead_lettered"));
            assertEquals(
                    List.of(1),
                    fixture.broker.uplinkReceived(Packet.PUBLISH).stream()
                            .map(Packet::qos)
                            .toList());
        }
    }

    @Test
    void theDrainIsPaced() {
        try (UplinkFixture fixture = UplinkFixture.refused(directory, "--drain-rate", "20")) {
            fixture.publish(1, 0, 12);
            long begin = System.nanoTime();
            fixture.broker.acceptUplink();
            fixture.awaitDelivered(12);
            long ms = (System.nanoTime() - begin) / 1_000_000;
            assertTrue(ms >= 400, () -> "12 messages at 20/s took " + ms + " ms"); // never faster, however slow we are
        }
    }

    @Test
    void deadLettersSurviveARestartAndAreNotSentAgain() {
        try (UplinkFixture fixture = new UplinkFixture(Packets.V5, directory)) {
            refuse(fixture, "m1", 0x87, Integer.MAX_VALUE);
            fixture.publish(2, 0, 3);
            await().until(() -> fixture.proxy.ledgerTotal("pending") == 0);
            assertEquals(0, fixture.proxy.count(Meter.DEAD_LETTER_FAILED));
        }
        try (UplinkFixture fixture = new UplinkFixture(Packets.V5, directory)) {
            fixture.publish(1, 3, 4);
            await().until(() -> fixture.proxy.ledgerTotal("delivered") == 3);
            assertEquals(1, fixture.proxy.ledgerTotal("dead_lettered"));
            assertEquals(
                    List.of("m3"), UplinkFixture.payloads(fixture.broker.uplinkReceived(Packet.PUBLISH), Packets.V5));
        }
    }

    private static AtomicInteger refuse(UplinkFixture fixture, String payload, int code, int times) {
        AtomicInteger refusals = new AtomicInteger();
        fixture.broker
                .uplink()
                .on(
                        Packet.PUBLISH,
                        (connection, publish) -> publish.text(Packets.V5).equals(payload)
                                        && refusals.incrementAndGet() <= times
                                ? Packets.ack(
                                        publish.qos() == 2 ? Packet.PUBREC : Packet.PUBACK, publish.packetId(), code)
                                : null);
        return refusals;
    }
}
