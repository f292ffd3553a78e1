package io.holdfast.proxy.admission;

import io.holdfast.codec.MqttProtocolException;
import io.holdfast.codec.ReasonCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/** The topic aliases that a device has defined on this connection (v5 §3.3.2.3.4). One event loop. */
final class TopicAliases {
    private final int maximum;
    private ByteBuf[] topics;

    /** @param maximum the Topic Alias Maximum that the device was told. */
    TopicAliases(int maximum) {
        this.maximum = maximum;
    }

    /** Defines {@code alias} as a topic name, which is copied. */
    void define(int alias, ByteBuf buffer, int index, int length) {
        check(alias);
        if (topics == null) {
            topics = new ByteBuf[maximum + 1];
        }
        byte[] topic = new byte[length];
        buffer.getBytes(index, topic);
        topics[alias] = Unpooled.wrappedBuffer(topic);
    }

    /** The topic name of an alias, to be read only. */
    ByteBuf resolve(int alias) {
        check(alias);
        ByteBuf topic = topics == null ? null : topics[alias];
        if (topic == null) {
            throw MqttProtocolException.protocolError("MQTT-3.3.2-8", "Topic Alias " + alias + " was never defined");
        }
        return topic;
    }

    private void check(int alias) {
        if (alias > maximum) {
            throw MqttProtocolException.of(
                    ReasonCode.TOPIC_ALIAS_INVALID,
                    "MQTT-3.3.2-9",
                    "Topic Alias " + alias + " is above the maximum of " + maximum);
        }
    }
}
