package io.holdfast.proxy.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.testing.AutoAnswers;
import io.holdfast.proxy.testing.LinkAndUplinkBroker;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ProxyUnderTest;
import io.holdfast.proxy.testing.RawMqttClient;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client id that connects again closes the older connection, and only once the broker has accepted the newer. */
class TakeOverTest {
    @TempDir
    Path directory;

    private LinkAndUplinkBroker broker;
    private ProxyUnderTest proxy;

    @BeforeEach
    void start() {
        broker = LinkAndUplinkBroker.start();
        proxy = ProxyUnderTest.start(
                broker.url(), directory, LinkAndUplinkBroker.UPLINK_FLAG, LinkAndUplinkBroker.UPLINK);
    }

    @AfterEach
    void stop() {
        proxy.close();
        broker.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {Packets.V311, Packets.V5})
    void theOlderConnectionLivesUntilTheBrokerHasAccepted(int version) {
        AutoAnswers link = broker.link();
        try (RawMqttClient older = RawMqttClient.connect(proxy.port(), version, "same", true);
                RawMqttClient newer = RawMqttClient.open(proxy.port())) {
            link.keepBack(Packet.CONNECT);
            newer.send(Packets.connect(version, "same", true));
            Awaitility.await().until(() -> link.heldCount() == 1);
            older.send(Packets.publish(version, 1, 1, "t", "still here"));
            older.expect(Packet.PUBACK, 1);
            link.releaseAll();
            newer.expect(Packet.CONNACK);
            if (version == Packets.V5) {
                assertEquals("e0018e", older.expect(Packet.DISCONNECT).hex());
            }
            older.expectClosed(RawMqttClient.PATIENCE);
            newer.send(Packets.publish(version, 1, 1, "t", "new"));
            newer.expect(Packet.PUBACK, 1);
        }
    }

    @Test
    void aRefusedNewcomerDoesNotHarmTheOlder() {
        broker.link()
                .on(
                        Packet.CONNECT,
                        (connection, connect) -> broker.linkConnections().size() > 1
                                ? Packets.connack(Packets.V5, false, 0x87, Packets.NONE)
                                : null);
        try (RawMqttClient older = RawMqttClient.connect(proxy.port(), Packets.V5, "same", true);
                RawMqttClient newer = RawMqttClient.open(proxy.port())) {
            newer.send(Packets.connect(Packets.V5, "same", true));
            assertEquals(0x87, newer.expect(Packet.CONNACK).reasonCode());
            newer.expectClosed(RawMqttClient.PATIENCE);
            older.send(Packets.publish(Packets.V5, 1, 1, "t", "still here"));
            older.expect(Packet.PUBACK, 1);
        }
    }

    /** The lane may know only the newcomer's session by then: the older one is answered or closed, never left waiting. */
    @Test
    void aNewcomerThatTheBrokerDropsBehindItsConnackLeavesNobodyWaiting() {
        for (int i = 0; i < 20; i++) {
            broker.link().on(Packet.CONNECT, (connection, connect) -> null);
            try (RawMqttClient older = RawMqttClient.connect(proxy.port(), Packets.V5, "same", true);
                    RawMqttClient newer = RawMqttClient.open(proxy.port())) {
                broker.link().on(Packet.CONNECT, (connection, connect) -> {
                    connection.send(Packets.connack(Packets.V5, false, 0, Packets.NONE));
                    connection.close();
                    return Packets.NONE;
                });
                newer.send(Packets.connect(Packets.V5, "same", true));
                newer.expect(Packet.CONNACK);
                older.send(Packets.publish(Packets.V5, 1, 1, "t", "still here"));
                int type = older.readPacket(RawMqttClient.PATIENCE).type();
                assertTrue(type == Packet.PUBACK || type == Packet.DISCONNECT, () -> "type " + type);
            }
        }
    }

    /** As a real broker does: it cuts the older link when it accepts the newer. The older one must not dial back. */
    @ParameterizedTest
    @ValueSource(ints = {Packets.V311, Packets.V5})
    void theOlderLinkIsNotRedialledAgainstTheNewer(int version) {
        broker.link().on(Packet.CONNECT, (connection, connect) -> {
            broker.cutLinksBefore(connection);
            return null;
        });
        try (RawMqttClient first = RawMqttClient.connect(proxy.port(), version, "same", true)) {
            for (int i = 0; i < 20; i++) {
                try (RawMqttClient next = RawMqttClient.connect(proxy.port(), version, "same", true)) {
                    next.send(Packets.publish(version, 1, 1, "t", "m"));
                    next.expect(Packet.PUBACK, 1);
                }
            }
            if (version == Packets.V5) {
                first.expect(Packet.DISCONNECT);
            }
            first.expectClosed(RawMqttClient.PATIENCE);
            Awaitility.await()
                    .during(Duration.ofMillis(600))
                    .atMost(Duration.ofSeconds(5))
                    .until(() -> broker.linkConnections().size() == 21);
        }
    }
}
