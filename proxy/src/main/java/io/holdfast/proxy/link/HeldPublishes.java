package io.holdfast.proxy.link;

import io.holdfast.codec.PacketType;
import java.util.ArrayDeque;
import java.util.function.Consumer;

/**
 * Held PUBLISHes against the broker's Receive Maximum ([MQTT-3.3.4-9]): those beyond it wait here, in order, while
 * everything else passes. One event loop.
 */
final class HeldPublishes {
    private final UnansweredRequests unanswered;
    private final Consumer<LinkRequest> sender;
    private final ArrayDeque<LinkRequest> waiting = new ArrayDeque<>();
    private int window;
    private int open;

    HeldPublishes(UnansweredRequests unanswered, Consumer<LinkRequest> sender) {
        this.unanswered = unanswered;
        this.sender = sender;
    }

    LinkRequest get(int packetId) {
        return unanswered.get(PacketType.PUBLISH, packetId);
    }

    void add(LinkRequest request, boolean linkUp) {
        unanswered.add(request);
        if (linkUp) {
            sendOrQueue(request);
        }
    }

    void sendOrQueue(LinkRequest request) {
        if (waiting.isEmpty() && open < window) {
            open++;
            sender.accept(request);
        } else {
            waiting.addLast(request);
        }
    }

    /** A flow ended: PUBACK, PUBREC with a failure, or PUBCOMP. One of an earlier link does not count (v5 §4.9). */
    void finished() {
        if (open > 0) {
            open--;
        }
        while (open < window && !waiting.isEmpty()) {
            open++;
            sender.accept(waiting.pollFirst());
        }
    }

    void linkUp(int receiveMaximum) {
        waiting.clear();
        open = 0;
        window = receiveMaximum;
    }

    void linkDown() {
        waiting.clear();
        open = 0;
        window = 0;
    }

    boolean any() {
        return find(false);
    }

    boolean anySentOnce() {
        return find(true);
    }

    private boolean find(boolean sentOnce) {
        for (LinkRequest request = unanswered.first(); request != null; request = request.next) {
            if (request.type == PacketType.PUBLISH && (!sentOnce || request.sentOnce)) {
                return true;
            }
        }
        return false;
    }
}
