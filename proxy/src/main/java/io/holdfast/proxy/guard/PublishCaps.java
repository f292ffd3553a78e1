package io.holdfast.proxy.guard;

import io.holdfast.codec.PublishView;
import io.holdfast.proxy.ProxyContext;
import io.holdfast.proxy.metrics.Meter;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The caps on what a PUBLISH may carry. A packet over a cap is no protocol error: it is acknowledged and dropped,
 * counted, and the first of each class is logged at ERROR. Any event loop.
 */
public final class PublishCaps {
    private static final Logger LOG = LoggerFactory.getLogger(PublishCaps.class);
    private static final AtomicBoolean PAYLOAD_LOGGED = new AtomicBoolean();
    private static final AtomicBoolean METADATA_LOGGED = new AtomicBoolean();
    private static final AtomicBoolean USER_PROPERTIES_LOGGED = new AtomicBoolean();

    private PublishCaps() {}

    /** The counter of the cap that {@code publish} is over, or null if it is within all. */
    public static Meter violation(PublishView publish, ProxyContext.Devices limits, String clientId) {
        if (publish.userPropertyCount() > limits.maxUserProperties()) {
            if (LOG.isDebugEnabled()) {
                LOG.debug("Client '{}': a PUBLISH with {} User Properties", clientId, publish.countUserProperties());
            }
            report(
                    USER_PROPERTIES_LOGGED,
                    clientId,
                    "more User Properties than --max-user-properties",
                    limits.maxUserProperties());
            return Meter.DROPPED_CAP_USER_PROPERTIES;
        }
        if (publish.payloadLength() > limits.maxPayload()) {
            report(PAYLOAD_LOGGED, clientId, "a payload over --max-payload", limits.maxPayload());
            return Meter.DROPPED_CAP_PAYLOAD;
        }
        if (publish.metadataLength() > limits.maxMetadata()) {
            report(METADATA_LOGGED, clientId, "topic and properties over the limit", limits.maxMetadata());
            return Meter.DROPPED_CAP_METADATA;
        }
        return null;
    }

    private static void report(AtomicBoolean logged, String clientId, String what, int limit) {
        if (!logged.get() && logged.compareAndSet(false, true)) {
            LOG.error(
                    "A PUBLISH of client '{}' has {} ({}): acknowledged and dropped. Further ones are counted only"
                            + " (holdfast_dropped_total)",
                    clientId,
                    what,
                    limit);
        }
    }
}
