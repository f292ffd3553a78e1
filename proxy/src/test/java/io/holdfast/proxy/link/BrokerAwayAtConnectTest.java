package io.holdfast.proxy.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a device is told when the broker is away, hangs up, or refuses. */
class BrokerAwayAtConnectTest {
    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({"3, 20020003", "4, 20020003", "5, 2003008800"})
    void isAnsweredWithServerUnavailable(int version, String connack) {
        try (LinkFixture fixture = new LinkFixture(directory)) {
            fixture.brokerGoesAway();
            expectRefused(fixture, version, connack);
            fixture.brokerComesBack();
            fixture.connect(version, false).close();
        }
    }

    @ParameterizedTest
    @CsvSource({"4", "5"})
    void theProxyHangsUpWhenTheBrokerDoesSoOnConnect(int version) {
        try (LinkFixture fixture = new LinkFixture(directory)) {
            fixture.broker.link().on(Packet.CONNECT, (connection, connect) -> {
                connection.close();
                return Packets.NONE;
            });
            try (RawMqttClient device = RawMqttClient.open(fixture.proxy.port())) {
                device.send(Packets.connect(version, "d", true));
                device.expectClosed(LinkFixture.SOON);
            }
            assertEquals(0, fixture.proxy.ledgerTotal("accepted"));
        }
    }

    @ParameterizedTest
    @CsvSource({"4, 20020005, 20020005", "5, 2003008700, 2003008700"})
    void theBrokersRefusalPassesAsItIs(int version, String fromBroker, String connack) {
        try (LinkFixture fixture = new LinkFixture(directory)) {
            fixture.broker.link().on(Packet.CONNECT, (connection, connect) -> Packets.hex(fromBroker));
            expectRefused(fixture, version, connack);
        }
    }

    @ParameterizedTest
    @CsvSource({"4", "5"})
    void theBrokerHangsUpRightBehindItsConnack(int version) {
        try (LinkFixture fixture = new LinkFixture(directory, "--route", "hold #")) {
            for (int i = 0; i < 50; i++) {
                fixture.broker.link().on(Packet.CONNECT, (connection, connect) -> {
                    connection.send(Packets.connack(connect.version(), false, Packets.NONE));
                    connection.reset();
                    return Packets.NONE;
                });
                try (RawMqttClient device = RawMqttClient.open(fixture.proxy.port())) {
                    device.send(Packets.connect(version, "d", true));
                    Packet connack = device.expect(Packet.CONNACK);
                    assertFalse(connack.sessionPresent());
                    if (version == Packets.V5 && connack.reasonCode() == 0) {
                        device.expect(Packet.DISCONNECT);
                    }
                    device.expectClosed(LinkFixture.SOON);
                }
            }
            fixture.broker.link().on(Packet.CONNECT, (connection, connect) -> null);
            fixture.connect(version, false).close();
        }
    }

    @ParameterizedTest
    @CsvSource({"4", "5"})
    void whatTheBrokerSendsBehindItsConnackComesBehindIt(int version) {
        try (LinkFixture fixture = new LinkFixture(directory)) {
            fixture.broker
                    .link()
                    .on(
                            Packet.CONNECT,
                            (connection, connect) -> Packets.concat(
                                    Packets.connack(version, true, Packets.NONE),
                                    Packets.publish(version, 1, 9, "q", "queued")));
            try (RawMqttClient device = fixture.connect(version, true)) {
                assertEquals("queued", device.expect(Packet.PUBLISH, 9).text(version));
            }
        }
    }

    private static void expectRefused(LinkFixture fixture, int version, String connack) {
        try (RawMqttClient device = RawMqttClient.open(fixture.proxy.port())) {
            device.send(Packets.connect(version, "d", true));
            device.send(Packets.publish(version, 1, 1, "t", "nothing is settled for a device that is refused"));
            assertEquals(connack, device.expect(Packet.CONNACK).hex());
            device.expectClosed(LinkFixture.SOON);
        }
        assertEquals(0, fixture.proxy.ledgerTotal("accepted"));
    }
}
