package io.holdfast.proxy.link;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.AutoAnswers;
import io.holdfast.proxy.testing.LogLines;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ProxyUnderTest;
import io.holdfast.proxy.testing.RawMqttClient;
import io.holdfast.proxy.testing.ScriptedBroker;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The proxy is a client on a session link: what the broker breaks ends the link with the right v5 reason code, one log line
 * and one count. Nothing wrong is passed on; the device, which is not at fault, is told that the server is busy.
 */
class BrokerBreaksTheProtocolTest {
    private static final AtomicInteger NUMBER = new AtomicInteger();
    private static final String BUSY = "e00189";

    @TempDir
    static Path directory;

    private static final AutoAnswers ANSWERS = new AutoAnswers();
    private static ScriptedBroker broker;
    private static ProxyUnderTest proxy;
    private static LogLines log;

    @BeforeAll
    static void start() {
        broker = ScriptedBroker.start(ANSWERS);
        proxy = ProxyUnderTest.start(broker.url(), directory, "--route", "hold #");
        log = LogLines.of(SessionLink.class);
    }

    @AfterAll
    static void stop() {
        log.close();
        proxy.close();
        broker.close();
    }

    @BeforeEach
    void behave() {
        for (int type : new int[] {Packet.CONNECT, Packet.SUBSCRIBE, Packet.UNSUBSCRIBE}) {
            ANSWERS.on(type, (connection, packet) -> null);
        }
    }

    @ParameterizedTest(name = "{2}: {0}")
    @CsvSource({
        "20 03 00 00 00, 82, a second CONNACK [MQTT-3.2.0-2]",
        "10 0d 00 04 4d 51 54 54 05 02 00 3c 00 00 00, 82, CONNECT",
        "82 07 00 01 00 00 01 61 00, 82, SUBSCRIBE",
        "a2 06 00 01 00 00 01 61, 82, UNSUBSCRIBE",
        "c0 00, 82, PINGREQ",
        "d1 00, 81, reserved flags [MQTT-2.1.3-1]",
        "d0 01 00, 81, PINGRESP with a body",
        "90 80 00, 81, a Remaining Length of more bytes than needed",
        "36 06 00 01 61 00 01 00, 81, QoS 3 [MQTT-3.3.1-4]",
        "38 04 00 01 61 00, 81, DUP with QoS 0 [MQTT-3.3.1-2]",
        "32 06 00 01 61 00 00 00, 82, Packet Identifier 0 [MQTT-2.2.1-4]",
        "30 04 00 01 23 00, 81, a wildcard in a Topic Name [MQTT-3.3.2-2]",
        "30 04 00 01 ff 00, 81, ill-formed UTF-8 [MQTT-1.5.4-1]",
        "30 03 00 00 00, 82, neither Topic Name nor Topic Alias",
        "30 07 00 01 61 03 23 00 00, 94, Topic Alias 0 [MQTT-3.3.2-8]",
        "30 06 00 01 61 02 0b 00, 82, Subscription Identifier 0",
        "30 06 00 01 61 02 01 02, 82, Payload Format Indicator 2",
        "30 06 00 01 61 02 24 01, 81, a property of CONNACK",
        "62 02 00 00, 82, PUBREL 0",
        "60 02 00 01, 81, PUBREL with other flags",
        "40 02 00 00, 82, PUBACK 0 (COD-11)",
        "40 03 00 01 01, 82, an unknown Reason Code of PUBACK",
        "90 00, 81, an empty SUBACK",
        "90 04 00 01 00 03, 82, an unknown Reason Code of SUBACK [MQTT-3.9.3-2]",
        "90 05 00 01 00 00 00, 82, two Reason Codes for one Topic Filter [MQTT-3.8.4-6]",
        "b0 04 00 01 00 02, 82, an unknown Reason Code of UNSUBACK [MQTT-3.11.3-2]",
        "e0 07 00 05 11 00 00 00 00, 82, Session Expiry in DISCONNECT [MQTT-3.14.2-2]",
        "e0 01 04, 82, a Reason Code of a client's DISCONNECT",
        "f0 06 18 04 15 00 01 6d, 82, AUTH without a method in CONNECT [MQTT-4.12.0-6]"
    })
    void aV5LinkIsToldWhyAndEnds(String hex, String reason, String what) {
        endsTheLink(Packets.V5, Packets.hex(hex), "e001" + reason);
    }

    @ParameterizedTest(name = "{2}: {1} in version {0}")
    @CsvSource({
        "4, e0 00, DISCONNECT is a client's",
        "3, e0 00, DISCONNECT is a client's",
        "4, f0 00, packet type 15",
        "4, 90 00, an empty SUBACK",
        "4, 90 03 00 01 87, a v5 code in SUBACK [MQTT-3.9.3-2]",
        "4, 90 04 00 01 00 00, two codes for one Topic Filter [MQTT-3.8.4-5]",
        "4, b0 03 00 01 00, UNSUBACK with a code",
        "4, 30 02 00 00, an empty Topic Name",
        "3, 30 03 00 01 2b, a wildcard in a Topic Name",
        "4, 6a 02 00 01, PUBREL with DUP"
    })
    void anOlderLinkEnds(int version, String hex, String what) {
        endsTheLink(version, Packets.hex(hex), "");
    }

    /** What is too large to be there whole is checked as far as it is passed on at once. */
    @Test
    void theBeginningOfAStreamedPublishIsChecked() {
        byte[] topic = "a/#".getBytes(StandardCharsets.UTF_8);
        byte[] large = Packets.publishFlags(
                Packets.V5, 0, 0, new String(topic, StandardCharsets.UTF_8), Packets.NONE, new byte[200_000]);
        endsTheLink(Packets.V5, large, "e00181");
    }

