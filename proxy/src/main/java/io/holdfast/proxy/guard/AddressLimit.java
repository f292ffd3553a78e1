package io.holdfast.proxy.guard;

import java.net.InetAddress;
import java.util.concurrent.ConcurrentHashMap;

/** At most so many connections of one address at once. Remembers connected addresses only. Any thread. */
final class AddressLimit {
    private final int most;
    private final ConcurrentHashMap<InetAddress, Integer> open = new ConcurrentHashMap<>();

    /** @param most 0 for no limit */
    AddressLimit(int most) {
        this.most = most;
    }

    boolean isReached(InetAddress address) {
        return most > 0 && open.getOrDefault(address, 0) >= most;
    }

    void opened(InetAddress address) {
        if (most > 0) {
            open.merge(address, 1, Integer::sum);
        }
    }

    void closed(InetAddress address) {
        if (most > 0) {
            open.computeIfPresent(address, (key, count) -> count == 1 ? null : count - 1);
        }
    }

    int addresses() {
        return open.size();
    }
}
