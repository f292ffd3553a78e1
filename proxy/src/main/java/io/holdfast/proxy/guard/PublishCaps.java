package io.holdfast.proxy.guard;

import io.holdfast.codec.PublishView;
import io.holdfast.proxy.ProxyContext;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The caps on what a PUBLISH may carry. A packet over a cap is no protocol error; the first of each kind is logged at
 * ERROR, all are counted by the caller. Any event loop.
 */
public final class PublishCaps {
    private static final Logger LOG = LoggerFactory.getLogger(PublishCaps.class);

    private final ProxyContext.Devices limits;
    private final Set<CapViolation> logged = ConcurrentHashMap.newKeySet();

    /** Nothing has been logged yet. */
    public PublishCaps(ProxyContext.Devices limits) {
        this.limits = limits;
    }

    /** The cap that {@code publish} is over, or null if it is within all. */
    public CapViolation violation(PublishView publish, String clientId) {
        if (publish.userPropertyCount() > limits.maxUserProperties()) {
            if (LOG.isDebugEnabled()) {
                LOG.debug("Client '{}': a PUBLISH with {} User Properties", clientId, publish.countUserProperties());
            }
            return report(CapViolation.USER_PROPERTIES, clientId, limits.maxUserProperties());
        }
        if (publish.payloadLength() > limits.maxPayload()) {
            return report(CapViolation.PAYLOAD, clientId, limits.maxPayload());
        }
        if (publish.metadataLength() > limits.maxMetadata()) {
            return report(CapViolation.METADATA, clientId, limits.maxMetadata());
        }
        return null;
    }

    private CapViolation report(CapViolation violation, String clientId, int limit) {
        if (!logged.contains(violation) && logged.add(violation)) {
            LOG.error(
                    "A PUBLISH of client '{}' has {} ({}): see --on-cap-violation. Further ones are counted only"
                            + " (holdfast_dropped_total, holdfast_rejected_total, holdfast_dead_letters)",
                    clientId,
                    violation.what(),
                    limit);
        }
        return violation;
    }
}
