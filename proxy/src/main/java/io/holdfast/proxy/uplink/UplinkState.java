package io.holdfast.proxy.uplink;

/** The life of an uplink's connection. */
public enum UplinkState {
    /** No connection; the next dial is scheduled. */
    DISCONNECTED,
    /** TCP connection under way. */
    DIALLING,
    /** CONNECT sent; the broker's CONNACK awaited. */
    CONNECTING,
    /** Records flow. */
    RUNNING,
    /** Stopped for good. */
    CLOSED
}
