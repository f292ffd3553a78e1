package io.holdfast.codec;

/** Who sent the bytes: it decides which packet types and properties are allowed (v5 §2.1.2). */
public enum Direction {
    /** A client is at the other end; this side is the server. */
    FROM_CLIENT,
    /** A server is at the other end; this side is the client. */
    FROM_SERVER
}
