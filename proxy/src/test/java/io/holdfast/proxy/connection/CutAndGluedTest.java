package io.holdfast.proxy.connection;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.holdfast.proxy.testing.BrokerConnection;
import io.holdfast.proxy.testing.LinkAndUplinkBroker;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ProxyUnderTest;
import io.holdfast.proxy.testing.RawMqttClient;
import io.holdfast.proxy.testing.Script;
import io.holdfast.proxy.testing.ScriptedBroker;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * TCP knows no packets: a session of every packet type, glued together, cut at every byte, and byte by byte, is the same
 * session. One connection for each place of the cut, all at once: the first parts of all, then the rests.
 */
class CutAndGluedTest {
    /** Client Identifiers of one length, so that the cut is at the same place of the same packet. */
    private static final String CLIENT = "cut-%05d";

    private static final int WHOLE = 0;
    private static final int BYTE_BY_BYTE = -1;

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(ints = {Packets.V31, Packets.V311, Packets.V5})
    void whatDevicesSend(int version) {
        try (LinkAndUplinkBroker broker = LinkAndUplinkBroker.start();
                ProxyUnderTest proxy = ProxyUnderTest.start(
                        broker.url(),
                        directory,
                        LinkAndUplinkBroker.UPLINK_FLAG,
                        LinkAndUplinkBroker.UPLINK,
                        "--route",
                        "hold h/#",
                        "--route",
                        "outbox #");
                RawMqttClient neighbour = RawMqttClient.connect(proxy.port(), version, "neighbour", true)) {
            broker.link()
                    .on(
                            Packet.SUBSCRIBE,
                            (connection, packet) -> Packets.concat(
                                    Packets.suback(version, Packet.SUBACK, packet.packetId(), 2),
                                    Packets.publish(version, 1, 11, "down/1", "m"),
                                    Packets.publish(version, 2, 12, "down/2", "m")));
            byte[] session = deviceSession(version, "");
            List<RawMqttClient> devices = new ArrayList<>();
            try {
                for (int cut = WHOLE; cut < session.length; cut++) {
                    RawMqttClient device = RawMqttClient.open(proxy.port());
                    devices.add(device);
                    byte[] bytes = deviceSession(version, String.format(CLIENT, cut));
                    device.send(Arrays.copyOf(bytes, cut == WHOLE ? bytes.length : cut));
                }
                ping(neighbour);
                for (int cut = WHOLE + 1; cut < session.length; cut++) {
                    byte[] bytes = deviceSession(version, String.format(CLIENT, cut));
                    devices.get(cut).send(Arrays.copyOfRange(bytes, cut, bytes.length));
                }
                RawMqttClient slow = RawMqttClient.open(proxy.port());
                devices.add(slow);
                for (byte one : deviceSession(version, String.format(CLIENT, session.length))) {
                    slow.send(new byte[] {one});
                    ping(neighbour);
                }
                for (int cut = WHOLE; cut <= session.length; cut++) {
                    assertEquals(ANSWERS_TO_A_DEVICE, typesAnswered(devices.get(cut), version), "cut at " + cut);
                }
            } finally {
                devices.forEach(RawMqttClient::close);
            }
            await().untilAsserted(() -> {
                List<List<String>> links = linksOf(broker);
                assertEquals(session.length + 1, links.size());
                links.forEach(link -> assertEquals(links.get(0), link));
            });
            await().until(() -> broker.uplinkReceived(Packet.PUBLISH).size() == 2 * (session.length + 1));
        }
    }

    private static final List<String> ANSWERS_TO_A_DEVICE = List.of(
            "CONNACK",
            "PINGRESP",
            "PUBACK 2",
            "PUBACK 4",
            "PUBCOMP 3",
            "PUBCOMP 5",
            "PUBLISH 11",
            "PUBLISH 12",
            "PUBREC 3",
            "PUBREC 5",
            "PUBREL 12",
            "SUBACK 1",
            "UNSUBACK 6");

    /** Everything that a device may send, in one piece. DISCONNECT has a place of its own: it ends the answers. */
    private static byte[] deviceSession(int version, String clientId) {
        return Packets.concat(
                Packets.connect(version, clientId.isEmpty() ? String.format(CLIENT, 0) : clientId, true),
                Packets.subscribe(version, 1, "down/#", 2),
                Packets.publish(version, 0, 0, "h/0", "zero"),
                Packets.publish(version, 1, 2, "h/1", "one"),
                Packets.publish(version, 2, 3, "h/2", "two"),
                Packets.publish(version, 1, 4, "o/1", "one"),
                Packets.publish(version, 2, 5, "o/2", "two"),
                Packets.ack(Packet.PUBREL, 3),
                Packets.ack(Packet.PUBREL, 5),
                Packets.ack(Packet.PUBACK, 11),
                Packets.ack(Packet.PUBREC, 12),
                Packets.ack(Packet.PUBCOMP, 12),
                Packets.pingreq(),
                Packets.unsubscribe(version, 6, "down/#"));
    }

    /** The answers, sorted: those of the outbox and those of the broker come in any order. Ends with DISCONNECT, cut. */
    private static List<String> typesAnswered(RawMqttClient device, int version) {
        List<String> answers = read(device, ANSWERS_TO_A_DEVICE.size());
        byte[] disconnect = version == Packets.V5 ? Packets.disconnect(0x04) : Packets.disconnect();
        for (byte one : disconnect) {
            device.send(new byte[] {one});
        }
        device.expectClosed(RawMqttClient.PATIENCE);
        return answers.stream().sorted().toList();
    }

