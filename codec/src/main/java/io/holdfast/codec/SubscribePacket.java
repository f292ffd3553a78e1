package io.holdfast.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.util.ArrayList;
import java.util.List;

/**
 * A SUBSCRIBE (v5 §3.8).
 *
 * @param packetId 1 to 65,535.
 * @param subscriptions in the packet's order, at least one.
 * @param subscriptionIdentifier 1 to 268,435,455; 0 for none.
 */
public record SubscribePacket(int packetId, List<Subscription> subscriptions, int subscriptionIdentifier) {
    private static final int FIRST_BYTE = PacketType.SUBSCRIBE << 4 | 0x2;
    private static final int QOS = 0x03;
    private static final int RETAIN_HANDLING = 0x30;
    private static final int RESERVED_V5 = 0xC0;
    private static final int RESERVED_V3 = 0xFC;

    public SubscribePacket {
        subscriptions = List.copyOf(subscriptions);
    }

    /**
     * Reads and checks a whole packet.
     *
     * @param bodyOffset behind the fixed header; {@code end} exclusive.
     * @throws MqttProtocolException for whatever breaks the protocol; 0x8F for an invalid Topic Filter.
     */
    public static SubscribePacket parse(ByteBuf buf, int bodyOffset, int end, MqttVersion version) {
        BodyReader body = new BodyReader(buf, bodyOffset, end, PacketType.SUBSCRIBE, version);
        int packetId = body.readPacketId();
        int subscriptionIdentifier = readSubscriptionIdentifier(body);
        List<Subscription> subscriptions = new ArrayList<>();
        readSubscriptions(body, version, subscriptions);
        return new SubscribePacket(packetId, subscriptions, subscriptionIdentifier);
    }

    /** Checks a whole packet as {@link #parse} does, in constant memory. */
    static void check(ByteBuf buf, int bodyOffset, int end, MqttVersion version) {
        BodyReader body = new BodyReader(buf, bodyOffset, end, PacketType.SUBSCRIBE, version);
        body.readPacketId();
        readSubscriptionIdentifier(body);
        readSubscriptions(body, version, null);
    }

    private static int readSubscriptionIdentifier(BodyReader body) {
        int subscriptionIdentifier = 0;
        PropertyCursor property = body.readProperties();
        long seen = 0;
        while (property.next()) {
            seen = PropertyRules.check(property, PacketType.SUBSCRIBE, seen);
            if (property.identifier() == PropertyId.SUBSCRIPTION_IDENTIFIER) {
                subscriptionIdentifier = (int) property.intValue();
            }
        }
        return subscriptionIdentifier;
    }

    /** {@code into} may be null. */
    private static void readSubscriptions(BodyReader body, MqttVersion version, List<Subscription> into) {
        if (!body.hasMore()) {
            throw body.protocolError(version.isV5() ? "MQTT-3.8.3-2" : "MQTT-3.8.3-3", "no Topic Filter");
        }
        while (body.hasMore()) {
            String filter = body.readTopicFilter(into != null);
            int options = body.readByte("Subscription Options");
            checkOptions(body, version, filter, options);
            if (into != null) {
                into.add(new Subscription(filter, version == MqttVersion.MQTT_3_1 ? options & QOS : options));
            }
        }
    }

    private static void checkOptions(BodyReader body, MqttVersion version, String filter, int options) {
        // 3.1 leaves the upper bits unused.
        int reserved = version.isV5() ? RESERVED_V5 : version == MqttVersion.MQTT_3_1 ? 0 : RESERVED_V3;
        if ((options & reserved) != 0) {
            throw body.malformed(version.isV5() ? "MQTT-3.8.3-5" : "MQTT-3-8.3-4", "reserved Subscription Options set");
        }
        if ((options & QOS) == QOS) {
            throw body.malformed(version.isV5() ? "" : "MQTT-3-8.3-4", "a requested QoS of 3");
        }
        if (!version.isV5()) {
            return;
        }
        if ((options & RETAIN_HANDLING) == RETAIN_HANDLING) {
            throw body.protocolError("", "a Retain Handling of 3");
        }
        if ((options & Subscription.NO_LOCAL) != 0 && filter != null && TopicFilter.isShared(filter)) {
            throw body.protocolError("MQTT-3.8.3-4", "No Local on a Shared Subscription");
        }
    }

    /**
     * Writes a packet.
     *
     * @param packetId 1 to 65,535.
     * @param subscriptions at least one; before v5 only the QoS of their options is written.
     * @param subscriptionIdentifier 0 for none; ignored before v5.
     */
    public static void write(
            ByteBuf out,
            MqttVersion version,
            int packetId,
            List<Subscription> subscriptions,
            int subscriptionIdentifier) {
        int propertiesLength = subscriptionIdentifier == 0 ? 0 : 1 + VariableByteInteger.size(subscriptionIdentifier);
        int length = Short.BYTES + (version.isV5() ? 1 + propertiesLength : 0);
        for (Subscription subscription : subscriptions) {
            length += Short.BYTES + ByteBufUtil.utf8Bytes(subscription.filter()) + 1;
        }
        out.writeByte(FIRST_BYTE);
        VariableByteInteger.write(out, length);
        out.writeShort(packetId);
        if (version.isV5()) {
            out.writeByte(propertiesLength);
            if (propertiesLength > 0) {
                out.writeByte(PropertyId.SUBSCRIPTION_IDENTIFIER);
                VariableByteInteger.write(out, subscriptionIdentifier);
            }
        }
        for (Subscription subscription : subscriptions) {
            out.writeShort(ByteBufUtil.utf8Bytes(subscription.filter()));
            ByteBufUtil.writeUtf8(out, subscription.filter());
            out.writeByte(version.isV5() ? subscription.options() : subscription.qos());
        }
    }
}
