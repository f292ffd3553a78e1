package io.holdfast.proxy.guard;

import java.util.concurrent.atomic.AtomicInteger;

/** At most so many connections of devices at once. Any thread. */
final class ConnectionLimit {
    private final int most;
    private final AtomicInteger open = new AtomicInteger();

    ConnectionLimit(int most) {
        this.most = most;
    }

    boolean isReached() {
        return open.get() >= most;
    }

    void opened() {
        open.incrementAndGet();
    }

    void closed() {
        open.decrementAndGet();
    }
}
