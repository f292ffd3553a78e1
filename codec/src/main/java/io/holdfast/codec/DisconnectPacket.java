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
    public static DisconnectPacket parse(ByteBuf buf, int bodyOffset, int end, MqttVersion version) {
        BodyReader body = new BodyReader(buf, bodyOffset, end, PacketType.DISCONNECT, version);
        if (!version.isV5() || !body.hasMore()) {
            body.requireEnd();
            return NORMAL;
        }
        int reasonCode = body.readByte("Reason Code");
        if (!isAllowed(reasonCode)) {
            throw body.protocolError("MQTT-3.14.2-1", "Reason Code 0x" + Integer.toHexString(reasonCode));
        }
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
        return new DisconnectPacket(reasonCode, sessionExpiryInterval, reasonString, serverReference);
    }

    private static String text(ByteBuf buf, PropertyCursor property) {
        return buf.toString(property.stringOffset(), property.stringLength(), StandardCharsets.UTF_8);
    }

    private static boolean isAllowed(int code) {
        return switch (code) {
            case ReasonCode.SUCCESS,
                    ReasonCode.DISCONNECT_WITH_WILL,
                    ReasonCode.UNSPECIFIED_ERROR,
                    ReasonCode.MALFORMED_PACKET,
                    ReasonCode.PROTOCOL_ERROR,
                    ReasonCode.IMPLEMENTATION_SPECIFIC_ERROR,
                    ReasonCode.NOT_AUTHORIZED,
                    ReasonCode.SERVER_BUSY,
                    ReasonCode.SERVER_SHUTTING_DOWN,
                    // 0x8C: the table of §3.14.2.1 has it not, but §4.12 tells the server to send it.
                    ReasonCode.BAD_AUTHENTICATION_METHOD -> true;
            default ->
                code >= ReasonCode.KEEP_ALIVE_TIMEOUT
                        && code <= ReasonCode.WILDCARD_SUBSCRIPTIONS_NOT_SUPPORTED
                        && code != ReasonCode.PACKET_IDENTIFIER_IN_USE
                        && code != ReasonCode.PACKET_IDENTIFIER_NOT_FOUND;
        };
    }
}
