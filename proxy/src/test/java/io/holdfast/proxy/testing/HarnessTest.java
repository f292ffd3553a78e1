package io.holdfast.proxy.testing;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The harness against itself and against real brokers, without the proxy. */
class HarnessTest {
    private static final Duration SOON = Duration.ofSeconds(10);

    @TempDir
    private Path directory;

    static Stream<Class<? extends Broker>> brokers() {
        return Stream.of(MosquittoBroker.class, HiveMqBroker.class);
    }

    private Broker broker(final Class<? extends Broker> type) {
        return type == MosquittoBroker.class ? MosquittoBroker.create(directory) : HiveMqBroker.create(directory);
    }

    @ParameterizedTest
    @MethodSource("brokers")
    void aRealBrokerKeepsASessionOverAStop(final Class<? extends Broker> type) {
        try (Broker broker = broker(type)) {
            broker.start();
            try (RawMqttClient subscriber = RawMqttClient.connect(broker.port(), Packets.V311, "sub", false)) {
                subscriber.send(Packets.subscribe(Packets.V311, 7, "a/#", 2));
                assertEquals("9003000702", subscriber.expect(Packet.SUBACK).hex());
            }
            for (final String version : List.of("mqttv31", "mqttv311", "mqttv5")) {
                MosquittoClients.publish(broker.port(), "-V", version, "-q", "1", "-t", "a/b", "-m", version);
            }
            final int port = broker.port();
            broker.stop();
            assertThrows(Exception.class, () -> RawMqttClient.open(port).close());
            broker.start();

            try (RawMqttClient subscriber = RawMqttClient.open(broker.port())) {
                subscriber.send(Packets.connect(Packets.V311, "sub", false));
                assertTrue(subscriber.expect(Packet.CONNACK).sessionPresent());
                for (final String expected : List.of("mqttv31", "mqttv311", "mqttv5")) {
                    final Packet publish = subscriber.expect(Packet.PUBLISH);
                    assertEquals("a/b", publish.topic());
                    assertEquals(1, publish.qos());
                    assertEquals(expected, publish.text(Packets.V311));
                    subscriber.send(Packets.ack(Packet.PUBACK, publish.packetId()));
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Packets.V31, Packets.V311, Packets.V5})
    void theRawClientSpeaksEveryVersion(final int version) {
        try (Broker broker = MosquittoBroker.create(directory)) {
            broker.start();
            try (RawMqttClient client = RawMqttClient.connect(broker.port(), version, "raw", true);
                    MosquittoClients.Subscriber subscriber =
                            MosquittoClients.subscribe(broker.port(), "-V", "mqttv5", "-t", "t/#", "-q", "2")) {
                client.send(Packets.publish(version, 1, 1, "t/1", "one"));
                client.expect(Packet.PUBACK, 1);
                client.send(Packets.publish(version, 2, 2, "t/2", "two"));
                client.expect(Packet.PUBREC, 2);
                client.send(Packets.ack(Packet.PUBREL, 2));
                client.expect(Packet.PUBCOMP, 2);
                assertEquals(List.of("t/1|one", "t/2|two"), subscriber.await(2, SOON));
                client.send(Packets.pingreq());
                client.expect(Packet.PINGRESP);
                client.expectSilence(Duration.ofMillis(100));

                client.sendHex("00 00");
                if (version == Packets.V5) {
                    assertEquals(Packet.DISCONNECT, client.readPacket(SOON).type());
                }
                client.expectClosed(SOON);
            }
        }
    }

    @Test
    void aWillComesAfterAReset() {
        try (Broker broker = MosquittoBroker.create(directory)) {
            broker.start();
            try (MosquittoClients.Subscriber subscriber = MosquittoClients.subscribe(broker.port(), "-t", "will");
                    RawMqttClient client = RawMqttClient.open(broker.port())) {
                client.send(new Packets.Connect(Packets.V5, "w")
                        .keepAlive(10)
                        .properties(Packets.property32(0x11, 100), Packets.userProperty("a", "b"))
                        .will(1, false, "will", "gone")
                        .credentials("user", "password")
                        .bytes());
                assertEquals(0, client.expect(Packet.CONNACK).reasonCode());
                client.reset();
                assertEquals(List.of("will|gone"), subscriber.await(1, SOON));
            }
        }
    }

    @Test
    void aFrozenBrokerKeepsTheConnectionAndAnswersLater() {
        try (MosquittoBroker broker = MosquittoBroker.create(directory)) {
            broker.start();
            try (RawMqttClient client = RawMqttClient.connect(broker.port(), Packets.V311, "c", true)) {
                broker.freeze();
                client.send(Packets.pingreq());
                client.expectSilence(Duration.ofMillis(200));
                broker.thaw();
                client.expect(Packet.PINGRESP);
            }
        }
    }

    @Test
    void theScriptedBrokerServesRealClients() {
        try (ScriptedBroker broker = ScriptedBroker.start(new AutoAnswers())) {
            for (final String version : List.of("mqttv31", "mqttv311", "mqttv5")) {
                for (final String qos : List.of("0", "1", "2")) {
                    MosquittoClients.publish(broker.port(), "-V", version, "-q", qos, "-t", "t", "-m", "m" + qos);
                }
                MosquittoClients.subscribe(broker.port(), "-V", version, "-t", "a", "-t", "b", "-q", "1")
                        .close();
            }
            assertEquals(9, broker.awaitReceived(Packet.PUBLISH, 9, SOON).size());
            assertEquals(3, broker.received(Packet.PUBREL).size());
            assertEquals(12, broker.connections().size());
            final Packet last = broker.received(Packet.PUBLISH).get(8);
            assertEquals("m2", last.text(Packets.V5));
            assertArrayEquals(Packets.NONE, last.publishProperties());
        }
    }

    @Test
    void answersAreKeptBackReversedAndSwallowed() {
        final AutoAnswers answers = new AutoAnswers().sessionPresent(true).keepBack(Packet.PUBLISH);
        try (ScriptedBroker broker = ScriptedBroker.start(answers);
                RawMqttClient client = RawMqttClient.connect(broker.port(), Packets.V5, "c", false)) {
            for (int id = 1; id <= 3; id++) {
                client.send(Packets.publish(Packets.V5, 1, id, "t", "p" + id));
            }
            broker.awaitReceived(Packet.PUBLISH, 3, SOON);
            client.expectSilence(Duration.ofMillis(50));
            assertEquals(3, answers.heldCount());
            answers.releaseReversed();
            client.expect(Packet.PUBACK, 3);
            client.expect(Packet.PUBACK, 2);
            client.expect(Packet.PUBACK, 1);

            answers.letThrough(Packet.PUBLISH)
                    .on(Packet.PUBLISH, (connection, packet) -> Packets.ack(Packet.PUBACK, packet.packetId(), 0x97))
                    .swallow(Packet.PINGREQ);
            client.send(Packets.pingreq());
            client.send(Packets.publish(Packets.V5, 1, 4, "t", "p"));
            assertEquals(0x97, client.expect(Packet.PUBACK, 4).reasonCode());
        }
    }

    @Test
    void scriptsAreChosenByConnectionAndClientId() {
        final Script refuse =
                connection -> connection.send(Packets.connack(connection.version(), false, 0x88, Packets.NONE));
        try (ScriptedBroker broker = ScriptedBroker.startSequence(
                Script.hangUp(), Script.byClientId("bad"::equals, refuse, new AutoAnswers()))) {
            try (RawMqttClient first = RawMqttClient.open(broker.port())) {
                first.expectClosed(SOON);
            }
            try (RawMqttClient second = RawMqttClient.open(broker.port())) {
                second.send(Packets.connect(Packets.V5, "bad", true));
                assertEquals(0x88, second.expect(Packet.CONNACK).reasonCode());
                second.expectClosed(SOON);
            }
            try (RawMqttClient third = RawMqttClient.connect(broker.port(), Packets.V311, "good", true)) {
                broker.stopListening();
                assertThrows(
                        Exception.class, () -> RawMqttClient.open(broker.port()).close());
                third.send(Packets.pingreq());
                third.expect(Packet.PINGRESP);
                broker.resetAll();
                third.expectClosed(SOON);
                broker.listen();
                RawMqttClient.connect(broker.port(), Packets.V311, "good", true).close();
            }
        }
    }

    @Test
    void aFailedScriptFailsTheTest() {
        final ScriptedBroker broker = ScriptedBroker.start(connection -> {
            throw new AssertionError("seen");
        });
        try (RawMqttClient client = RawMqttClient.open(broker.port())) {
            client.expectClosed(SOON);
        }
        assertTrue(
                assertThrows(AssertionError.class, broker::close).getMessage().contains("seen"));
    }

    @Test
    void longPacketsKeepTheirBytes() {
        final byte[] payload = "x".repeat(70_000).getBytes(StandardCharsets.UTF_8);
        final byte[] properties = Packets.userProperty("k", "v".repeat(300));
        try (ScriptedBroker broker = ScriptedBroker.start(new AutoAnswers());
                RawMqttClient client = RawMqttClient.connect(broker.port(), Packets.V5, "c", true)) {
            final byte[] sent = Packets.publishFlags(Packets.V5, 0xB, 9, "t", properties, payload);
            client.send(sent);
            client.expect(Packet.PUBACK, 9);
            final Packet packet = broker.awaitReceived(Packet.PUBLISH, 1, SOON).get(0);
            assertArrayEquals(sent, packet.bytes());
            assertArrayEquals(payload, packet.payload(Packets.V5));
            assertArrayEquals(properties, packet.publishProperties());
            assertTrue(packet.dup() && packet.retain());
        }
    }

    @Test
    void aClientThatFindsNoBrokerSaysSo() {
        final MosquittoClients.Exit exit = MosquittoClients.tryPublish(FreePorts.next(), "-t", "t", "-m", "m");
        assertFalse(exit.code() == 0, exit::output);
        assertTrue(exit.output().contains("refused"), exit::output);
    }
}
