package io.holdfast.proxy.testing;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A {@link ScriptedBroker} that tells the uplink's connections from the session links by their Client Identifier, and
 * answers each side as the test programs it. The proxy needs {@link #UPLINK_FLAG} and {@link #UPLINK}.
 */
public final class LinkAndUplinkBroker implements AutoCloseable {
    public static final String UPLINK_FLAG = "--uplink-client-id";
    /** Of this process: a proxy of another test run, whose broker is gone, may dial a port that is ours now. */
    public static final String UPLINK = "uplink-" + ProcessHandle.current().pid();

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final AutoAnswers uplink = new AutoAnswers();
    private final AutoAnswers link = new AutoAnswers();
    private final ScriptedBroker broker =
            ScriptedBroker.start(Script.byClientId(clientId -> clientId.startsWith(UPLINK), uplink, link));

    /** A broker of MQTT 5 that accepts everything. */
    public static LinkAndUplinkBroker start() {
        return new LinkAndUplinkBroker();
    }

    /** How the uplinks are answered. */
    public AutoAnswers uplink() {
        return uplink;
    }

    /** How the session links are answered. */
    public AutoAnswers link() {
        return link;
    }

    /** The broker behind it. */
    public ScriptedBroker broker() {
        return broker;
    }

    public String url() {
        return broker.url();
    }

    /** From now on uplinks find a broker that knows no MQTT 5. */
    public LinkAndUplinkBroker uplinkSpeaks311() {
        uplink.on(
                Packet.CONNECT,
                (connection, connect) -> connect.version() == Packets.V5
                        ? Packets.connack(Packets.V5, false, 0x84, Packets.NONE)
                        : null);
        return this;
    }

    /** From now on uplinks are told "server unavailable". */
    public void refuseUplink() {
        uplink.on(
                Packet.CONNECT,
                (connection, connect) -> connect.version() == Packets.V5
                        ? Packets.connack(Packets.V5, false, 0x88, Packets.NONE)
                        : Packets.connack(Packets.V311, false, 3, Packets.NONE));
    }

    /** From now on uplinks are accepted. */
    public void acceptUplink() {
        uplink.on(Packet.CONNECT, (connection, connect) -> null);
    }

    /**
     * What the uplinks sent, by connection in the order of accept: CONNECT first. Without those that only make a session,
     * with a clean start.
     */
    public List<List<Packet>> uplinkConnections() {
        return connections(true).stream()
                .filter(packets -> !packets.get(0).cleanStart())
                .toList();
    }

    /** What the session links sent, by connection in the order of accept: CONNECT first. */
    public List<List<Packet>> linkConnections() {
        return connections(false);
    }

    /** The packets of this type that came over all uplink connections, in order. */
    public List<Packet> uplinkReceived(final int type) {
        return ofType(uplinkConnections(), type);
    }

    /** The packets of this type that came over all session links, in order of the connections. */
    public List<Packet> linkReceived(final int type) {
        return ofType(linkConnections(), type);
    }

    /** Waits until the uplinks have sent so many packets of this type. */
    public List<Packet> awaitUplink(final int type, final int count) {
        await().atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> uplinkReceived(type).size() >= count);
        return uplinkReceived(type);
    }

    /** Waits until the session links have sent so many packets of this type. */
    public List<Packet> awaitLink(final int type, final int count) {
        await().atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> linkReceived(type).size() >= count);
        return linkReceived(type);
    }

    /** RST on every open connection of the uplinks. */
    public void cutUplink() {
        cut(true, Integer.MAX_VALUE);
    }

    /** RST on every open session link. */
    public void cutLinks() {
        cut(false, Integer.MAX_VALUE);
    }

    /** RST on every session link that is older than this connection, as on a take-over. */
    public void cutLinksBefore(final BrokerConnection connection) {
        cut(false, connection.index());
    }

    private void cut(final boolean uplinks, final int before) {
        final Set<Integer> matching = new HashSet<>();
        for (final ScriptedBroker.Received one : broker.received()) {
            if (one.packet().type() == Packet.CONNECT && isUplink(one.packet()) == uplinks) {
                matching.add(one.connection());
            }
        }
        for (final BrokerConnection connection : broker.connections()) {
            if (connection.index() < before && matching.contains(connection.index())) {
                try {
                    connection.reset();
                } catch (final java.io.IOException e) {
                    // It has ended by itself.
                }
            }
        }
    }

    private List<List<Packet>> connections(final boolean uplinks) {
        final List<List<Packet>> all = new ArrayList<>();
        final List<Integer> indexes = new ArrayList<>();
        for (final ScriptedBroker.Received one : broker.received()) {
            if (one.packet().type() == Packet.CONNECT && isUplink(one.packet()) == uplinks) {
                indexes.add(one.connection());
                all.add(new ArrayList<>());
            }
            final int place = indexes.indexOf(one.connection());
            if (place >= 0) {
                all.get(place).add(one.packet());
            }
        }
        return all;
    }

    private static boolean isUplink(final Packet connect) {
        return connect.clientId().startsWith(UPLINK);
    }

    private static List<Packet> ofType(final List<List<Packet>> connections, final int type) {
        return connections.stream()
                .flatMap(List::stream)
                .filter(packet -> packet.type() == type)
                .toList();
    }

    @Override
    public void close() {
        broker.close();
    }
}
