package io.holdfast.proxy.connection;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.AutoAnswers;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ProxyUnderTest;
import io.holdfast.proxy.testing.RawMqttClient;
import io.holdfast.proxy.testing.ScriptedBroker;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bytes that broke other software, sent through the proxy. The number is that of the case (COD-02 …). */
class BytesFromTheFieldTest {
    private static final int LIMIT = 65_536;

    @TempDir
    Path directory;

    private final AutoAnswers answers = new AutoAnswers();
    private ScriptedBroker broker;
    private ProxyUnderTest proxy;

    @BeforeEach
    void startBroker() {
        broker = ScriptedBroker.start(answers);
    }

    private void startProxy(String... flags) {
        proxy = ProxyUnderTest.start(broker.url(), directory, flags);
    }

    @AfterEach
    void stop() {
        proxy.close();
        broker.close();
    }

    /** COD-02: the limit is held against the one packet, not against what is buffered. */
    @ParameterizedTest
    @ValueSource(ints = {Packets.V311, Packets.V5})
    void manySmallPacketsInOneWriteAreNotTooLarge(int version) {
        startProxy("--route", "hold #", "--max-packet-size", "" + LIMIT);
        byte[] small = Packets.publishFlags(version, 0, 0, "t", Packets.NONE, new byte[96]);
        int count = 2_000;
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), version, "many", true)) {
            device.send(Packets.concat(
                    Packets.concat(Collections.nCopies(count, small).toArray(new byte[0][])), Packets.pingreq()));
            device.expect(Packet.PINGRESP);
        }
        await().until(() -> proxy.count(Meter.QOS0_FORWARDED)
                        + proxy.count(Meter.DROPPED_QOS0_SLOW)
                        + proxy.count(Meter.DROPPED_QOS0_OFFLINE)
                == count);
    }

    /** COD-03: what is advertised is what is enforced, to the byte, and counts the whole packet. */
    @ParameterizedTest
    @CsvSource({"5, hold #", "5, outbox #", "4, hold #", "4, outbox #"})
    void theMaximumPacketSizeIsExact(int version, String route) {
        startProxy("--route", route, "--max-packet-size", "" + LIMIT);
        try (RawMqttClient device = RawMqttClient.open(proxy.port())) {
            device.send(Packets.connect(version, "exact", true));
            Packet connack = device.expect(Packet.CONNACK);
            if (version == Packets.V5) {
                assertTrue(connack.hex().contains(String.format("27%08x", LIMIT)), connack::hex);
            }
            device.send(ofSize(version, LIMIT - 1, 1));
            device.expect(Packet.PUBACK, 1);
            device.send(ofSize(version, LIMIT, 2));
            device.expect(Packet.PUBACK, 2);
            device.send(ofSize(version, LIMIT + 1, 3));
            if (version == Packets.V5) {
                assertEquals("e00195", device.expect(Packet.DISCONNECT).hex());
            }
            device.expectClosed(RawMqttClient.PATIENCE);
        }
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), version, "exact", true)) {
            device.send(ofSize(version, LIMIT + 4, 4)); // a Remaining Length of the limit
            if (version == Packets.V5) {
                assertEquals("e00195", device.expect(Packet.DISCONNECT).hex());
            }
            device.expectClosed(RawMqttClient.PATIENCE);
        }
    }

    private static byte[] ofSize(int version, int size, int packetId) {
        int overhead = Packets.publishFlags(version, 2, packetId, "t", Packets.NONE, new byte[20_000]).length - 20_000;
        byte[] packet = Packets.publishFlags(version, 2, packetId, "t", Packets.NONE, new byte[size - overhead]);
        assertEquals(size, packet.length);
        return packet;
    }

    /** COD-04: no hidden limit below the stated ones. */
    @ParameterizedTest
    @CsvSource({"5, hold #", "5, outbox #", "4, hold #", "4, outbox #", "3, hold #"})
    void largePayloadsAndLongSubscribesPass(int version, String route) {
        startProxy("--route", route);
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), version, "large", true)) {
            device.send(Packets.publishFlags(version, 2, 1, "t", Packets.NONE, new byte[9_000]));
            device.expect(Packet.PUBACK, 1);
            device.send(Packets.publishFlags(version, 2, 2, "t", Packets.NONE, new byte[256 * 1024]));
            device.expect(Packet.PUBACK, 2);
            device.send(subscribe(
                    version,
                    3,
                    IntStream.range(0, 500)
                            .mapToObj(i -> "some/long/filter/number/" + i)
                            .toList()));
            assertEquals(500, device.expect(Packet.SUBACK, 3).body().length - (version == Packets.V5 ? 3 : 2));
        }
        assertEquals(0, proxy.count(Meter.DROPPED_CAP_PAYLOAD));
    }

    private static byte[] subscribe(int version, int packetId, List<String> filters) {
        byte[] one = Packets.subscribe(version, packetId, "x", 0);
        int head = version == Packets.V5 ? 3 : 2;
        byte[][] parts = filters.stream()
                .map(filter -> {
                    byte[] whole = Packets.subscribe(version, packetId, filter, 1);
                    int length = filter.length() + 3;
                    return Arrays.copyOfRange(whole, whole.length - length, whole.length);
                })
                .toArray(byte[][]::new);
        byte[] body = Packets.concat(Arrays.copyOfRange(one, 2, 2 + head), Packets.concat(parts));
        int rest = body.length;
        StringBuilder length = new StringBuilder();
        do {
            length.append(String.format("%02x", rest > 0x7F ? (rest & 0x7F) | 0x80 : rest));
            rest >>= 7;
        } while (rest > 0);
        return Packets.concat(Packets.hex("82" + length), body);
    }

    /** COD-10: two ill-formed Client Identifiers that would both become "dev" and U+FFFD are nobody's. */
    @Test
    void illFormedClientIdentifiersTakeNothingOver() {
        startProxy("--route", "hold #");
        try (RawMqttClient replaced = RawMqttClient.connect(proxy.port(), Packets.V311, "dev\uFFFD", true)) {
            for (String last : List.of("ff", "fe")) {
                try (RawMqttClient bad = RawMqttClient.open(proxy.port())) {
                    bad.sendHex("10 10 00 04 4d 51 54 54 04 02 00 3c 00 04 64 65 76 " + last);
                    bad.expectClosed(RawMqttClient.PATIENCE);
                }
            }
            replaced.send(Packets.pingreq());
            replaced.expect(Packet.PINGRESP);
        }
        assertEquals(1, broker.received(Packet.CONNECT).size());
        assertEquals(0, proxy.count(Meter.CLOSED_TAKEN_OVER));
    }

    /** COD-10: the byte order mark is a character. */
    @Test
    void aByteOrderMarkStays() {
        startProxy("--route", "hold #");
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V311, "bom", true)) {
            device.sendHex("30 07 00 04 ef bb bf 61 31");
            List<Packet> passed = broker.awaitReceived(Packet.PUBLISH, 1, Duration.ofSeconds(5));
            assertEquals("30070004efbbbf6131", passed.get(0).hex());
        }
    }

    /** COD-15. */
    @Test
    void aLongClientIdentifierOfMqtt31IsTheBrokersMatter() {
        startProxy("--route", "hold #");
        String connect = "10 27 00 06 4d 51 49 73 64 70 03 02 00 3c 00 19 67 61 74 65 77 61 79 2d 30 31 32 33 34 35 36"
                + " 37 38 39 2d 61 62 63 64 65 66";
        try (RawMqttClient device = RawMqttClient.open(proxy.port())) {
            device.sendHex(connect);
            assertEquals("20020000", device.expect(Packet.CONNACK).hex());
            assertEquals(
                    connect.replace(" ", ""),
                    broker.received(Packet.CONNECT).get(0).hex());
        }
        answers.on(Packet.CONNECT, (connection, packet) -> Packets.hex("20 02 00 02"));
        try (RawMqttClient device = RawMqttClient.open(proxy.port())) {
            device.sendHex(connect);
            assertEquals("20020002", device.expect(Packet.CONNACK).hex());
            device.expectClosed(RawMqttClient.PATIENCE);
        }
    }

    /** COD-17: deep topics are refused at once; no stack and no matcher grows with them. */
    @ParameterizedTest
    @ValueSource(ints = {Packets.V311, Packets.V5})
    void topicsOfThousandsOfLevelsAreRefused(int version) {
        startProxy("--route", "hold #", "--max-packet-size", "70000000");
        String slashes = "/".repeat(65_535);
        String pluses = "+/".repeat(32_767) + "+";
        try (RawMqttClient neighbour = RawMqttClient.connect(proxy.port(), version, "neighbour", true)) {
            refuses(version, Packets.publish(version, 0, 0, slashes, ""), "e00190");
            refuses(version, Packets.subscribe(version, 1, slashes, 0), "e0018f");
            refuses(version, Packets.subscribe(version, 1, pluses, 0), "e0018f");
            refuses(version, Packets.unsubscribe(version, 1, pluses), "e0018f");
            refuses(version, subscribe(version, 1, Collections.nCopies(1_000, pluses)), "e0018f");
            neighbour.send(Packets.pingreq());
            neighbour.expect(Packet.PINGRESP);
        }
    }

    private void refuses(int version, byte[] packet, String disconnect) {
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), version, "deep", true)) {
            device.send(packet);
            if (version == Packets.V5) {
                assertEquals(disconnect, device.expect(Packet.DISCONNECT).hex());
            }
            device.expectClosed(RawMqttClient.PATIENCE);
        }
    }

    /** COD-20: what the broker says with a reason of 0 and User Properties arrives as it was sent. */
    @Test
    void propertiesOfAcknowledgementsPass() {
        String properties = "00 07 26 00 01 6b 00 01 76";
        startProxy("--route", "hold #");
        answers.on(
                        Packet.PUBLISH,
                        (connection, packet) ->
                                Packets.hex((packet.qos() == 1 ? "40" : "50") + "0b 00 01 " + properties))
                .on(Packet.PUBREL, (connection, packet) -> Packets.hex("70 0b 00 01 " + properties))
                .on(
                        Packet.SUBSCRIBE,
                        (connection, packet) -> Packets.hex(
                                "90 04 00 01 00 00 62 0b 00 01 " + properties + "e0 09 8e 07 26 00 01 6b 00 01 76"));
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V5, "props", true)) {
            device.send(Packets.publish(Packets.V5, 1, 1, "t", "m"));
            assertEquals(
                    "400b0001000726" + "00016b000176",
                    device.expect(Packet.PUBACK).hex());
            device.send(Packets.publish(Packets.V5, 2, 1, "t", "m"));
            assertEquals(
                    "500b0001000726" + "00016b000176",
                    device.expect(Packet.PUBREC).hex());
            device.sendHex("62 0b 00 01 " + properties);
            assertEquals(
                    "620b0001000726" + "00016b000176",
                    broker.awaitReceived(Packet.PUBREL, 1, Duration.ofSeconds(5))
                            .get(0)
                            .hex());
            assertEquals(
                    "700b0001000726" + "00016b000176",
                    device.expect(Packet.PUBCOMP).hex());
            device.send(Packets.subscribe(Packets.V5, 1, "a", 0));
            device.expect(Packet.SUBACK);
            assertEquals(
                    "620b0001000726" + "00016b000176",
                    device.expect(Packet.PUBREL).hex());
            assertEquals(
                    "e0098e0726" + "00016b000176",
                    device.expect(Packet.DISCONNECT).hex());
        }
    }

    /** COD-21: all eight bits of a refused subscription reach the device, and it is not subscribed again. */
    @ParameterizedTest
    @ValueSource(strings = {"87", "9e"})
    void aRefusedSubscriptionIsNotSubscribedAgain(String code) {
        startProxy("--route", "outbox #");
        answers.on(Packet.SUBSCRIBE, (connection, packet) -> Packets.hex("90 04 00 01 00 " + code));
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V5, "refused", true)) {
            device.send(Packets.subscribe(Packets.V5, 1, "a", 0));
            assertEquals("9004000100" + code, device.expect(Packet.SUBACK).hex());
            broker.resetAll();
            await().atMost(Duration.ofSeconds(10)).until(() -> proxy.count(Meter.LINK_RESUBSCRIBED) == 1);
            assertEquals(1, broker.received(Packet.SUBSCRIBE).size());
        }
    }

    /** A subscription that the broker refused to end is one still, after a redial too. */
    @Test
    void anUnsubscribeThatFailedEndsNothing() {
        startProxy("--route", "outbox #");
        answers.on(Packet.UNSUBSCRIBE, (connection, packet) -> Packets.hex("b0 04 00 02 00 80"));
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V5, "kept", true)) {
            device.send(Packets.subscribe(Packets.V5, 1, "a", 0));
            device.expect(Packet.SUBACK, 1);
            device.send(Packets.unsubscribe(Packets.V5, 2, "a"));
            device.expect(Packet.UNSUBACK, 2);
            broker.resetAll();
            broker.awaitReceived(Packet.SUBSCRIBE, 2, Duration.ofSeconds(10));
        }
    }
}
