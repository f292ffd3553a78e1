package io.holdfast.codec;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/**
 * A DISCONNECT (v5 §3.14).
 *
 * @param reasonCode a {@link ReasonCode}; 0 if the packet has none.
 * @param sessionExpiryInterval seconds, 0 to 2^32-1; -1 for none: then that of CONNECT stays.
 * @param reasonString null for none.
 * @param serverReference null for none.
 */
public record DisconnectPacket(
        int reasonCode, long sessionExpiryInterval, String reasonString, String serverReference) {
    private static final DisconnectPacket NORMAL = new DisconnectPacket(ReasonCode.SUCCESS, -1, null, null);

    /**
     * Reads and checks a whole packet. A v5 packet may end before or behind the Reason Code (v5 §3.14.2.1).
     *
     * @param bodyOffset behind the fixed header; {@code end} exclusive.
     * @throws MqttProtocolException for whatever breaks the protocol.
     */
    public static DisconnectPacket parse(ByteBuf buf, int bodyOffset, int end, MqttVersion version, Direction from) {
        BodyReader body = new BodyReader(buf, bodyOffset, end, PacketType.DISCONNECT, version);
        if (!version.isV5() || !body.hasMore()) {
            body.requireEnd();
            return NORMAL;
        }
        int reasonCode = body.readByte("Reason Code");
        ReasonCodeRules.check(PacketType.DISCONNECT, from, reasonCode);
        long sessionExpiryInterval = -1;
        String reasonString = null;
        String serverReference = null;
        if (body.hasMore()) {
            PropertyCursor property = body.readProperties();
            long seen = 0;
            while (property.next()) {
                seen = PropertyRules.check(property, PacketType.DISCONNECT, seen);
                switch (property.identifier()) {
                    case PropertyId.SESSION_EXPIRY_INTERVAL -> sessionExpiryInterval = property.intValue();
                    case PropertyId.REASON_STRING -> reasonString = text(buf, property);
                    case PropertyId.SERVER_REFERENCE -> serverReference = text(buf, property);
                    default -> {}
                }
            }
            body.requireEnd();
        }
        if (from == Direction.FROM_SERVER && sessionExpiryInterval >= 0) {
            throw body.protocolError("MQTT-3.14.2-2", "a Session Expiry Interval from a server");
        }
        return new DisconnectPacket(reasonCode, sessionExpiryInterval, reasonString, serverReference);
    }

    private static String text(ByteBuf buf, PropertyCursor property) {
        return buf.toString(property.stringOffset(), property.stringLength(), StandardCharsets.UTF_8);
    }

    /** Whether {@code from} may send DISCONNECT with that {@link ReasonCode}, 0 to 255. */
    public static boolean isReasonCodeAllowed(int reasonCode, Direction from) {
        return ReasonCodeRules.isAllowed(PacketType.DISCONNECT, from, reasonCode);
    }
}
