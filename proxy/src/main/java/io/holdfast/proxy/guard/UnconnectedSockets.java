package io.holdfast.proxy.guard;

import io.netty.channel.Channel;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The sockets that have not sent their CONNECT yet. Who means well sends it at once, so where there are too many the one
 * that has been silent the longest gives way, and not the one that comes. Any thread.
 */
public final class UnconnectedSockets {
    private final int most;
    private final LinkedHashMap<Channel, Long> acceptedNs = new LinkedHashMap<>();

    /** @param most at once, at least 1 */
    public UnconnectedSockets(int most) {
        this.most = most;
    }

    /** Whether one more would be too many. */
    synchronized boolean isFull() {
        return acceptedNs.size() >= most;
    }

    /** A socket was accepted. */
    synchronized void accepted(Channel channel, long nowNs) {
        acceptedNs.put(channel, nowNs);
    }

    /** Its CONNECT has come, or it is gone. */
    public synchronized void remove(Channel channel) {
        acceptedNs.remove(channel);
    }

    /** Takes out the oldest, if it was accepted at {@code latestNs} or before; else null. */
    synchronized Channel takeOldest(long latestNs) {
        Iterator<Map.Entry<Channel, Long>> entries = acceptedNs.entrySet().iterator();
        if (!entries.hasNext()) {
            return null;
        }
        Map.Entry<Channel, Long> oldest = entries.next();
        if (oldest.getValue() - latestNs > 0) {
            return null;
        }
        entries.remove();
        return oldest.getKey();
    }
}
