package io.holdfast.proxy.ack;

import io.holdfast.codec.AckWriter;
import io.holdfast.codec.MqttVersion;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;

/**
 * Whether a device gets a Reason String with a refusal: not if it asked for none with Request Problem Information 0
 * [MQTT-3.1.2-29], and not if the packet would then be larger than it takes ([MQTT-3.4.2-2], [MQTT-3.5.2-2]).
 *
 * @param wanted            Request Problem Information of a v5 device; false for 3.x
 * @param maximumPacketSize of the device, in bytes; 0 for no limit
 */
public record ReasonStrings(boolean wanted, long maximumPacketSize) {

    /** The whole PUBACK or PUBREC with the Reason String; null if it has to go without one. */
    public byte[] refusal(int type, int packetId, int reason, String text) {
        if (!wanted) {
            return null;
        }
        ByteBuf out = Unpooled.buffer(16 + text.length());
        AckWriter.writeWithReasonString(out, type, packetId, reason, text, MqttVersion.MQTT_5);
        boolean fits = maximumPacketSize == 0 || out.readableBytes() <= maximumPacketSize;
        return fits ? ByteBufUtil.getBytes(out) : null;
    }
}
