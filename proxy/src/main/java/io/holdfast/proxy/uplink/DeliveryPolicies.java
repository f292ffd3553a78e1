package io.holdfast.proxy.uplink;

import io.holdfast.proxy.ProxyContext;
import io.holdfast.proxy.admission.GiveUp;
import io.holdfast.proxy.admission.Route;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToIntFunction;

/** What becomes of records that cannot be delivered: the flags, unless the record's route says otherwise. Immutable. */
public final class DeliveryPolicies {
    private static final byte DROPS_PERMANENT = 1;
    private static final byte DROPS_EXPIRED = 2;

    private final ProxyContext.Delivery settings;
    private final byte[] byRoute;
    private final byte fallback;

    /**
     * Reads the routes.
     *
     * @param storeNumbers the number under which the store knows a route, by its text
     */
    public DeliveryPolicies(ProxyContext.Delivery settings, List<Route> routes, ToIntFunction<String> storeNumbers) {
        this.settings = settings;
        this.fallback = bits(settings.onPermanentFailure(), settings.onExpired());
        int known = routes.stream()
                .mapToInt(route -> storeNumbers.applyAsInt(route.toString()) + 1)
                .max()
                .orElse(0);
        this.byRoute = new byte[known];
        Arrays.fill(byRoute, fallback); // those of earlier configurations too
        for (Route route : routes) {
            byRoute[storeNumbers.applyAsInt(route.toString())] = bits(
                    route.onPermanentFailure().orElse(settings.onPermanentFailure()),
                    route.onExpired().orElse(settings.onExpired()));
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

    ProxyContext.Delivery settings() {
        return settings;
    }
}
