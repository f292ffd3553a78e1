package io.holdfast.proxy.link;

import io.holdfast.codec.ConnackPacket;
import io.netty.buffer.ByteBuf;

/** The device's side of a session link. Every call is on the device's event loop. */
public interface LinkOwner {
    /** The first CONNACK has come, whatever it says; the link passes nothing until the owner says so. */
    void onConnack(ConnackPacket connack);

    /** The first dial failed, or the broker does not answer. */
    void onDialFailed(String why);

    /** The broker closed the connection before the device has got its CONNACK. */
    void onConnectUnanswered(String why);

    /** A frame for the device; takes over {@code frame}. Flush comes with {@link #onLinkReadComplete}. */
    void onFrameForDevice(ByteBuf frame);

    /** The beginning, middle or end of a frame too large to collect; nothing else may be written before its end. */
    void onStreamForDevice(ByteBuf part, boolean last);

    /** Nothing more to pass for now. */
    void onLinkReadComplete();

    /** The broker answered a held PUBLISH; {@code frame} is the answer's bytes. */
    void onPublishAnswered(long slot, int packetId, int reason, byte[] frame);

    /** A held PUBLISH that never left is refused, after {@code --hold-timeout}. */
    void onPublishRefused(long slot, int packetId, int reason);

    /** The broker answered a PUBREL; {@code frame} is the answer's bytes. */
    void onReleaseAnswered(long slot, int packetId, int reason, byte[] frame);

    /** Whether QoS 2 flows of the device are open at the broker. */
    boolean hasHoldState();

    /** Whether a newer connection with this client id is under way. */
    boolean isContested();

    /** The broker's side is over for good: by its DISCONNECT (reason and bytes), or because its link broke. */
    void onLinkEnded(String why, ByteBuf disconnectOrNull);

    /** The broker does not know the session any more, and the device has to be told by closing it. */
    void onSessionLost(String why);
}