    private static void endsTheLink(int version, byte[] bytes, String disconnect) {
        String client = "d" + NUMBER.incrementAndGet();
        ANSWERS.on(Packet.SUBSCRIBE, (connection, packet) -> bytes);
        long counted = proxy.count(Meter.BROKER_PROTOCOL_ERRORS);
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), version, client, true)) {
            device.send(Packets.subscribe(version, 1, "a", 0));
            if (version == Packets.V5) {
                assertEquals(BUSY, device.expect(Packet.DISCONNECT).hex());
            }
            device.expectClosed(RawMqttClient.PATIENCE);
        }
        List<String> lines = log.with("'" + client + "'");
        assertEquals(1, lines.size(), () -> String.join("\n", lines));
        assertEquals(counted + 1, proxy.count(Meter.BROKER_PROTOCOL_ERRORS));
        if (!disconnect.isEmpty()) {
            await().pollInterval(Duration.ofMillis(5))
                    .untilAsserted(() -> assertEquals(List.of(disconnect), disconnectsOf(client)));
        }
    }

    private static List<String> disconnectsOf(String client) {
        List<ScriptedBroker.Received> all = broker.received();
        int link = all.stream()
                .filter(one -> one.packet().type() == Packet.CONNECT
                        && one.packet().clientId().equals(client))
                .findFirst()
                .orElseThrow()
                .connection();
        return all.stream()
                .filter(one -> one.connection() == link && one.packet().type() == Packet.DISCONNECT)
                .map(one -> one.packet().hex())
                .toList();
    }

    /** The device is told that the server is unavailable: it may come again, and is not at fault. */
    @ParameterizedTest(name = "{2}: {1} in version {0}")
    @CsvSource({
        "5, 20 03 02 00 00, reserved flags of CONNACK [MQTT-3.2.2-1]",
        "5, 20 03 01 00 00, Session Present after Clean Start [MQTT-3.2.2-2]",
        "4, 20 02 01 00, Session Present after a clean session [MQTT-3.2.2-1]",
        "5, 20 03 01 87 00, Session Present and a failure [MQTT-3.2.2-6]",
        "5, 20 03 00 04 00, a Reason Code of DISCONNECT [MQTT-3.2.2-8]",
        "4, 20 02 00 06, an unknown return code",
        "5, 20 02 00 00, a CONNACK of 3.1.1",
        "5, 20 06 00 00 03 21 00 00, Receive Maximum 0",
        "5, 20 05 00 00 02 24 02, Maximum QoS 2",
        "5, 30 04 00 01 61 00, PUBLISH before CONNACK [MQTT-3.2.0-1]",
        "4, d0 00, PINGRESP before CONNACK [MQTT-3.2.0-1]"
    })
    void aWrongConnackRefusesTheDevice(int version, String hex, String what) {
        ANSWERS.on(Packet.CONNECT, (connection, packet) -> Packets.hex(hex));
        String client = "c" + NUMBER.incrementAndGet();
        long counted = proxy.count(Meter.BROKER_PROTOCOL_ERRORS);
        try (RawMqttClient device = RawMqttClient.open(proxy.port())) {
            device.send(Packets.connect(version, client, true));
            assertEquals(
                    version == Packets.V5 ? "2003008800" : "20020003",
                    device.expect(Packet.CONNACK).hex());
            device.expectClosed(RawMqttClient.PATIENCE);
        }
        assertEquals(1, log.with("'" + client + "'").size());
        assertEquals(counted + 1, proxy.count(Meter.BROKER_PROTOCOL_ERRORS));
    }

    /** It may be meant for a request that was given up: it passes, and is counted. */
    @Test
    void anAnswerThatNobodyWaitsForIsCounted() {
        ANSWERS.on(
                Packet.SUBSCRIBE,
                (connection, packet) -> Packets.concat(
                        Packets.ack(Packet.PUBACK, 99),
                        Packets.suback(Packets.V5, Packet.SUBACK, 98, 0),
                        Packets.suback(Packets.V5, Packet.SUBACK, 1, 0)));
        long counted = proxy.count(Meter.LINK_UNEXPECTED_ACK);
        try (RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V5, "unexpected", true)) {
            device.send(Packets.subscribe(Packets.V5, 1, "a", 0));
            device.expect(Packet.SUBACK, 98);
            device.expect(Packet.SUBACK, 1);
        }
        assertEquals(counted + 2, proxy.count(Meter.LINK_UNEXPECTED_ACK));
    }

    /** A device with outbox routes stays; its link is dialled again, and what is unanswered goes out again. */
    @Test
    void aDeviceThatIsKeptNoticesNothing(@TempDir Path other) {
        AutoAnswers answers = new AutoAnswers();
        AtomicInteger links = new AtomicInteger();
        answers.on(
                Packet.SUBSCRIBE,
                (connection, packet) -> links.incrementAndGet() == 1 ? Packets.hex("90 04 00 01 00 55") : null);
        try (ScriptedBroker second = ScriptedBroker.start(answers);
                ProxyUnderTest kept = ProxyUnderTest.start(second.url(), other, "--route", "outbox #");
                RawMqttClient device = RawMqttClient.connect(kept.port(), Packets.V5, "kept", true)) {
            device.send(Packets.subscribe(Packets.V5, 1, "a", 1));
            device.expect(Packet.SUBACK, 1);
            assertEquals(1, kept.count(Meter.BROKER_PROTOCOL_ERRORS));
            assertEquals(1, kept.count(Meter.LINK_LOST));
            await().until(() -> links.get() == 2);
        }
    }
}
