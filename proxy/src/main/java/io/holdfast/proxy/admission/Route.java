package io.holdfast.proxy.admission;

import io.holdfast.codec.TopicFilter;
import io.netty.buffer.ByteBuf;
import java.util.Locale;

/**
 * A topic filter with its delivery mode and policies: {@code MODE[:key=value,…] FILTER}.
 *
 * <p>In a route {@code #} alone matches every topic, those that begin with {@code $} too: a route is no subscription.
 */
public final class Route {
    private static final String FORM = "a route is 'hold FILTER' or 'outbox[:when-full=hold|reject] FILTER'";

    private final String text;
    private final DeliveryMode mode;
    private final WhenFull whenFull;
    private final TopicFilter filter;
    private final boolean catchAll;

    private Route(String text, DeliveryMode mode, WhenFull whenFull, TopicFilter filter, boolean catchAll) {
        this.text = text;
        this.mode = mode;
        this.whenFull = whenFull;
        this.filter = filter;
        this.catchAll = catchAll;
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
        WhenFull whenFull = WhenFull.HOLD;
        if (colon >= 0) {
            for (String policy : head.substring(colon + 1).split(",", -1)) {
                whenFull = parsePolicy(policy, mode, text);
            }
        }
        return new Route(text, mode, whenFull, TopicFilter.compile(filter), filter.equals("#"));
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

    private static WhenFull parsePolicy(String policy, DeliveryMode mode, String text) {
        if (mode == DeliveryMode.OUTBOX && policy.startsWith("when-full=")) {
            String value = policy.substring("when-full=".length());
            for (WhenFull candidate : WhenFull.values()) {
                if (candidate.name().toLowerCase(Locale.ROOT).equals(value)) {
                    return candidate;
                }
            }
            throw new IllegalArgumentException("'" + text + "': when-full is 'hold' or 'reject', not '" + value + "'");
        }
        throw new IllegalArgumentException("'" + text + "': '" + policy + "' is no policy of "
                + mode.name().toLowerCase(Locale.ROOT) + ": " + FORM);
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

    /** The route as it was written; the name of its counters. */
    @Override
    public String toString() {
        return text;
    }
}
