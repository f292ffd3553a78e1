package io.holdfast.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;

/** A CONNACK (v5 §3.2), and its bytes, to pass it on. Immutable. */
public final class ConnackPacket {
    /** {@link #maximumPacketSize()} of a server that names none: the most the protocol can say. */
    public static final long NO_MAXIMUM_PACKET_SIZE = VariableByteInteger.MAX_VALUE + 5L;

    private static final int FIXED_FIELDS = 2;

    private final MqttVersion version;
    private final byte[] body;
    private final int propertiesOffset;
    private final boolean sessionPresent;
    private final int code;

    // v5 properties; the defaults are those of a packet without them.
    private int receiveMaximum = ConnectPacket.DEFAULT_RECEIVE_MAXIMUM;
    private int maximumQos = 2;
    private boolean retainAvailable = true;
    private long maximumPacketSize = NO_MAXIMUM_PACKET_SIZE;
    private String assignedClientIdentifier;
    private int topicAliasMaximum;
    private int serverKeepAlive = -1;
    private long sessionExpiryInterval = -1;
    private boolean wildcardSubscriptionAvailable = true;
    private boolean subscriptionIdentifiersAvailable = true;
    private boolean sharedSubscriptionAvailable = true;
    private String reasonString;

    private ConnackPacket(ByteBuf buf, int bodyOffset, int end, MqttVersion version) {
        this.version = version;
        BodyReader reader = new BodyReader(buf, bodyOffset, end, PacketType.CONNACK, version);
        int flags = reader.readByte("Connect Acknowledge Flags");
        // 3.1 leaves the byte unused.
        if (flags > 1 && version != MqttVersion.MQTT_3_1) {
            throw reader.malformed("MQTT-3.2.2-1", "reserved Connect Acknowledge Flags set");
        }
        code = reader.readByte("Connect Reason Code");
        if (version.isV5()) {
            ReasonCodeRules.check(PacketType.CONNACK, Direction.FROM_SERVER, code);
        } else if (code > ConnectReturnCode.NOT_AUTHORIZED) {
            throw reader.protocolError("", "the reserved return code 0x" + Integer.toHexString(code));
        }
        sessionPresent = flags == 1 && version != MqttVersion.MQTT_3_1;
        if (sessionPresent && code != 0) {
            throw reader.protocolError(
                    version.isV5() ? "MQTT-3.2.2-6" : "MQTT-3.2.2-4", "Session Present and a failure");
        }
        readProperties(reader.readProperties(), buf);
        reader.requireEnd();
        body = ByteBufUtil.getBytes(buf, bodyOffset, end - bodyOffset);
        propertiesOffset = FIXED_FIELDS + (version.isV5() ? sizeOfLengthAt(buf, bodyOffset + FIXED_FIELDS, end) : 0);
    }

    /**
     * Reads and checks a whole packet.
     *
     * @param bodyOffset behind the fixed header; {@code end} exclusive.
     * @throws MqttProtocolException for whatever breaks the protocol.
     */
    public static ConnackPacket parse(ByteBuf buf, int bodyOffset, int end, MqttVersion version) {
        return new ConnackPacket(buf, bodyOffset, end, version);
    }

    private void readProperties(PropertyCursor property, ByteBuf buf) {
        long seen = 0;
        while (property.next()) {
            seen = PropertyRules.check(property, PacketType.CONNACK, seen);
            long value = property.intValue();
            switch (property.identifier()) {
                case PropertyId.SESSION_EXPIRY_INTERVAL -> sessionExpiryInterval = value;
                case PropertyId.RECEIVE_MAXIMUM -> receiveMaximum = (int) value;
                case PropertyId.MAXIMUM_QOS -> maximumQos = (int) value;
                case PropertyId.RETAIN_AVAILABLE -> retainAvailable = value == 1;
                case PropertyId.MAXIMUM_PACKET_SIZE -> maximumPacketSize = value;
                case PropertyId.ASSIGNED_CLIENT_IDENTIFIER -> assignedClientIdentifier = text(buf, property);
                case PropertyId.TOPIC_ALIAS_MAXIMUM -> topicAliasMaximum = (int) value;
                case PropertyId.SERVER_KEEP_ALIVE -> serverKeepAlive = (int) value;
                case PropertyId.WILDCARD_SUBSCRIPTION_AVAILABLE -> wildcardSubscriptionAvailable = value == 1;
                case PropertyId.SUBSCRIPTION_IDENTIFIERS_AVAILABLE -> subscriptionIdentifiersAvailable = value == 1;
                case PropertyId.SHARED_SUBSCRIPTION_AVAILABLE -> sharedSubscriptionAvailable = value == 1;
                case PropertyId.REASON_STRING -> reasonString = text(buf, property);
                default -> {}
            }
        }
    }

