package io.holdfast.proxy.uplink;

import io.holdfast.proxy.GiveUp;
import io.holdfast.proxy.ProxyContext;
import java.util.Arrays;
import java.util.List;
import org.agrona.concurrent.NanoClock;

/** What becomes of records that cannot be delivered: the flags, unless the record's route says otherwise. Immutable. */
public final class DeliveryPolicies {
    private static final byte DROPS_PERMANENT = 1;
    private static final byte DROPS_EXPIRED = 2;

    private final ProxyContext.Delivery settings;
    private final byte[] byRoute;
    private final byte fallback;

    /**
     * What a route says.
     *
     * @param storeNumber the number under which the store knows it
     */
    public record OfRoute(int storeNumber, GiveUp onPermanentFailure, GiveUp onExpired) {}

    /** Takes over the flags and what the configured routes say; routes of earlier configurations follow the flags. */
    public DeliveryPolicies(ProxyContext.Delivery settings, List<OfRoute> routes) {
        this.settings = settings;
        this.fallback = bits(settings.onPermanentFailure(), settings.onExpired());
        this.byRoute =
                new byte[routes.stream().mapToInt(OfRoute::storeNumber).max().orElse(-1) + 1];
        Arrays.fill(byRoute, fallback);
        for (OfRoute route : routes) {
            byRoute[route.storeNumber()] = bits(route.onPermanentFailure(), route.onExpired());
        }
    }

    private static byte bits(GiveUp permanent, GiveUp expired) {
        return (byte) ((permanent == GiveUp.DROP ? DROPS_PERMANENT : 0) | (expired == GiveUp.DROP ? DROPS_EXPIRED : 0));
    }

    boolean dropsPermanentFailures(int storeRoute) {
        return (of(storeRoute) & DROPS_PERMANENT) != 0;
    }

    boolean dropsExpired(int storeRoute) {
        return (of(storeRoute) & DROPS_EXPIRED) != 0;
    }

    private byte of(int storeRoute) {
        return storeRoute < byRoute.length ? byRoute[storeRoute] : fallback;
    }

    /** Whether a record that was refused for a time, or never answered, has had all its attempts. */
    boolean isUsedUp(int attempts, long sinceFirstMs) {
        return attempts > settings.maxReplayAttempts() && sinceFirstMs >= settings.replayBudgetMs();
    }

    /** A pacer of one uplink, at the rates of the flags. */
    DrainPacer pacer(NanoClock clock) {
        return new DrainPacer(settings.drainMessages(), settings.drainBytes(), clock.nanoTime());
    }

    ProxyContext.Delivery settings() {
        return settings;
    }
}
