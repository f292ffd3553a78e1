package io.holdfast.proxy.connection;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.holdfast.proxy.guard.ClosingLog;
import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.LinkAndUplinkBroker;
import io.holdfast.proxy.testing.LogLines;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ProxyUnderTest;
import io.holdfast.proxy.testing.RawMqttClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * P12: what breaks the protocol closes that connection, with the right answer, one log line, one count; the broker sees
 * nothing of it and the neighbour does not notice.
 */
class ProtocolErrorsOfDevicesTest {
    private static final String METHOD = "15 00 01 6d";
    private static final AtomicInteger NUMBER = new AtomicInteger();

    @TempDir
    static Path directory;

    private static LinkAndUplinkBroker broker;
    private static ProxyUnderTest proxy;
    private static LogLines log;
    private static RawMqttClient neighbour;

    @BeforeAll
    static void start() {
        broker = LinkAndUplinkBroker.start();
        proxy = ProxyUnderTest.start(
                broker.url(),
                directory,
                LinkAndUplinkBroker.UPLINK_FLAG,
                LinkAndUplinkBroker.UPLINK,
                "--route",
                "hold h/#",
                "--route",
                "outbox #");
        log = LogLines.of(ClosingLog.class);
        neighbour = RawMqttClient.connect(proxy.port(), Packets.V5, "neighbour", true);
    }

    @AfterAll
    static void stop() {
        neighbour.close();
        log.close();
        proxy.close();
        broker.close();
    }

    @ParameterizedTest(name = "{2}: {0}")
    @CsvSource({
        "10 0d 00 04 4d 51 54 54 05 02 00 3c 00 00 00, 82, a second CONNECT [MQTT-3.1.0-2]",
        "20 03 00 00 00, 82, CONNACK from a client",
        "90 04 00 01 00 00, 82, SUBACK from a client",
        "b0 04 00 01 00 00, 82, UNSUBACK from a client",
        "d0 00, 82, PINGRESP from a client",
        "00 00, 82, packet type 0",
        "c1 00, 81, reserved flags [MQTT-2.1.3-1]",
        "c0 80 00, 81, a Remaining Length of more bytes than needed [MQTT-1.5.5-1]",
        "30 ff ff ff ff 7f, 81, a Remaining Length of five bytes",
        "30 ff ff ff 7f, 95, more than the Maximum Packet Size [MQTT-3.2.2-15]",
        "36 06 00 01 61 00 01 00, 81, QoS 3 [MQTT-3.3.1-4]",
        "38 04 00 01 61 00, 81, DUP with QoS 0 [MQTT-3.3.1-2]",
        "32 06 00 01 61 00 00 00, 82, Packet Identifier 0 [MQTT-2.2.1-3]",
        "30 04 00 01 23 00, 81, a wildcard in a Topic Name [MQTT-3.3.2-2]",
        "30 04 00 01 ff 00, 81, ill-formed UTF-8 [MQTT-1.5.4-1]",
        "30 05 00 02 61 00 00, 81, U+0000 [MQTT-1.5.4-2]",
        "30 03 00 00 00, 82, neither Topic Name nor Topic Alias [MQTT-4.7.3-1]",
        "30 06 00 01 61 02 0b 01, 82, a Subscription Identifier [MQTT-3.3.4-6]",
        "30 08 00 01 61 04 01 00 01 01, 82, Payload Format Indicator twice",
        "30 06 00 01 61 02 01 02, 82, Payload Format Indicator 2",
        "30 08 00 01 61 04 08 00 01 2b, 82, a wildcard in the Response Topic [MQTT-3.3.2-14]",
        "30 06 00 01 61 02 24 01, 81, a property of CONNACK",
        "30 0b 00 01 61 07 26 00 01 ff 00 01 76, 81, an ill-formed User Property name [MQTT-1.5.7-1]",
        "30 0b 00 01 61 07 26 00 01 6b 00 01 ff, 81, an ill-formed User Property value [MQTT-1.5.7-1]",
        "30 08 00 01 61 04 08 00 01 ff, 81, an ill-formed Response Topic [MQTT-3.3.2-13]",
        "30 08 00 01 61 04 03 00 01 ff, 81, an ill-formed Content Type [MQTT-3.3.2-19]",
        "30 07 00 01 61 03 23 00 00, 94, Topic Alias 0 [MQTT-3.3.2-8]",
        "30 07 00 01 61 03 23 ff ff, 94, Topic Alias above the maximum [MQTT-3.3.2-9]",
        "80 07 00 01 00 00 01 61 00, 81, SUBSCRIBE with other flags [MQTT-3.8.1-1]",
        "82 03 00 01 00, 82, SUBSCRIBE without a Topic Filter [MQTT-3.8.3-2]",
        "82 07 00 01 00 00 01 61 03, 81, SUBSCRIBE with QoS 3",
        "82 07 00 01 00 00 01 61 c0, 81, reserved Subscription Options [MQTT-3.8.3-5]",
        "82 08 00 01 00 00 02 61 23 00, 81, # within a level [MQTT-4.7.1-1]",
        "82 10 00 01 00 00 0a 24 73 68 61 72 65 2f 67 2f 61 04, 82, No Local on $share [MQTT-3.8.3-4]",
        "82 0f 00 01 00 00 09 24 73 68 61 72 65 2f 2f 61 00, 82, an empty share name [MQTT-4.8.2-1]",
        "82 10 00 01 00 00 0a 24 73 68 61 72 65 2f 2b 2f 61 00, 82, a wildcard share name [MQTT-4.8.2-2]",
        "82 09 00 01 02 0b 00 00 01 61 00, 82, Subscription Identifier 0",
        "a2 03 00 01 00, 82, UNSUBSCRIBE without a Topic Filter [MQTT-3.10.3-2]",
        "a0 06 00 01 00 00 01 61, 81, UNSUBSCRIBE with other flags [MQTT-3.10.1-1]",
        "40 02 00 00, 82, PUBACK 0",
        "40 03 00 01 92, 82, a Reason Code of PUBREL in PUBACK [MQTT-3.4.2-1]",
        "50 03 00 01 01, 82, an unknown Reason Code of PUBREC [MQTT-3.5.2-1]",
        "60 02 00 01, 81, PUBREL with other flags [MQTT-3.6.1-1]",
        "62 03 00 01 80, 82, an unknown Reason Code of PUBREL [MQTT-3.6.2-1]",
        "70 03 00 01 80, 82, an unknown Reason Code of PUBCOMP [MQTT-3.7.2-1]",
        "f0 06 18 04 15 00 01 6d, 82, AUTH without a method in CONNECT [MQTT-4.12.0-7]",
        "f1 06 18 04 15 00 01 6d, 81, AUTH with other flags [MQTT-3.15.1-1]",
        "e1 00, 81, DISCONNECT with other flags [MQTT-3.14.1-1]",
        "e0 04 00 02 24 01, 81, DISCONNECT with a property of CONNACK",
        "e0 07 00 05 11 00 00 00 01, 82, DISCONNECT raises Session Expiry from 0",
        "e0 01 8e, '', DISCONNECT with a code of a server [MQTT-3.14.2-1]: it has left"
    })
    void aV5DeviceIsToldWhyAndClosed(String hex, String reason, String what) {
        closes(Packets.V5, hex, reason.isEmpty() ? "" : "e001" + reason);
    }

