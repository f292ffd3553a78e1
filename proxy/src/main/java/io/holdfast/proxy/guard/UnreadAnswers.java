package io.holdfast.proxy.guard;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;

/**
 * What waits for a device to read it. Messages of the broker stop at the socket's high water mark, since the link is not
 * read beyond it; what goes on growing is our answers to what the device sends without reading. One event loop.
 */
public final class UnreadAnswers {
    /** More than ten thousand answers, with what each costs on the heap: no device needs that. */
    private static final long MOST_BYTES = 1024 * 1024;

    private UnreadAnswers() {}

    /**
     * Whether the device has to be closed.
     *
     * @param behindBytes what waits besides the channel's own buffer
     */
    public static boolean areTooMany(Channel channel, long behindBytes) {
        ChannelOutboundBuffer outbound = channel.unsafe().outboundBuffer();
        return behindBytes + (outbound == null ? 0 : outbound.totalPendingWriteBytes()) > MOST_BYTES;
    }
}