    private static List<String> read(RawMqttClient device, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> device.readPacket(RawMqttClient.PATIENCE))
                .map(CutAndGluedTest::name)
                .toList();
    }

    private static String name(Packet packet) {
        String type = packet.toString();
        String name = type.substring(0, type.indexOf(' '));
        return packet.packetId() == 0 ? name : name + " " + packet.packetId();
    }

    private static List<List<String>> linksOf(LinkAndUplinkBroker broker) {
        return broker.linkConnections().stream()
                .filter(packets -> packets.get(0).clientId().startsWith("cut-"))
                .map(packets ->
                        packets.stream().skip(1).map(Packet::hex).sorted().toList())
                .toList();
    }

    private static void ping(RawMqttClient neighbour) {
        neighbour.send(Packets.pingreq());
        neighbour.expect(Packet.PINGRESP);
    }

    @ParameterizedTest
    @ValueSource(ints = {Packets.V31, Packets.V311, Packets.V5})
    void whatTheBrokerSends(int version) throws InterruptedException {
        byte[] connack = Packets.connack(version, false, Packets.NONE);
        byte[] rest = brokerSession(version);
        int cuts = connack.length + rest.length;
        CountDownLatch firstParts = new CountDownLatch(cuts - 2); // all but the two that are not cut
        CountDownLatch go = new CountDownLatch(1);
        Script script = connection -> {
            String client = connection.readConnect().clientId();
            if (!client.startsWith("cut-")) {
                connection.send(connack);
                Script.silence().run(connection);
                return;
            }
            int cut = Integer.parseInt(client.substring(4));
            boolean inConnack = cut < connack.length;
            send(connection, connack, cut == cuts ? BYTE_BY_BYTE : inConnack ? cut : WHOLE, firstParts, go);
            for (int i = 0; i < 5; i++) {
                connection.read();
            }
            send(
                    connection,
                    rest,
                    cut == cuts ? BYTE_BY_BYTE : inConnack ? WHOLE : cut - connack.length,
                    firstParts,
                    go);
            Script.silence().run(connection);
        };
        List<RawMqttClient> devices = new ArrayList<>();
        try (ScriptedBroker broker = ScriptedBroker.start(script);
                ProxyUnderTest proxy = ProxyUnderTest.start(broker.url(), directory, "--route", "hold #");
                RawMqttClient neighbour = RawMqttClient.connect(proxy.port(), version, "neighbour", true)) {
            for (int cut = WHOLE; cut <= cuts; cut++) {
                RawMqttClient device = RawMqttClient.open(proxy.port());
                devices.add(device);
                device.send(Packets.concat(
                        Packets.connect(version, String.format(CLIENT, cut), true),
                        Packets.subscribe(version, 1, "a", 2),
                        Packets.publish(version, 1, 2, "h/1", "one"),
                        Packets.publish(version, 2, 3, "h/2", "two"),
                        Packets.ack(Packet.PUBREL, 3),
                        Packets.unsubscribe(version, 4, "a")));
            }
            firstParts.await(20, TimeUnit.SECONDS);
            assertEquals(0, firstParts.getCount());
            ping(neighbour);
            go.countDown();
            List<String> expected = brokerPackets(version);
            for (int cut = WHOLE; cut <= cuts; cut++) {
                RawMqttClient device = devices.get(cut);
                assertEquals(
                        expected,
                        read(device, expected.size()).stream().sorted().toList(),
                        "cut at " + cut);
                if (version == Packets.V5) {
                    device.expectClosed(RawMqttClient.PATIENCE);
                }
            }
        } finally {
            devices.forEach(RawMqttClient::close);
        }
    }

    private static void send(
            BrokerConnection connection, byte[] bytes, int cut, CountDownLatch firstParts, CountDownLatch go)
            throws IOException {
        if (cut == WHOLE) {
            connection.send(bytes);
        } else if (cut == BYTE_BY_BYTE) {
            for (byte one : bytes) {
                connection.send(new byte[] {one});
            }
        } else {
            connection.send(Arrays.copyOf(bytes, cut));
            firstParts.countDown();
            try {
                go.await(20, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            connection.send(Arrays.copyOfRange(bytes, cut, bytes.length));
        }
    }

    /** Everything that a broker may send behind CONNACK. PINGRESP is for the proxy itself. */
    private static byte[] brokerSession(int version) {
        byte[] unsuback = version == Packets.V5
                ? Packets.suback(version, Packet.UNSUBACK, 4, 0)
                : Packets.suback(version, Packet.UNSUBACK, 4);
        return Packets.concat(
                Packets.suback(version, Packet.SUBACK, 1, 2),
                Packets.publish(version, 0, 0, "down/0", "zero"),
                Packets.publish(version, 1, 11, "down/1", "one"),
                Packets.publish(version, 2, 12, "down/2", "two"),
                Packets.ack(Packet.PUBREL, 12),
                Packets.pingresp(),
                Packets.ack(Packet.PUBACK, 2),
                Packets.ack(Packet.PUBREC, 3),
                Packets.ack(Packet.PUBCOMP, 3),
                unsuback,
                version == Packets.V5 ? Packets.disconnect(0x8E) : Packets.NONE);
    }

    private static List<String> brokerPackets(int version) {
        List<String> names = new ArrayList<>(List.of(
                "CONNACK",
                "PUBACK 2",
                "PUBCOMP 3",
                "PUBLISH",
                "PUBLISH 11",
                "PUBLISH 12",
                "PUBREC 3",
                "PUBREL 12",
                "SUBACK 1",
                "UNSUBACK 4"));
        if (version == Packets.V5) {
            names.add(1, "DISCONNECT");
        }
        return names;
    }
}