    @ParameterizedTest(name = "{2}: {1} in version {0}")
    @CsvSource({
        "4, 10 0c 00 04 4d 51 54 54 04 02 00 3c 00 00, a second CONNECT",
        "4, d0 00, PINGRESP from a client",
        "4, 00 00, packet type 0",
        "4, f0 00, packet type 15",
        "3, f0 00, packet type 15",
        "4, c0 02 d0 00, PINGREQ with a body",
        "4, 36 05 00 01 61 00 01, QoS 3",
        "4, 38 03 00 01 61, DUP with QoS 0",
        "4, 32 05 00 01 61 00 00, Packet Identifier 0",
        "4, 30 02 00 00, an empty Topic Name",
        "4, 30 03 00 01 2b, a wildcard in a Topic Name",
        "3, 30 03 00 01 2b, a wildcard in a Topic Name",
        "4, 30 07 00 04 61 2f c0 af 31, overlong UTF-8",
        "4, 30 08 00 05 61 2f ed a0 80 31, a surrogate",
        "4, 8a 06 00 01 00 01 61 00, SUBSCRIBE with DUP",
        "4, 6a 02 00 01, PUBREL with DUP",
        "4, 82 02 00 01, SUBSCRIBE without a Topic Filter",
        "4, 82 06 00 01 00 01 61 03, QoS 3",
        "4, 82 06 00 01 00 01 61 04, reserved bits [MQTT-3-8.3-4]",
        "4, a2 02 00 01, UNSUBSCRIBE without a Topic Filter",
        "4, 40 03 00 01 00, PUBACK with a Reason Code",
        "4, e0 02 c0 00, DISCONNECT with a body",
        "4, e0 01 00, DISCONNECT with a Reason Code",
        "3, 80 06 00 01 00 01 61 00, SUBSCRIBE with QoS 0"
    })
    void anOlderDeviceIsClosed(int version, String hex, String what) {
        closes(version, hex, "");
    }