    private static String text(ByteBuf buf, PropertyCursor property) {
        return buf.toString(property.stringOffset(), property.stringLength(), StandardCharsets.UTF_8);
    }

    private static int sizeOfLengthAt(ByteBuf buf, int index, int end) {
        return VariableByteInteger.bytes(VariableByteInteger.decode(buf, index, end));
    }

    public MqttVersion version() {
        return version;
    }

    public boolean sessionPresent() {
        return sessionPresent;
    }

    /** The v5 {@link ReasonCode}, or the {@link ConnectReturnCode}; 0 is success in both. */
    public int code() {
        return code;
    }

    /** 1 to 65,535. */
    public int receiveMaximum() {
        return receiveMaximum;
    }

    /** 0 to 2. */
    public int maximumQos() {
        return maximumQos;
    }

    public boolean retainAvailable() {
        return retainAvailable;
    }

    /** Bytes of a whole packet; {@link #NO_MAXIMUM_PACKET_SIZE} for no limit. */
    public long maximumPacketSize() {
        return maximumPacketSize;
    }

    /** Null for none. */
    public String assignedClientIdentifier() {
        return assignedClientIdentifier;
    }

    /** 0 to 65,535. */
    public int topicAliasMaximum() {
        return topicAliasMaximum;
    }

    /** Seconds; -1 for none. */
    public int serverKeepAlive() {
        return serverKeepAlive;
    }

    /** Seconds, 0 to 2^32-1; -1 for none: then it is what the client asked for. */
    public long sessionExpiryInterval() {
        return sessionExpiryInterval;
    }

    public boolean wildcardSubscriptionAvailable() {
        return wildcardSubscriptionAvailable;
    }

    public boolean subscriptionIdentifiersAvailable() {
        return subscriptionIdentifiersAvailable;
    }

    public boolean sharedSubscriptionAvailable() {
        return sharedSubscriptionAvailable;
    }

    /** Null for none. */
    public String reasonString() {
        return reasonString;
    }

    /**
     * Writes the packet for the device: the same properties in the same order and bytes, except those that {@code limits}
     * names, which are set in place, or added behind the others where the default would not say it. A failure, or an
     * older version's packet, is written as it came. What makes it too large for the device is left out first: Reason
     * String and User Properties ([MQTT-3.2.2-19], [MQTT-3.2.2-20]).
     *
     * @param deviceMaximumPacketSize bytes of a whole packet that the device takes; 0 for no limit.
     * @return false if the device cannot take even the rest: then nothing is written [MQTT-3.1.2-24].
     */
    public boolean writeTo(ByteBuf out, ConnackLimits limits, long deviceMaximumPacketSize) {
        if (!version.isV5()) {
            out.writeByte(PacketType.CONNACK << 4);
            out.writeByte(body.length);
            out.writeBytes(body);
            return true;
        }
        // At most four added properties: 3 + 3 + 5 + 2 bytes.
        ByteBuf properties = Unpooled.buffer(body.length + 13);
        writeProperties(properties, limits, true);
        if (isTooLarge(properties, deviceMaximumPacketSize)) {
            properties.clear();
            writeProperties(properties, limits, false);
            if (isTooLarge(properties, deviceMaximumPacketSize)) {
                return false;
            }
        }
        int propertiesLength = properties.readableBytes();
        out.writeByte(PacketType.CONNACK << 4);
        VariableByteInteger.write(out, FIXED_FIELDS + VariableByteInteger.size(propertiesLength) + propertiesLength);
        out.writeBytes(body, 0, FIXED_FIELDS);
        VariableByteInteger.write(out, propertiesLength);
        out.writeBytes(properties);
        return true;
    }

