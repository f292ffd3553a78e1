package io.holdfast.proxy.admission;

import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.function.ToIntFunction;

/** The routes in their order; the first match wins. A topic that none matches goes by hold, 1:1. Immutable. */
public final class RouteTable {
    /** What {@link #match} answers for a topic that no route matches. */
    public static final int UNMATCHED = -1;

    private final Route[] routes;
    private final int[] storeNumbers;
    private final boolean anyHold;
    private final boolean anyOutbox;

    /**
     * Makes the table.
     *
     * @param routes       may be empty
     * @param storeNumbers the store's number of a route's text
     */
    public RouteTable(List<Route> routes, ToIntFunction<String> storeNumbers) {
        this.routes = routes.toArray(new Route[0]);
        this.storeNumbers =
                routes.stream().map(Route::toString).mapToInt(storeNumbers).toArray();
        this.anyOutbox = routes.stream().anyMatch(route -> route.mode() == DeliveryMode.OUTBOX);
        this.anyHold = routes.stream().noneMatch(Route::isCatchAll)
                || routes.stream().anyMatch(route -> route.mode() == DeliveryMode.HOLD);
    }

    /** The number of the route that a topic takes, or {@link #UNMATCHED}. */
    public int match(ByteBuf buffer, int index, int length) {
        for (int i = 0; i < routes.length; i++) {
            if (routes[i].matches(buffer, index, length)) {
                return i;
            }
        }
        return UNMATCHED;
    }

    /**
     * The store's number of the route that a record is counted under. A packet id that the outbox owns stays its own on
     * any topic: without a route it counts under the first.
     */
    public int storeNumber(int route) {
        return storeNumbers[route == UNMATCHED ? 0 : route];
    }

    /** How a route settles. */
    public DeliveryMode mode(int route) {
        return route == UNMATCHED ? DeliveryMode.HOLD : routes[route].mode();
    }

    /** What a route does when the outbox is full. */
    public WhenFull whenFull(int route) {
        return route == UNMATCHED ? WhenFull.HOLD : routes[route].whenFull();
    }

    /** The configured routes, first match first. */
    public List<Route> routes() {
        return List.of(routes);
    }

    /** Whether some topic can go by hold. */
    public boolean anyHold() {
        return anyHold;
    }

    /** Whether some topic can go to the outbox. */
    public boolean anyOutbox() {
        return anyOutbox;
    }
}
