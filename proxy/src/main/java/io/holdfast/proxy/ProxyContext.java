package io.holdfast.proxy;

import io.holdfast.proxy.admission.Route;
import io.holdfast.store.Durability;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * All settings of a proxy, checked. Names carry their units.
 *
 * @param upstream  the broker
 * @param listeners at least one
 * @param admin     where the admin HTTP server listens; empty for off
 * @param routes    first match wins
 * @param devices   what devices may do
 * @param guards    what keeps devices from harming each other
 * @param outbox    the durable store
 * @param dedup     what it does with messages that are sent more than once
 * @param uplink    the connection that delivers from it
 * @param delivery  what becomes of records that cannot be delivered, and how fast the others go
 * @param deviceTls the files for listeners with TLS; present if there is one
 * @param brokerTls the files for TLS to the broker
 * @param loops     device event loops
 */
public record ProxyContext(
        Endpoint upstream,
        List<Endpoint> listeners,
        Optional<Endpoint> admin,
        List<Route> routes,
        Devices devices,
        Guards guards,
        Outbox outbox,
        Dedup dedup,
        Uplink uplink,
        Delivery delivery,
        Optional<DeviceTlsFiles> deviceTls,
        BrokerTlsFiles brokerTls,
        int loops) {

    /**
     * What devices may do.
     *
     * @param receiveMaximum           QoS 1 and 2 PUBLISHes of one device that may be unfinished; 1 to 65,535
     * @param topicAliasMaximum        aliases that a v5 device may define
     * @param maxPacketSize            bytes of a whole packet
     * @param maxPayload               bytes of a payload; more is acknowledged and dropped
     * @param maxMetadata              bytes of topic and properties; more is acknowledged and dropped
     * @param maxUserProperties        User Properties of a PUBLISH; more is acknowledged and dropped
     * @param storeQos0                whether QoS 0 on an outbox route is stored
     * @param connectDeadlineMs        from accept to the end of CONNECT
     * @param ingressMemoryBudgetBytes unsettled bytes of all devices
     * @param holdTimeoutMs            how long a held PUBLISH waits for a session link
     * @param maxSessionExpiryMs       how long the session of a 3.x device without Clean Session is kept
     */
    public record Devices(
            int receiveMaximum,
            int topicAliasMaximum,
            int maxPacketSize,
            int maxPayload,
            int maxMetadata,
            int maxUserProperties,
            boolean storeQos0,
            long connectDeadlineMs,
            long ingressMemoryBudgetBytes,
            long holdTimeoutMs,
            long maxSessionExpiryMs) {}

    /** What becomes of a PUBLISH over a cap. QoS 0 is dropped and counted in any case. */
    public enum OnCapViolation {
        /** It is acknowledged with success, dropped and counted. */
        ACK_DROP,
        /** A v5 device is refused it; 3.x as {@link #ACK_DROP}. */
        REJECT,
        /** On an outbox route it is stored, acknowledged and kept with the dead letters; else as {@link #ACK_DROP}. */
        DEAD_LETTER
    }

    /**
     * What keeps devices from harming each other. In a rate or a count 0 is "no limit".
     *
     * @param maxConnections           of devices at once; 0: what the file descriptors allow
     * @param maxConnectionsPerAddress of one address at once
     * @param acceptRate               sockets per second, with a burst of one second
     * @param maxUnconnected           sockets without a CONNECT at once, at least 1; above it the oldest is closed
     * @param maxPublishRate           PUBLISHes of one device per second, with a burst of one second
     * @param onCapViolation           what becomes of a PUBLISH over a cap
     */
    public record Guards(
            int maxConnections,
            int maxConnectionsPerAddress,
            int acceptRate,
            int maxUnconnected,
            int maxPublishRate,
            OnCapViolation onCapViolation) {}

    /**
     * The durable store.
     *
     * @param directory    the data directory
     * @param durability   what "settled" waits for
     * @param lanes        outbox partitions
     * @param segmentBytes record bytes of a segment
     * @param maxBytes     bytes that the segments may take; 0: 80 % of the file system at start
     * @param reserveBytes free bytes to leave on the file system; 0: 256 MiB, or 5 % where that is less
     */
    public record Outbox(
            Path directory, Durability durability, int lanes, int segmentBytes, long maxBytes, long reserveBytes) {}

    /** What makes a message known that its producer sends once more. */
    public enum DedupBy {
        /** Nothing: each is stored. */
        OFF,
        /** The User Property {@code mqtt.message-id}. */
        MESSAGE_ID,
        /** Correlation Data (v5 §3.3.2.3.6). */
        CORRELATION_DATA
    }

    /**
     * Messages that are sent more than once.
     *
     * @param by         what they are known by
     * @param windowMs   how long, from the one that was stored
     * @param maxEntries how many at once, over all lanes
     */
    public record Dedup(DedupBy by, long windowMs, int maxEntries) {}

    /**
     * The connection that delivers from the outbox.
     *
     * @param clientId     empty: one made with the data directory
     * @param userName     empty: none
     * @param passwordFile empty: none
     * @param window       span of unfinished send numbers, 1 to 32,767
     * @param ackTimeoutMs after which a missing acknowledgement recycles the connection
     */
    public record Uplink(
            Optional<String> clientId,
            Optional<String> userName,
            Optional<Path> passwordFile,
            int window,
            long ackTimeoutMs) {}

    /**
     * How the outbox is delivered.
     *
     * @param onPermanentFailure what becomes of a record that is refused for good
     * @param onExpired          what becomes of a record that expired before it was sent
     * @param maxReplayAttempts  a record is given up when it was sent more often
     * @param replayBudgetMs     and so long has passed since it was sent first
     * @param maxLoneHangUps     hang-ups in a row, with a record alone in flight, at which it is given up
     * @param drainMessages      messages per second; 0: no limit
     * @param drainBytes         bytes per second; 0: no limit
     */
    public record Delivery(
            GiveUp onPermanentFailure,
            GiveUp onExpired,
            int maxReplayAttempts,
            long replayBudgetMs,
            int maxLoneHangUps,
            int drainMessages,
            long drainBytes) {}

    /**
     * PEM files for the listeners with TLS.
     *
     * @param certificate the proxy's certificate, and those between it and the root
     * @param key         its private key, not encrypted
     * @param clientCa    who signs the certificates of devices; empty: none are asked for
     */
    public record DeviceTlsFiles(Path certificate, Path key, Optional<Path> clientCa) {}

    /**
     * PEM files for TLS to the broker.
     *
     * @param ca          who signs the broker's certificate; empty: whom Java trusts
     * @param certificate the proxy's client certificate, and those between it and the root; empty: none
     * @param key         its private key, not encrypted; present if the certificate is
     */
    public record BrokerTlsFiles(Optional<Path> ca, Optional<Path> certificate, Optional<Path> key) {}
}