    private static boolean isTooLarge(ByteBuf properties, long maximumPacketSize) {
        int length = properties.readableBytes();
        int remainingLength = FIXED_FIELDS + VariableByteInteger.size(length) + length;
        return maximumPacketSize > 0
                && 1 + VariableByteInteger.size(remainingLength) + remainingLength > maximumPacketSize;
    }

    private void writeProperties(ByteBuf out, ConnackLimits limits, boolean withText) {
        ByteBuf old = Unpooled.wrappedBuffer(body);
        PropertyCursor property =
                new PropertyCursor().wrapUncheckedText(old, propertiesOffset, body.length - propertiesOffset);
        long seen = 0;
        while (property.next()) {
            int id = property.identifier();
            boolean text = id == PropertyId.REASON_STRING || id == PropertyId.USER_PROPERTY;
            if ((withText || !text) && (code != 0 || !writeLimit(out, id, limits))) {
                out.writeBytes(body, property.offset(), property.end() - property.offset());
            }
            seen |= 1L << id;
        }
        if (code == 0) {
            addLimits(out, limits, seen);
        }
    }

    /** Writes the property if it is one of the limits. */
    private boolean writeLimit(ByteBuf out, int id, ConnackLimits limits) {
        switch (id) {
            case PropertyId.RECEIVE_MAXIMUM -> writeTwoBytes(out, id, limits.receiveMaximum());
            case PropertyId.TOPIC_ALIAS_MAXIMUM -> writeTwoBytes(out, id, limits.topicAliasMaximum());
            case PropertyId.MAXIMUM_PACKET_SIZE -> writeFourBytes(out, id, packetSize(limits));
            case PropertyId.MAXIMUM_QOS -> writeByte(out, id, qos(limits));
            default -> {
                return false;
            }
        }
        return true;
    }

    private void addLimits(ByteBuf out, ConnackLimits limits, long seen) {
        if (!PropertyRules.has(seen, PropertyId.RECEIVE_MAXIMUM)
                && limits.receiveMaximum() < ConnectPacket.DEFAULT_RECEIVE_MAXIMUM) {
            writeTwoBytes(out, PropertyId.RECEIVE_MAXIMUM, limits.receiveMaximum());
        }
        if (!PropertyRules.has(seen, PropertyId.TOPIC_ALIAS_MAXIMUM) && limits.topicAliasMaximum() > 0) {
            writeTwoBytes(out, PropertyId.TOPIC_ALIAS_MAXIMUM, limits.topicAliasMaximum());
        }
        if (!PropertyRules.has(seen, PropertyId.MAXIMUM_PACKET_SIZE) && packetSize(limits) < NO_MAXIMUM_PACKET_SIZE) {
            writeFourBytes(out, PropertyId.MAXIMUM_PACKET_SIZE, packetSize(limits));
        }
        if (!PropertyRules.has(seen, PropertyId.MAXIMUM_QOS) && qos(limits) < 2) {
            writeByte(out, PropertyId.MAXIMUM_QOS, qos(limits));
        }
    }

    private long packetSize(ConnackLimits limits) {
        return Math.min(maximumPacketSize, limits.maximumPacketSize());
    }

    private int qos(ConnackLimits limits) {
        return Math.min(maximumQos, limits.maximumQos());
    }

    private static void writeByte(ByteBuf out, int id, int value) {
        out.writeByte(id);
        out.writeByte(value);
    }

    private static void writeTwoBytes(ByteBuf out, int id, int value) {
        out.writeByte(id);
        out.writeShort(value);
    }

    private static void writeFourBytes(ByteBuf out, int id, long value) {
        out.writeByte(id);
        out.writeInt((int) value);
    }

    @Override
    public String toString() {
        return "CONNACK[" + version + ", sessionPresent=" + sessionPresent + ", code=0x" + Integer.toHexString(code)
                + "]";
    }
}
