package io.holdfast.proxy.admission;

import io.holdfast.proxy.link.SessionLink;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;

/** What admission needs of the connection whose PUBLISHes it admits. One event loop. */
public interface AdmittedDevice {
    /** The device's channel. */
    ChannelHandlerContext context();

    /** The device's session link. */
    SessionLink link();

    /** Whether the connection has ended. */
    boolean isClosed();

    /** The lane has the session ready, and a reset, where one was due, is durable: CONNACK may go out. */
    void onSessionOpen();

    /** Writes a whole packet; takes over {@code frame}. */
    void write(ByteBuf frame);

    /** Writes the acknowledgements that may go out, and flushes. */
    void flush();

    /** Leaves the device unread from the next packet on; its keep-alive deadline stands still meanwhile. */
    void pauseReading();

    /** Reads the device again. */
    void resumeReading();

    /** A newer connection has the session: closes this one. */
    void onTakenOver();

    /** Closes the connection instead of an answer that cannot be given. */
    void closeRefusing(int reason, String why);
}
