package io.holdfast.proxy.metrics;

/** Every meter of the proxy, each with one sentence. docs/METRICS.md is generated from this list. */
public enum Meter {
    CONNECTIONS_ACCEPTED("holdfast.connections.accepted", "", "Sockets that a listener accepted."),
    CONNECTIONS_REFUSED("holdfast.connections.refused", "", "CONNECTs that got no success: by the broker or by us."),
    CONNECT_DEADLINE("holdfast.connections.closed", "connect_deadline", "Closed: no whole CONNECT in time."),
    CLOSED_PROTOCOL("holdfast.connections.closed", "protocol", "Closed: the device broke the protocol."),
    CLOSED_KEEP_ALIVE("holdfast.connections.closed", "keep_alive", "Closed: the device was silent too long."),
    CLOSED_TAKEN_OVER("holdfast.connections.closed", "taken_over", "Closed: the client id connected again."),
    CLOSED_BROKER("holdfast.connections.closed", "broker", "Closed: the broker ended the session or its link broke."),
    CLOSED_REFUSED_311("holdfast.connections.closed", "refused_311", "Closed: a 3.x device cannot be told no."),

    SHED_CONNECTIONS("holdfast.connections.shed", "max_connections", "Refused at accept: over --max-connections."),
    SHED_ADDRESS("holdfast.connections.shed", "per_address", "Refused at accept: over --max-connections-per-address."),
    SHED_ACCEPT_RATE("holdfast.connections.shed", "accept_rate", "Refused at accept: over --accept-rate."),
    SHED_UNCONNECTED(
            "holdfast.connections.shed",
            "unconnected",
            "Closed to make room: the socket that had waited longest without a CONNECT."),
    ACCEPT_FAILED("holdfast.accept.failed", "", "Times accepting failed, most likely for want of file descriptors."),
    CLOSED_UNFINISHED_PACKET(
            "holdfast.connections.closed",
            "unfinished_packet",
            "Closed: of all unfinished packets, when they were too many bytes, its had begun first."),
    CLOSED_NOT_READING("holdfast.connections.closed", "not_reading", "Closed: the device reads no answers."),

    PUBLISH_OUTBOX("holdfast.publish.received", "outbox", "PUBLISHes that took an outbox route."),
    PUBLISH_HOLD("holdfast.publish.received", "hold", "PUBLISHes that took a hold route."),
    PUBLISH_QOS0("holdfast.publish.received", "qos0", "PUBLISHes of QoS 0 on any route."),
    PUBLISH_DUPLICATE("holdfast.publish.duplicate", "", "QoS 2 PUBLISHes whose packet id was already received."),
    HOLD_ACCEPTED("holdfast.hold.accepted", "", "Hold PUBLISHes that the broker acknowledged with success."),
    HOLD_REJECTED("holdfast.hold.rejected", "", "Hold PUBLISHes that the broker refused."),
    QOS0_FORWARDED("holdfast.qos0.forwarded", "", "QoS 0 PUBLISHes sent on over the session link."),

    DROPPED_CAP_PAYLOAD("holdfast.dropped", "cap_payload", "Acknowledged and dropped: payload over --max-payload."),
    DROPPED_CAP_METADATA(
            "holdfast.dropped", "cap_metadata", "Acknowledged and dropped: topic and properties over --max-metadata."),
    DROPPED_CAP_USER_PROPERTIES(
            "holdfast.dropped", "cap_user_properties", "Acknowledged and dropped: over --max-user-properties."),
    DROPPED_QOS0_OFFLINE("holdfast.dropped", "qos0_offline", "QoS 0 dropped: no session link to the broker."),
    DROPPED_QOS0_SLOW("holdfast.dropped", "qos0_slow", "QoS 0 dropped: the session link takes no more for now."),
    DROPPED_QOS0_FULL("holdfast.dropped", "qos0_full", "QoS 0 dropped: the outbox is full."),
    DROPPED_TOO_LARGE_FOR_DEVICE(
            "holdfast.dropped",
            "device_packet_size",
            "From the broker, larger than the device takes: discarded, refused to the broker."),
    USER_PROPERTIES_TRUNCATED(
            "holdfast.user_properties.truncated",
            "",
            "PUBLISHes whose User Properties were cut before they were read."),
    REJECTED_FULL("holdfast.rejected", "full", "PUBLISHes refused because the outbox is full (0x97)."),
    REJECTED_TOO_LARGE("holdfast.rejected", "too_large", "PUBLISHes refused: larger than a record can be."),
    REJECTED_STORE_FAILED("holdfast.rejected", "store_failed", "PUBLISHes refused: the store could not write them."),
    REJECTED_CAP_PAYLOAD("holdfast.rejected", "cap_payload", "PUBLISHes refused: payload over --max-payload (0x97)."),
    REJECTED_CAP_METADATA(
            "holdfast.rejected", "cap_metadata", "PUBLISHes refused: topic and properties over --max-metadata (0x97)."),
    REJECTED_CAP_USER_PROPERTIES(
            "holdfast.rejected", "cap_user_properties", "PUBLISHes refused: over --max-user-properties (0x97)."),
    STALE_ENTRIES("holdfast.outbox.stale", "", "Entries of a replaced connection, thrown away unacknowledged."),
    OUTBOX_FULL("holdfast.outbox.full", "", "Times a PUBLISH found the outbox full."),
    DEVICE_PAUSED("holdfast.device.paused", "", "Times a device was not read, for whatever reason."),
    DEVICE_RATE_LIMITED(
            "holdfast.device.rate_limited", "", "Times a device was not read, being over --max-publish-rate."),

