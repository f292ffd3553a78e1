package io.holdfast.proxy.link;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.holdfast.proxy.testing.LinkAndUplinkBroker;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ProxyUnderTest;
import io.holdfast.proxy.testing.RawMqttClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A proxy and a broker whose session links break; topics below h/ go by hold, all others by outbox. */
final class LinkFixture implements AutoCloseable {
    static final Duration SOON = Duration.ofSeconds(20);
    private static final int SESSION_EXPIRY = 0x11;

    final LinkAndUplinkBroker broker = LinkAndUplinkBroker.start();
    final ProxyUnderTest proxy;

    LinkFixture(Path directory, String... flags) {
        List<String> all = new ArrayList<>(
                List.of(LinkAndUplinkBroker.UPLINK_FLAG, LinkAndUplinkBroker.UPLINK, "--route", "hold h/#"));
        if (!List.of(flags).contains("--route")) {
            all.addAll(List.of("--route", "outbox #"));
        }
        all.addAll(List.of(flags));
        proxy = ProxyUnderTest.start(broker.url(), directory, all.toArray(new String[0]));
    }

    /** A device with (v5: Session Expiry 1000) or without a session that outlives its connection. */
    RawMqttClient connect(int version, boolean withSession) {
        RawMqttClient device = RawMqttClient.open(proxy.port());
        Packets.Connect connect = new Packets.Connect(version, "d").cleanStart(!withSession);
        if (withSession) {
            connect.properties(Packets.property32(SESSION_EXPIRY, 1000));
        }
        device.send(connect.bytes());
        assertEquals(0, device.expect(Packet.CONNACK).reasonCode());
        return device;
    }

    /** Ends all session links and refuses new ones (and the uplink's) until {@link #brokerComesBack}. */
    void brokerGoesAway() {
        broker.broker().stopListening();
        broker.broker().resetAll();
    }

    void brokerComesBack() {
        broker.broker().listen();
    }

    /** What came over the latest session link, CONNECT first. */
    List<Packet> latestLink() {
        List<List<Packet>> links = broker.linkConnections();
        return links.get(links.size() - 1);
    }

    @Override
    public void close() {
        proxy.close();
        broker.close();
    }
}
