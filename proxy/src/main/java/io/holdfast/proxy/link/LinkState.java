package io.holdfast.proxy.link;

/** The life of a session link. */
public enum LinkState {
    /** Not dialled yet. */
    IDLE,
    /** The first TCP connection and CONNECT are under way; the device waits for its CONNACK. */
    DIALLING,
    /** The broker has accepted; frames pass. */
    CONNECTED,
    /** Broken, while the device stays: waiting for the next dial. */
    LOST,
    /** Dialled again: waiting for the broker's CONNACK. */
    RESUMING,
    /** The broker has lost the session of a device that asked for none: its subscriptions are being made again. */
    RESUBSCRIBING,
    /** Over, with the device. */
    CLOSED
}