    LINK_DIALLED("holdfast.link.dialled", "", "Session links dialled."),
    LINK_LOST("holdfast.link.lost", "", "Session links lost while their device stayed."),
    LINK_RESUMED("holdfast.link.resumed", "", "Session links that came back with Session Present 1."),
    LINK_RESUBSCRIBED("holdfast.link.resubscribed", "", "Session links that came back and were subscribed again."),
    LINK_UNEXPECTED_ACK(
            "holdfast.link.unexpected_ack", "", "The broker's answers on session links that fit nothing open."),
    LINK_SESSION_LOST("holdfast.link.session_lost", "", "Devices closed because the broker lost their session."),

    UPLINK_CONNECTED("holdfast.uplink.connected", "", "Uplink connections that were accepted."),
    UPLINK_LOST("holdfast.uplink.lost", "", "Uplink connections that ended."),
    UPLINK_REFUSED("holdfast.uplink.refused", "", "Uplink CONNECTs refused by the broker."),
    UPLINK_RECYCLED("holdfast.uplink.recycled", "", "Uplinks closed because an acknowledgement was overdue."),
    UPLINK_RESUME_LOST("holdfast.uplink.resume_lost", "", "Broker sessions lost with records unfinished."),
    UPLINK_SENT("holdfast.uplink.sent", "", "PUBLISHes sent by uplinks, resends included."),
    UPLINK_RESENT("holdfast.uplink.resent", "", "PUBLISHes that an uplink sent again after a reconnect."),
    UPLINK_UNEXPECTED_ACK("holdfast.uplink.unexpected_ack", "", "Acknowledgements that fit nothing in flight."),
    UPLINK_REORDERED("holdfast.uplink.reordered", "", "Records that were refused for a time and so came late."),
    UPLINK_PROPERTIES_LOST(
            "holdfast.uplink.properties_lost", "", "Records with properties sent to a broker older than MQTT 5."),
    UPLINK_SESSION_EXPIRY_LOWERED(
            "holdfast.uplink.session_expiry_lowered", "", "CONNACKs that granted the uplink a session that ends."),

    UPLINK_HUNG_UP("holdfast.uplink.hung_up", "", "Times the broker closed an uplink while PUBLISHes were unanswered."),
    DEAD_LETTER_FAILED("holdfast.dead_letters.failed", "", "Times a dead letter could not be written: tried again."),

    DEVICE_TLS_NO_TLS("holdfast.tls.device.failed", "no_tls", "Devices that sent plain bytes to a TLS listener."),
    DEVICE_TLS_NO_CERTIFICATE("holdfast.tls.device.failed", "no_certificate", "Devices without a client certificate."),
    DEVICE_TLS_CERTIFICATE(
            "holdfast.tls.device.failed", "certificate", "Devices whose client certificate is not accepted."),
    DEVICE_TLS_DISTRUSTS_US(
            "holdfast.tls.device.failed", "distrusts_us", "Devices that do not accept our certificate."),
    DEVICE_TLS_VERSION("holdfast.tls.device.failed", "version", "Devices that speak neither TLS 1.2 nor 1.3."),
    DEVICE_TLS_UNFINISHED("holdfast.tls.device.failed", "unfinished", "Devices with no whole TLS handshake in time."),
    DEVICE_TLS_CLOSED("holdfast.tls.device.failed", "closed", "Devices that hung up during the TLS handshake."),
    DEVICE_TLS_OTHER("holdfast.tls.device.failed", "other", "Devices whose TLS failed in another way."),
    BROKER_TLS_EXPIRED("holdfast.tls.broker.failed", "expired", "The broker's certificate is not valid now."),
    BROKER_TLS_UNTRUSTED(
            "holdfast.tls.broker.failed", "untrusted", "The broker's certificate is signed by a stranger."),
    BROKER_TLS_WRONG_HOST("holdfast.tls.broker.failed", "wrong_host", "The broker's certificate is for another host."),
    BROKER_TLS_CLIENT_CERTIFICATE(
            "holdfast.tls.broker.failed", "client_certificate", "The broker wants a client certificate, or another."),
    BROKER_TLS_NO_TLS("holdfast.tls.broker.failed", "no_tls", "The broker does not speak TLS on this port."),
    BROKER_TLS_VERSION("holdfast.tls.broker.failed", "version", "The broker speaks neither TLS 1.2 nor 1.3."),
    BROKER_TLS_TIMEOUT("holdfast.tls.broker.failed", "timeout", "The broker did not finish the TLS handshake."),
    BROKER_TLS_OTHER("holdfast.tls.broker.failed", "other", "TLS to the broker failed in another way."),

