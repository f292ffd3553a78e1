package io.holdfast.proxy.link;

import java.util.function.IntConsumer;
import org.agrona.collections.Int2ObjectHashMap;

/**
 * What the broker owes an answer for, in the order in which it came from the device: the order in which a redial sends
 * it again. One event loop; bounded by the device's window and its byte share.
 */
final class UnansweredRequests {
    private static final int FAMILY_SHIFT = 16;

    private final IntConsumer charge;
    private final Int2ObjectHashMap<LinkRequest> byId = new Int2ObjectHashMap<>();
    private LinkRequest first;
    private LinkRequest last;
    private int bytes;

    /** {@code charge} is told of the bytes kept, and let go again with a negative number. */
    UnansweredRequests(IntConsumer charge) {
        this.charge = charge;
    }

    private void count(int change) {
        bytes += change;
        charge.accept(change);
    }

    /** Appends a request. One with the same type and id is replaced. */
    void add(LinkRequest request) {
        remove(request.type, request.packetId);
        byId.put(key(request.type, request.packetId), request);
        request.previous = last;
        if (last == null) {
            first = request;
        } else {
            last.next = request;
        }
        last = request;
        count(request.frame.readableBytes());
    }

    /** The request of that type and id, or null. */
    LinkRequest get(int type, int packetId) {
        return byId.get(key(type, packetId));
    }

    /** Takes a request out and frees its bytes; null if there is none. */
    LinkRequest remove(int type, int packetId) {
        LinkRequest request = byId.remove(key(type, packetId));
        if (request == null) {
            return null;
        }
        if (request.previous == null) {
            first = request.next;
        } else {
            request.previous.next = request.next;
        }
        if (request.next == null) {
            last = request.previous;
        } else {
            request.next.previous = request.previous;
        }
        count(-request.frame.readableBytes());
        request.frame.release();
        return request;
    }

    /** The oldest; go on with {@link LinkRequest#next}. */
    LinkRequest first() {
        return first;
    }

    /** The broker knows nothing of these any more: what goes out again is no duplicate. */
    void markAllAsNew() {
        for (LinkRequest request = first; request != null; request = request.next) {
            request.sentOnce = false;
        }
    }

    boolean isEmpty() {
        return first == null;
    }

    /** Bytes kept. */
    int bytes() {
        return bytes;
    }

    /** Frees everything. */
    void clear() {
        for (LinkRequest request = first; request != null; request = request.next) {
            request.frame.release();
        }
        byId.clear();
        first = null;
        last = null;
        count(-bytes);
    }

    private static int key(int type, int packetId) {
        return type << FAMILY_SHIFT | packetId;
    }
}
