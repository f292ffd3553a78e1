package io.holdfast.proxy.interop;

import java.util.ArrayList;
import java.util.List;

/**
 * The properties of a v5 PUBLISH that an application sees. Null is absent.
 *
 * @param utf8            Payload Format Indicator 1
 * @param correlationData the bytes as ISO 8859-1
 * @param user            in their order, names may repeat
 */
record Properties(boolean utf8, String contentType, String responseTopic, String correlationData, List<Pair> user) {
    static final Properties NONE = new Properties(false, null, null, null, List.of());

    /** A User Property. */
    record Pair(String name, String value) {}

    static Properties user(String... namesAndValues) {
        List<Pair> pairs = new ArrayList<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            pairs.add(new Pair(namesAndValues[i], namesAndValues[i + 1]));
        }
        return new Properties(false, null, null, null, List.copyOf(pairs));
    }
}
