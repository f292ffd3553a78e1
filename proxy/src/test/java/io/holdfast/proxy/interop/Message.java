package io.holdfast.proxy.interop;

import java.nio.charset.StandardCharsets;

/**
 * A message with everything that a client sees of it.
 *
 * @param payload the bytes as ISO 8859-1, which keeps each and prints well
 */
record Message(String topic, int qos, boolean retain, boolean dup, String payload, Properties properties) {

    static Message of(String topic, int qos, String payload) {
        return new Message(topic, qos, false, false, payload, Properties.NONE);
    }

    static Message of(String topic, int qos, boolean retain, boolean dup, byte[] payload, Properties properties) {
        return new Message(topic, qos, retain, dup, new String(payload, StandardCharsets.ISO_8859_1), properties);
    }

    byte[] bytes() {
        return payload.getBytes(StandardCharsets.ISO_8859_1);
    }

    Message retained() {
        return new Message(topic, qos, true, dup, payload, properties);
    }

    /** As a subscriber gets it whose subscription was there before ([MQTT-3.3.1-9]). */
    Message live() {
        return new Message(topic, qos, false, dup, payload, properties);
    }

    Message atQos(int granted) {
        return new Message(topic, Math.min(qos, granted), retain, dup, payload, properties);
    }

    Message with(Properties all) {
        return new Message(topic, qos, retain, dup, payload, all);
    }
}
