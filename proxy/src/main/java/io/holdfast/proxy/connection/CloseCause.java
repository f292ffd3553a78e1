package io.holdfast.proxy.connection;

import io.holdfast.proxy.metrics.Meter;

/** Why a device's connection ends. */
enum CloseCause {
    /** The device sent DISCONNECT. */
    DISCONNECTED(null),
    /** The device closed its socket, or the network did. */
    SOCKET_CLOSED(null),
    /** No whole CONNECT within the deadline. */
    CONNECT_DEADLINE(Meter.CONNECT_DEADLINE),
    /** The broker, or we for it, answered CONNECT with a failure. */
    CONNECT_REFUSED(Meter.CONNECTIONS_REFUSED),
    /** The device broke the protocol. */
    PROTOCOL(Meter.CLOSED_PROTOCOL),
    /** The device's DISCONNECT has a Reason Code that it may not use. It has left: there is nobody to tell. */
    LEFT_WRONGLY(Meter.CLOSED_PROTOCOL),
    /** The device was silent for one and a half times its Keep Alive. */
    KEEP_ALIVE(Meter.CLOSED_KEEP_ALIVE),
    /** Its packet had been unfinished the longest when unfinished packets were too much. */
    UNFINISHED_PACKET(Meter.CLOSED_UNFINISHED_PACKET),
    /** The device sends, but does not read what it is answered. */
    NOT_READING(Meter.CLOSED_NOT_READING),
    /** The client id connected again. */
    TAKEN_OVER(Meter.CLOSED_TAKEN_OVER),
    /** The broker ended the session, or its link is gone. */
    BROKER(Meter.CLOSED_BROKER),
    /** A PUBLISH had to be refused, and a 3.x device cannot be told. */
    REFUSAL_CANNOT_BE_TOLD(Meter.CLOSED_REFUSED_311),
    /** The proxy stops. */
    SHUTDOWN(null);

    private final Meter meter;

    CloseCause(Meter meter) {
        this.meter = meter;
    }

    Meter meter() {
        return meter;
    }
}
