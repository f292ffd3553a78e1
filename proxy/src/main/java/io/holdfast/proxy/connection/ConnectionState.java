package io.holdfast.proxy.connection;

/** The life of a device's connection. It only goes forward. */
public enum ConnectionState {
    /** Accepted; the first packet has to be CONNECT, whole within the deadline. */
    AWAITING_CONNECT,
    /** CONNECT is there; the session link is being made and the broker's CONNACK awaited. Only AUTH passes. */
    DIALLING,
    /** The broker accepted; the lane's writer makes the session's state ready, so that CONNACK may tell the truth. */
    OPENING_SESSION,
    /** CONNACK has been sent. */
    CONNECTED,
    /** Over; nothing goes in or out any more. */
    CLOSED
}
