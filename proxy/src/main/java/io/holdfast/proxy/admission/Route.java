package io.holdfast.proxy.admission;

import io.holdfast.codec.TopicFilter;
import io.holdfast.proxy.GiveUp;
import io.netty.buffer.ByteBuf;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A topic filter with its delivery mode and policies: {@code MODE[:key=value,…] FILTER}.
 *
 * <p>In a route {@code #} alone matches every topic, those that begin with {@code $} too: a route is no subscription.
 */
public final class Route {
    private static final String FORM =
            "a route is 'hold FILTER' or 'outbox[:KEY=VALUE,…] FILTER' with when-full=hold|reject|drop-oldest|drop-new,"
                    + " on-permanent-failure=dead-letter|drop, on-expired=dead-letter|drop";

    private static final Set<String> KEYS = Set.of("when-full", "on-permanent-failure", "on-expired");

    private final String text;
    private final DeliveryMode mode;
    private final WhenFull whenFull;
    private final Optional<GiveUp> onPermanentFailure;
    private final Optional<GiveUp> onExpired;
    private final TopicFilter filter;
    private final boolean catchAll;

    private Route(String text, DeliveryMode mode, Map<String, String> policies, String filter) {
        this.text = text;
        this.mode = mode;
        this.whenFull = Optional.ofNullable(policies.get("when-full"))
                .map(value -> choice(WhenFull.values(), "when-full", value, text))
                .orElse(WhenFull.HOLD);
        this.onPermanentFailure = giveUp(policies, "on-permanent-failure", text);
        this.onExpired = giveUp(policies, "on-expired", text);
        this.filter = TopicFilter.compile(filter);
        this.catchAll = filter.equals("#");
    }

    /**
     * Reads a route.
     *
     * @throws IllegalArgumentException with a text that says what is wrong and what would be right.
     */
    public static Route parse(String text) {
        int space = text.indexOf(' ');
        if (space < 0) {
            throw new IllegalArgumentException("'" + text + "' has no topic filter: " + FORM);
        }
        String head = text.substring(0, space);
        String filter = text.substring(space + 1).trim();
        int colon = head.indexOf(':');
        DeliveryMode mode = parseMode(colon < 0 ? head : head.substring(0, colon), text);
        Map<String, String> policies = new HashMap<>();
        if (colon >= 0) {
            for (String policy : head.substring(colon + 1).split(",", -1)) {
                int equals = policy.indexOf('=');
                String key = equals < 0 ? policy : policy.substring(0, equals);
                if (mode != DeliveryMode.OUTBOX || equals < 0 || !KEYS.contains(key)) {
                    throw new IllegalArgumentException("'" + text + "': '" + policy + "' is no policy of "
                            + mode.name().toLowerCase(Locale.ROOT) + ": " + FORM);
                }
                if (policies.put(key, policy.substring(equals + 1)) != null) {
                    throw new IllegalArgumentException("'" + text + "' has " + key + " twice");
                }
            }
        }
        return new Route(text, mode, policies, filter);
    }

    private static DeliveryMode parseMode(String word, String text) {
        return switch (word) {
            case "hold" -> DeliveryMode.HOLD;
            case "outbox" -> DeliveryMode.OUTBOX;
            default ->
                throw new IllegalArgumentException(
                        "'" + text + "' begins with '" + word + "', no delivery mode: " + FORM);
        };
    }

    private static Optional<GiveUp> giveUp(Map<String, String> policies, String key, String text) {
        return Optional.ofNullable(policies.get(key)).map(value -> choice(GiveUp.values(), key, value, text));
    }

    private static <E extends Enum<E>> E choice(E[] choices, String key, String value, String text) {
        for (E candidate : choices) {
            if (candidate.name().toLowerCase(Locale.ROOT).replace('_', '-').equals(value)) {
                return candidate;
            }
        }
        throw new IllegalArgumentException("'" + text + "': there is no " + key + "=" + value + ": " + FORM);
    }

    /** Whether a topic takes this route; the bytes are a valid topic name. */
    public boolean matches(ByteBuf buffer, int index, int length) {
        return catchAll || filter.matches(buffer, index, length);
    }

    /** Whether every topic takes this route. */
    public boolean isCatchAll() {
        return catchAll;
    }

    /** How the route settles. */
    public DeliveryMode mode() {
        return mode;
    }

    /** What happens when the outbox is full. */
    public WhenFull whenFull() {
        return whenFull;
    }

    /** What becomes of a record that the broker refuses for good; empty: what the flag says. */
    public Optional<GiveUp> onPermanentFailure() {
        return onPermanentFailure;
    }

    /** What becomes of a record that expired before it was sent; empty: what the flag says. */
    public Optional<GiveUp> onExpired() {
        return onExpired;
    }

    /** The route as it was written; the name of its counters. */
    @Override
    public String toString() {
        return text;
    }
}