    BROKER_PROTOCOL_ERRORS("holdfast.protocol.broker_errors", "", "Protocol violations by the broker."),

    DEVICES_CONNECTED(Kind.GAUGE, "holdfast.devices.connected", "Devices connected now."),
    INGRESS_BYTES(Kind.GAUGE, "holdfast.ingress.bytes", "Bytes of outbox PUBLISHes that are not settled."),
    DEAD_LETTERS(Kind.GAUGE, "holdfast.dead_letters", "Dead letters that are there."),
    DEAD_LETTER_BYTES(Kind.GAUGE, "holdfast.dead_letters.bytes", "Bytes of the files of dead letters."),
    OUTBOX_PENDING(Kind.LANE_GAUGE, "holdfast.outbox.pending", "Records not finished."),
    OUTBOX_BYTES(Kind.LANE_GAUGE, "holdfast.outbox.bytes", "Bytes of the segment files."),
    OUTBOX_SEGMENTS(Kind.LANE_GAUGE, "holdfast.outbox.segments", "Segment files."),
    OUTBOX_SESSIONS(Kind.LANE_GAUGE, "holdfast.outbox.sessions", "Sessions whose received ids are remembered."),
    OUTBOX_ACCEPTED(Kind.LANE_COUNTER, "holdfast.outbox.accepted", "Records that became durable, ever."),
    OUTBOX_DELIVERED(Kind.LANE_COUNTER, "holdfast.outbox.delivered", "Records that the broker acknowledged, ever."),
    OUTBOX_EXPIRED(Kind.LANE_COUNTER, "holdfast.outbox.expired", "Records that expired before they were sent, ever."),
    OUTBOX_DEAD_LETTERED(
            Kind.LANE_GAUGE, "holdfast.outbox.dead_lettered", "Records that went to the dead letters and are there."),
    OUTBOX_DROPPED(Kind.LANE_COUNTER, "holdfast.outbox.dropped", "Records dropped, by reason, ever."),
    SEGMENTS_RECLAIMED(Kind.LANE_COUNTER, "holdfast.outbox.segments.reclaimed", "Segment files deleted."),
    DEDUP_ENTRIES(Kind.LANE_GAUGE, "holdfast.dedup.entries", "Message identities that are remembered (--dedup)."),
    DEDUP_FORGOTTEN(
            Kind.LANE_COUNTER,
            "holdfast.dedup.forgotten",
            "Message identities forgotten within --dedup-window: there were more than --dedup-max-entries."),
    SEGMENTS_DEAD(Kind.LANE_COUNTER, "holdfast.outbox.segments.dead", "Segment files given up: a sync failed."),
    OUTBOX_MISSING(
            Kind.LANE_COUNTER,
            "holdfast.outbox.missing",
            "Records that were in the log and are not any more: damaged, or their file is gone."),
    OUTBOX_DAMAGED_PLACES(
            Kind.LANE_COUNTER,
            "holdfast.outbox.damaged.places",
            "Places in segment files that were found damaged; the log names file and offset."),
    OUTBOX_DAMAGED_FILES_DELETED(
            Kind.LANE_COUNTER,
            "holdfast.outbox.damaged.files.deleted",
            "Damaged files deleted because more than 8, or 256 MiB, were kept in a lane."),
    RECEIVED_ID_REUSED(
            Kind.LANE_COUNTER,
            "holdfast.publish.id_reused",
            "QoS 2 packet ids that came again with another content: a new message."),
    UPLINK_UP(Kind.LANE_GAUGE, "holdfast.uplink.up", "1 while the uplink is connected."),
    UPLINK_IN_FLIGHT(Kind.LANE_GAUGE, "holdfast.uplink.in_flight", "Span of send numbers in flight."),
    UPLINK_PROGRESS_AGE(
            Kind.LANE_GAUGE,
            "holdfast.uplink.progress_age_seconds",
            "Seconds since a record was finished or the uplink connected.");

    /** What a meter is and where its value comes from. */
    public enum Kind {
        /** Counted by {@link Counters} since the process started. */
        COUNTER,
        /** Computed when asked. */
        GAUGE,
        /** Computed when asked, one per lane. */
        LANE_GAUGE,
        /** Read from the outbox when asked, one per lane. */
        LANE_COUNTER
    }

    private final Kind kind;
    private final String meterName;
    private final String reason;
    private final String sentence;

    Meter(String meterName, String reason, String sentence) {
        this(Kind.COUNTER, meterName, reason, sentence);
    }

    Meter(Kind kind, String meterName, String sentence) {
        this(kind, meterName, "", sentence);
    }

    Meter(Kind kind, String meterName, String reason, String sentence) {
        this.kind = kind;
        this.meterName = meterName;
        this.reason = reason;
        this.sentence = sentence;
    }

    /** What it is. */
    public Kind kind() {
        return kind;
    }

    /** The Micrometer name; Prometheus shows it with underscores and {@code _total}. */
    public String meterName() {
        return meterName;
    }

    /** The value of the tag {@code reason}, or the empty string when the meter has none. */
    public String reason() {
        return reason;
    }

    /** What the counter means. */
    public String sentence() {
        return sentence;
    }
}
