package io.holdfast.proxy.guard;

import io.netty.channel.Channel;
import java.util.Iterator;
import java.util.LinkedHashSet;

/**
 * The sockets that have not sent their CONNECT yet. Who means well sends it at once, so where there are too many the one
 * that has been silent the longest gives way, and not the one that comes. Any thread.
 */
public final class UnconnectedSockets {
    private final int most;
    private final LinkedHashSet<Channel> oldestFirst = new LinkedHashSet<>();

    /** @param most at once, at least 1 */
    public UnconnectedSockets(int most) {
        this.most = most;
    }

    /** Whether one more would be too many. */
    synchronized boolean isFull() {
        return oldestFirst.size() >= most;
    }

    /** A socket was accepted. */
    synchronized void accepted(Channel channel) {
        oldestFirst.add(channel);
    }

    /** Its CONNECT has come, or it is gone. */
    public synchronized void remove(Channel channel) {
        oldestFirst.remove(channel);
    }

    /** Takes out the oldest; null if there is none. */
    synchronized Channel takeOldest() {
        Iterator<Channel> oldest = oldestFirst.iterator();
        if (!oldest.hasNext()) {
            return null;
        }
        Channel channel = oldest.next();
        oldest.remove();
        return channel;
    }

    /** How many there are. */
    public synchronized int size() {
        return oldestFirst.size();
    }
}
