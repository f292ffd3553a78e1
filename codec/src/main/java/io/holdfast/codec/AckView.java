package io.holdfast.codec;

import io.netty.buffer.ByteBuf;

/**
 * A PUBACK, PUBREC, PUBREL or PUBCOMP as it lies in the network buffer (v5 §3.4 to §3.7). {@link #wrap} checks it whole
 * and allocates nothing. Offsets are absolute in the buffer. Not thread-safe: one per event loop.
 */
public final class AckView {
    private final Direction direction;
    private final PropertyCursor cursor = new PropertyCursor();

    private int packetId;
    private int reasonCode;
    private int propertiesOffset;
    private int propertiesLength;

    /** @param direction 0x10 "no matching subscribers" may only come from a server. */
    public AckView(Direction direction) {
        this.direction = direction;
    }

    /**
     * Checks a whole packet and points this view at it. A v5 packet may end behind the Packet Identifier or behind the
     * Reason Code (v5 §3.4.2.1).
     *
     * @param bodyOffset behind the fixed header.
     * @param end behind the packet.
     * @param type the {@link PacketType}.
     * @throws MqttProtocolException for whatever breaks the protocol; the view is then void.
     */
    public AckView wrap(ByteBuf buf, int bodyOffset, int end, MqttVersion version, int type) {
        int length = end - bodyOffset;
        if (length < 2 || (length > 2 && !version.isV5())) {
            throw MqttProtocolException.malformed("", PacketType.name(type) + " with a body of " + length + " bytes");
        }
        packetId = buf.getUnsignedShort(bodyOffset);
        if (packetId == 0) {
            throw MqttProtocolException.protocolError(
                    version.isV5() ? "MQTT-2.2.1-3" : "MQTT-2.3.1-1",
                    PacketType.name(type) + " with Packet Identifier 0");
        }
        reasonCode = ReasonCode.SUCCESS;
        propertiesOffset = end;
        propertiesLength = 0;
        if (length > 2) {
            reasonCode = buf.getUnsignedByte(bodyOffset + 2);
            ReasonCodeRules.check(type, direction, reasonCode);
        }
        if (length > 3) {
            readProperties(buf, bodyOffset + 3, end, type);
        }
        return this;
    }

    private void readProperties(ByteBuf buf, int index, int end, int type) {
        long decoded = VariableByteInteger.decode(buf, index, end);
        if (decoded < 0) {
            throw MqttProtocolException.malformed(
                    "MQTT-1.5.5-1", PacketType.name(type) + " with a malformed Property Length");
        }
        propertiesOffset = index + VariableByteInteger.bytes(decoded);
        propertiesLength = VariableByteInteger.value(decoded);
        if (propertiesOffset + propertiesLength != end) {
            throw MqttProtocolException.malformed(
                    "", "the properties of a " + PacketType.name(type) + " do not end where it ends");
        }
        PropertyCursor property = cursor.wrap(buf, propertiesOffset, propertiesLength);
        long seen = 0;
        while (property.next()) {
            seen = PropertyRules.check(property, type, seen);
        }
    }

    /** 1 to 65,535. */
    public int packetId() {
        return packetId;
    }

    /** The {@link ReasonCode}; 0 if the packet has none. */
    public int reasonCode() {
        return reasonCode;
    }

    /** Where the first property begins, behind the Property Length. */
    public int propertiesOffset() {
        return propertiesOffset;
    }

    /** Bytes of all properties; 0 for none. */
    public int propertiesLength() {
        return propertiesLength;
    }
}
