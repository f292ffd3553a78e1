package io.holdfast.codec;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/**
 * An AUTH (v5 §3.15).
 *
 * @param reasonCode 0x00, 0x18 or 0x19.
 * @param authenticationMethod null only in an empty packet of a server, which means success (v5 §3.15.2.1).
 */
public record AuthPacket(int reasonCode, String authenticationMethod) {
    private static final AuthPacket EMPTY = new AuthPacket(ReasonCode.SUCCESS, null);

    /**
     * Reads and checks a whole packet.
     *
     * @param bodyOffset behind the fixed header; {@code end} exclusive.
     * @throws MqttProtocolException for whatever breaks the protocol.
     */
    public static AuthPacket parse(ByteBuf buf, int bodyOffset, int end, Direction from) {
        BodyReader body = new BodyReader(buf, bodyOffset, end, PacketType.AUTH, MqttVersion.MQTT_5);
        int reasonCode = body.hasMore() ? body.readByte("Authenticate Reason Code") : ReasonCode.SUCCESS;
        ReasonCodeRules.check(PacketType.AUTH, from, reasonCode);
        if (bodyOffset == end) {
            return EMPTY;
        }
        String method = null;
        if (body.hasMore()) {
            PropertyCursor property = body.readProperties();
            long seen = 0;
            while (property.next()) {
                seen = PropertyRules.check(property, PacketType.AUTH, seen);
                if (property.identifier() == PropertyId.AUTHENTICATION_METHOD) {
                    method = buf.toString(property.stringOffset(), property.stringLength(), StandardCharsets.UTF_8);
                }
            }
            body.requireEnd();
        }
        if (method == null) {
            throw body.protocolError("", "no Authentication Method");
        }
        return new AuthPacket(reasonCode, method);
    }

    /**
     * Checks that the packet belongs to the exchange that the CONNECT began.
     *
     * @param connectMethod the Authentication Method of the CONNECT, null for none.
     * @param connected whether the CONNACK has come; before it only 0x18 goes on ([MQTT-4.12.0-2], [MQTT-4.12.0-3]).
     * @throws MqttProtocolException if it does not.
     */
    public void requirePartOf(String connectMethod, boolean connected, Direction from) {
        if (connectMethod == null) {
            throw MqttProtocolException.protocolError(
                    from == Direction.FROM_CLIENT ? "MQTT-4.12.0-7" : "MQTT-4.12.0-6",
                    "AUTH, but no Authentication Method in CONNECT");
        }
        if (authenticationMethod != null && !authenticationMethod.equals(connectMethod)) {
            throw MqttProtocolException.protocolError(
                    "MQTT-4.12.0-5", "AUTH with another Authentication Method than CONNECT");
        }
        if (!connected && reasonCode != ReasonCode.CONTINUE_AUTHENTICATION) {
            throw MqttProtocolException.protocolError(
                    from == Direction.FROM_CLIENT ? "MQTT-4.12.0-3" : "MQTT-4.12.0-2",
                    "AUTH with Reason Code 0x" + Integer.toHexString(reasonCode) + " before CONNACK");
        }
    }
}
