package io.holdfast.proxy.link;

import io.holdfast.codec.ConnectPacket;
import io.netty.buffer.ByteBuf;

/** The CONNECT of a session link: first as the device sent it, then again for the session that came of it. One event loop. */
final class LinkConnect {
    private final ConnectPacket connect;
    private boolean hasSession;
    private String assignedClientId;
    private boolean cleanStart;

    LinkConnect(ConnectPacket connect) {
        this.connect = connect;
        this.cleanStart = connect.cleanStart();
    }

    /** The first one was accepted: {@code newAssignedClientId} is what the broker named the device, or null. */
    void accepted(boolean deviceHasSession, String newAssignedClientId) {
        hasSession = deviceHasSession;
        assignedClientId = newAssignedClientId;
        cleanStart = !deviceHasSession;
    }

    /** Whether the device has a session that outlives its connection. */
    boolean hasSession() {
        return hasSession;
    }

    /** Whether the CONNECT written last asks for a clean start. */
    boolean asksForCleanStart() {
        return cleanStart;
    }

    void write(ByteBuf out) {
        if (assignedClientId == null) {
            connect.writeRedial(out, cleanStart);
        } else {
            connect.writeRedial(out, cleanStart, assignedClientId);
        }
    }
}