    private static void closes(int version, String hex, String answer) {
        String client = "d" + NUMBER.incrementAndGet();
        long counted = proxy.count(Meter.CLOSED_PROTOCOL);
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), version, client, true)) {
            device.sendHex(hex);
            if (!answer.isEmpty()) {
                assertEquals(answer, device.expect(Packet.DISCONNECT).hex());
            }
            device.expectClosed(RawMqttClient.PATIENCE);
        }
        assertOneLineAndOneCount("client '" + client + "'", counted);
        assertEquals(
                1,
                broker.broker().received(Packet.CONNECT).stream()
                        .filter(connect -> connect.clientId().equals(client))
                        .count());
        assertEquals(
                0,
                broker.linkConnections().stream()
                        .filter(packets -> packets.get(0).clientId().equals(client))
                        .mapToInt(packets -> packets.size() - 1)
                        .sum(),
                "packets to the broker behind CONNECT");
    }

    private static void assertOneLineAndOneCount(String who, long countedBefore) {
        await().pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(2))
                .until(() -> !log.with(who).isEmpty());
        assertEquals(1, log.with(who).size(), () -> String.join("\n", log.with(who)));
        assertEquals(countedBefore + 1, proxy.count(Meter.CLOSED_PROTOCOL));
        neighbour.send(Packets.pingreq());
        neighbour.expect(Packet.PINGRESP);
    }

    /** The answer to a wrong CONNECT is no answer: 3.1.1 forbids one [MQTT-3.1.4-1], v5 leaves it open. */
    @ParameterizedTest(name = "{1}: {0}")
    @CsvSource({
        "c0 00, PINGREQ before CONNECT [MQTT-3.1.0-1]",
        "20 02 00 00, CONNACK",
        "1f 0e 00 04 4d 51 54 54 04 02 00 3c 00 02 63 31, CONNECT with flags",
        "10 0c 00 04 4d 51 54 54 04 03 00 3c 00 00, the reserved bit [MQTT-3.1.2-3]",
        "10 0d 00 04 4d 51 54 54 05 03 00 3c 00 00 00, the reserved bit in v5",
        "10 0c 00 04 4d 51 54 54 04 1e 00 3c 00 00, Will QoS 3",
        "10 0c 00 04 4d 51 54 54 04 22 00 3c 00 00, Will Retain but no Will",
        "10 0c 00 04 4d 51 54 54 04 0a 00 3c 00 00, Will QoS but no Will",
        "10 10 00 04 4d 51 54 54 04 42 00 3c 00 01 63 00 01 70, a Password but no User Name [MQTT-3.1.2-22]",
        "10 15 00 04 4d 51 54 54 04 82 00 3c 00 02 63 31 00 01 75 00 02 70 77, trailing bytes (COD-13)",
        "10 10 00 04 4d 51 54 54 04 02 00 3c 00 04 64 65 76 ff, an ill-formed Client Identifier",
        "10 0e 00 04 4d 51 54 58 04 02 00 3c 00 02 63 31, an unknown Protocol Name",
        "10 10 00 04 4d 51 54 54 05 02 00 3c 03 21 00 00 00 00, Receive Maximum 0",
        "10 12 00 04 4d 51 54 54 05 02 00 3c 05 27 00 00 00 00 00 00, Maximum Packet Size 0",
        "10 0f 00 04 4d 51 54 54 05 02 00 3c 02 17 02 00 00, Request Problem Information 2",
        "10 0f 00 04 4d 51 54 54 05 02 00 3c 02 19 02 00 00, Request Response Information 2",
        "10 11 00 04 4d 51 54 54 05 02 00 3c 04 17 01 17 01 00 00, a property twice",
        "10 11 00 04 4d 51 54 54 05 02 00 3c 04 16 00 01 61 00 00, Authentication Data but no Method"
    })
    void aWrongConnectIsClosedWithoutAnAnswer(String hex, String what) {
        long counted = proxy.count(Meter.CLOSED_PROTOCOL);
        int sent = broker.broker().received(Packet.CONNECT).size();
        try (RawMqttClient device = RawMqttClient.open(proxy.port())) {
            device.sendHex(hex);
            device.expectClosed(RawMqttClient.PATIENCE);
            assertOneLineAndOneCount("127.0.0.1:" + device.localPort(), counted);
        }
        assertEquals(sent, broker.broker().received(Packet.CONNECT).size());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "10 0e 00 04 4d 51 54 54 06 02 00 3c 00 02 63 31",
                "10 0e 00 04 4d 51 54 54 03 02 00 3c 00 02 63 31",
                "10 10 00 06 4d 51 49 73 64 70 04 02 00 3c 00 02 63 31"
            })
    void anUnknownLevelIsAnsweredThenClosed(String hex) {
        long counted = proxy.count(Meter.CLOSED_PROTOCOL);
        try (RawMqttClient device = RawMqttClient.open(proxy.port())) {
            device.sendHex(hex);
            assertEquals("20020001", device.expect(Packet.CONNACK).hex());
            device.expectClosed(RawMqttClient.PATIENCE);
            assertOneLineAndOneCount("127.0.0.1:" + device.localPort(), counted);
        }
    }

    /** A server may not send DISCONNECT before CONNACK [MQTT-3.14.0-1]: the answer is a CONNACK that refuses. */
    @ParameterizedTest
    @CsvSource({
        "c1 00, 2003008100", // flags
        "f0 06 19 04 15 00 01 6d, 2003008200", // re-authentication before CONNACK
        "f0 06 18 04 15 00 01 78, 2003008200", // another method [MQTT-4.12.0-5]
        "c0 00, 2003008200" // [MQTT-3.1.2-30]
    })
    void beforeConnackTheAnswerIsAConnack(String hex, String answer) {
        broker.link().keepBack(Packet.CONNECT);
        long counted = proxy.count(Meter.CLOSED_PROTOCOL);
        try (RawMqttClient device = RawMqttClient.open(proxy.port())) {
            device.send(new Packets.Connect(Packets.V5, "early" + NUMBER.incrementAndGet())
                    .properties(Packets.hex(METHOD))
                    .bytes());
            device.sendHex(hex);
            assertEquals(answer, device.expect(Packet.CONNACK).hex());
            device.expectClosed(RawMqttClient.PATIENCE);
            assertOneLineAndOneCount("127.0.0.1:" + device.localPort(), counted);
        } finally {
            broker.link().letThrough(Packet.CONNECT).dropHeld();
        }
    }

    @Test
    void anAuthenticationExchangePassesUnchanged() {
        byte[] auth = Packets.hex("f0 09 18 07 15 00 01 6d 16 00 00");
        broker.link()
                .on(Packet.CONNECT, (connection, connect) -> auth)
                .on(Packet.AUTH, (connection, packet) -> Packets.connack(Packets.V5, false, Packets.hex(METHOD)));
        try (RawMqttClient device = RawMqttClient.open(proxy.port())) {
            device.send(new Packets.Connect(Packets.V5, "auth")
                    .properties(Packets.hex(METHOD))
                    .bytes());
            assertEquals(
                    "f009180715" + "00016d160000", device.expect(Packet.AUTH).hex());
            device.send(auth);
            device.expect(Packet.CONNACK);
            byte[] again = Packets.hex("f0 06 19 04 15 00 01 6d");
            broker.link().on(Packet.AUTH, (connection, packet) -> Packets.hex("f0 00"));
            device.send(again);
            assertEquals("f000", device.expect(Packet.AUTH).hex());
        } finally {
            broker.link().on(Packet.CONNECT, (connection, connect) -> null).on(Packet.AUTH, (c, p) -> null);
        }
    }

    /** 3.1 section 2.1: PUBREL, SUBSCRIBE and UNSUBSCRIBE are messages of QoS 1, and are retried with DUP. */
    @Test
    void aMqtt31DeviceMayRetryWithDup() {
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V31, "old", true)) {
            device.sendHex("8a 06 00 01 00 01 61 01");
            device.expect(Packet.SUBACK, 1);
            device.sendHex("aa 05 00 02 00 01 61");
            device.expect(Packet.UNSUBACK, 2);
            device.send(Packets.publish(Packets.V31, 2, 3, "t", "m"));
            device.expect(Packet.PUBREC, 3);
            device.sendHex("6a 02 00 03");
            device.expect(Packet.PUBCOMP, 3);
        }
    }

    /** [MQTT-3.1.2-24]: CONNACK with the proxy's own limits would be 17 bytes. */
    @Test
    void aDeviceThatTakesNoConnackIsClosedWithoutOne() {
        try (RawMqttClient device = RawMqttClient.open(proxy.port())) {
            device.send(new Packets.Connect(Packets.V5, "tiny")
                    .properties(Packets.property32(0x27, 10))
                    .bytes());
            device.expectClosed(RawMqttClient.PATIENCE);
        }
        assertEquals(1, log.with("'tiny'").size());
    }

    @Test
    void aDeviceThatTakesNoDisconnectIsClosedWithoutOne() {
        broker.link().keepBack(Packet.CONNECT);
        try (RawMqttClient device = RawMqttClient.open(proxy.port())) {
            device.send(new Packets.Connect(Packets.V5, "smallest")
                    .properties(Packets.property32(0x27, 2))
                    .bytes());
            device.sendHex("c1 00");
            device.expectClosed(RawMqttClient.PATIENCE);
        } finally {
            broker.link().letThrough(Packet.CONNECT).dropHeld();
        }
        assertEquals(1, log.with("'smallest'").size());
    }
}
