package io.holdfast.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;

/**
 * A Topic Filter, checked once and then matched against the raw bytes of Topic Names (v5 §4.7): iterative, in time
 * linear in the name, allocating nothing. Immutable.
 */
public final class TopicFilter {
    /** The most levels; see {@link TopicName#MAX_LEVELS}. */
    public static final int MAX_LEVELS = TopicName.MAX_LEVELS;

    private static final String SHARE_PREFIX = "$share/";

    private final String text;
    private final byte[] filter;

    private TopicFilter(String text, byte[] filter) {
        this.text = text;
        this.filter = filter;
    }

    /**
     * Checks a filter.
     *
     * @throws IllegalArgumentException that says what is wrong with it, in words for a person.
     */
    public static TopicFilter compile(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        String problem = !StandardCharsets.UTF_8.newEncoder().canEncode(text)
                ? "it has half of a surrogate pair"
                : problem(Unpooled.wrappedBuffer(bytes), 0, bytes.length);
        if (problem != null) {
            throw new IllegalArgumentException("topic filter '" + text + "': " + problem);
        }
        return new TopicFilter(text, bytes);
    }

    /** True if the bytes are a Topic Filter: UTF-8, not empty, wildcards in their place, at most {@link #MAX_LEVELS} levels. */
    public static boolean isValidFilter(ByteBuf in, int index, int length) {
        return MqttUtf8.isWellFormed(in, index, length) && problem(in, index, length) == null;
    }

    static boolean isTooDeep(ByteBuf in, int index, int length) {
        int levels = 1;
        for (int i = index; i < index + length; i++) {
            levels += in.getByte(i) == '/' ? 1 : 0;
        }
        return levels > MAX_LEVELS;
    }

    /** True if the filter is that of a Shared Subscription (v5 §4.8.2), well-formed or not. */
    public static boolean isShared(String filter) {
        return filter.startsWith(SHARE_PREFIX) || filter.equals("$share");
    }

    /**
     * The filter of a Shared Subscription without {@code $share/ShareName/}; any other filter as it is.
     *
     * @throws IllegalArgumentException if the share name is empty or has a wildcard, or no filter follows
     *     [MQTT-4.8.2-1], [MQTT-4.8.2-2].
     */
    public static String stripShare(String filter) {
        if (!isShared(filter)) {
            return filter;
        }
        if (!isShareWellFormed(filter)) {
            throw new IllegalArgumentException("topic filter '" + filter
                    + "': a shared subscription is $share/NAME/FILTER, without + or # in NAME");
        }
        return filter.substring(filter.indexOf('/', SHARE_PREFIX.length()) + 1);
    }

    /** False only for a Shared Subscription whose name is empty or has a wildcard, or that has no filter. */
    static boolean isShareWellFormed(String filter) {
        if (!isShared(filter)) {
            return true;
        }
        int nameEnd = filter.indexOf('/', SHARE_PREFIX.length());
        if (nameEnd <= SHARE_PREFIX.length() || nameEnd + 1 == filter.length()) {
            return false;
        }
        String name = filter.substring(SHARE_PREFIX.length(), nameEnd);
        return name.indexOf('+') < 0 && name.indexOf('#') < 0;
    }

    /** What is wrong with a well-formed string as a filter, or null. */
    private static String problem(ByteBuf in, int index, int length) {
        if (length == 0) {
            return "it is empty";
        }
        if (length > TopicName.MAX_BYTES) {
            return "it has more than " + TopicName.MAX_BYTES + " bytes";
        }
        int end = index + length;
        int levels = 1;
        for (int i = index; i < end; i++) {
            int b = in.getByte(i);
            if (b == '/') {
                levels++;
            } else if (b == 0) {
                return "it has the character U+0000";
            } else if (b == '+' || b == '#') {
                if (i > index && in.getByte(i - 1) != '/') {
                    return "'" + (char) b + "' must stand alone in its level";
                }
                if (b == '#' && i + 1 < end) {
                    return "'#' must be the last character";
                }
                if (b == '+' && i + 1 < end && in.getByte(i + 1) != '/') {
                    return "'+' must stand alone in its level";
                }
            }
        }
        return levels > MAX_LEVELS ? "it has more than " + MAX_LEVELS + " levels" : null;
    }

    /** Whether a Topic Name, {@code length} bytes at {@code index}, matches. An empty name matches nothing. */
    public boolean matches(ByteBuf name, int index, int length) {
        if (length == 0 || (name.getByte(index) == '$' && beginsWithWildcard())) {
            return false;
        }
        int end = index + length;
        int n = index;
        int f = 0;
        while (true) {
            if (f < filter.length && filter[f] == '#') {
                return true;
            }
            if (f < filter.length && filter[f] == '+') {
                f++;
                while (n < end && name.getByte(n) != '/') {
                    n++;
                }
            } else {
                while (f < filter.length && filter[f] != '/' && n < end && name.getByte(n) == filter[f]) {
                    f++;
                    n++;
                }
            }
            if (n == end) {
                return isFilterSatisfiedAt(f);
            }
            if (f == filter.length || filter[f] != '/' || name.getByte(n) != '/') {
                return false;
            }
            f++;
            n++;
        }
    }

    /** As {@link #matches(ByteBuf, int, int)}. */
    public boolean matches(byte[] name, int index, int length) {
        if (length == 0 || (name[index] == '$' && beginsWithWildcard())) {
            return false;
        }
        int end = index + length;
        int n = index;
        int f = 0;
        while (true) {
            if (f < filter.length && filter[f] == '#') {
                return true;
            }
            if (f < filter.length && filter[f] == '+') {
                f++;
                while (n < end && name[n] != '/') {
                    n++;
                }
            } else {
                while (f < filter.length && filter[f] != '/' && n < end && name[n] == filter[f]) {
                    f++;
                    n++;
                }
            }
            if (n == end) {
                return isFilterSatisfiedAt(f);
            }
            if (f == filter.length || filter[f] != '/' || name[n] != '/') {
                return false;
            }
            f++;
            n++;
        }
    }

    /** With the name at its end: nothing is left of the filter, or only the {@code /#} that also means the parent. */
    private boolean isFilterSatisfiedAt(int f) {
        return f == filter.length || (f == filter.length - 2 && filter[f] == '/' && filter[f + 1] == '#');
    }

    /** Such a filter does not match names that begin with $ [MQTT-4.7.2-1]. */
    private boolean beginsWithWildcard() {
        return filter[0] == '+' || filter[0] == '#';
    }

    /** The text of the filter. */
    @Override
    public String toString() {
        return text;
    }
}
