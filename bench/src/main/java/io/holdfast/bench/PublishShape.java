package io.holdfast.bench;

import io.holdfast.codec.MqttVersion;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;

/** A QoS 1 PUBLISH as devices send it; the topic has 28 bytes, a User Property 27. */
public enum PublishShape {
    /** MQTT 3.1.1, payload of 64 bytes. */
    V311_64(MqttVersion.MQTT_3_1_1, 0, 64),
    /** MQTT 3.1.1, payload of 1 KiB. */
    V311_1024(MqttVersion.MQTT_3_1_1, 0, 1024),
    /** MQTT 5 without properties, payload of 64 bytes. */
    V5_64(MqttVersion.MQTT_5, 0, 64),
    /** MQTT 5 without properties, payload of 1 KiB. */
    V5_1024(MqttVersion.MQTT_5, 0, 1024),
    /** MQTT 5 with five User Properties, payload of 64 bytes. */
    V5_64_PROPERTIES(MqttVersion.MQTT_5, 5, 64),
    /** MQTT 5 with five User Properties, payload of 1 KiB. */
    V5_1024_PROPERTIES(MqttVersion.MQTT_5, 5, 1024);

    static final String TOPIC = "factory/7/line/3/temperature";

    private static final int PUBLISH_QOS_1 = 0x32;
    private static final int USER_PROPERTY = 0x26;
    private static final int MAX_SINGLE_BYTE = 0x7F;
    private static final int MAX_TWO_BYTES = 0x3FFF;

    private final MqttVersion version;
    private final int userProperties;
    private final int payloadLength;

    PublishShape(MqttVersion version, int userProperties, int payloadLength) {
        this.version = version;
        this.userProperties = userProperties;
        this.payloadLength = payloadLength;
    }

    /** The protocol version of the frame. */
    public MqttVersion version() {
        return version;
    }

    /** Appends one such frame. */
    public void write(ByteBuf out, int packetId) {
        ByteBuf body = Unpooled.buffer();
        string(body, TOPIC);
        body.writeShort(packetId);
        if (version.isV5()) {
            ByteBuf properties = Unpooled.buffer();
            for (int i = 0; i < userProperties; i++) {
                properties.writeByte(USER_PROPERTY);
                string(properties, "device-info-" + i);
                string(properties, "value-" + (1000 + i));
            }
            variableByteInteger(body, properties.readableBytes());
            body.writeBytes(properties);
        }
        body.writeZero(payloadLength);
        out.writeByte(PUBLISH_QOS_1);
        variableByteInteger(out, body.readableBytes());
        out.writeBytes(body);
    }

    private static void string(ByteBuf out, String text) {
        out.writeShort(text.length());
        ByteBufUtil.writeAscii(out, text);
    }

    /** Up to 16,383: two bytes. */
    static void variableByteInteger(ByteBuf out, int value) {
        if (value > MAX_TWO_BYTES) {
            throw new IllegalArgumentException("more than two bytes: " + value);
        }
        if (value > MAX_SINGLE_BYTE) {
            out.writeByte((value & MAX_SINGLE_BYTE) | (MAX_SINGLE_BYTE + 1));
            out.writeByte(value >> 7);
        } else {
            out.writeByte(value);
        }
    }
}
