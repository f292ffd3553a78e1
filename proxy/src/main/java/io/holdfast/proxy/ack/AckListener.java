package io.holdfast.proxy.ack;

/** Told of each acknowledgement as it is released, on the connection's event loop. */
public interface AckListener {
    /**
     * An acknowledgement is being written.
     *
     * @param type     PUBACK, PUBREC or PUBCOMP ({@link io.holdfast.codec.PacketType})
     * @param packetId of the PUBLISH
     * @param reason   the reason code, 0 for success
     */
    void onAckReleased(int type, int packetId, int reason);

    /** The next answer owed is a refusal that this protocol version cannot express: the connection has to close. */
    void onRefusalCannotBeTold(int packetId, int reason);
}
