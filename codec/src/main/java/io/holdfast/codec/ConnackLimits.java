package io.holdfast.codec;

/**
 * What the proxy itself stands for in the CONNACK to a device.
 *
 * @param receiveMaximum replaces the broker's, 1 to 65,535.
 * @param topicAliasMaximum replaces the broker's, 0 to 65,535.
 * @param maximumPacketSize lowers the broker's, bytes of a whole packet.
 * @param maximumQos lowers the broker's, 0 to 2.
 */
public record ConnackLimits(int receiveMaximum, int topicAliasMaximum, long maximumPacketSize, int maximumQos) {
    public ConnackLimits {
        if (receiveMaximum < 1 || receiveMaximum > 65_535) {
            throw new IllegalArgumentException("a Receive Maximum is 1 to 65535, not " + receiveMaximum);
        }
        if (topicAliasMaximum < 0 || topicAliasMaximum > 65_535) {
            throw new IllegalArgumentException("a Topic Alias Maximum is 0 to 65535, not " + topicAliasMaximum);
        }
        if (maximumPacketSize < 1) {
            throw new IllegalArgumentException("a Maximum Packet Size is at least 1, not " + maximumPacketSize);
        }
        if (maximumQos < 0 || maximumQos > 2) {
            throw new IllegalArgumentException("a Maximum QoS is 0 to 2, not " + maximumQos);
        }
    }
}
