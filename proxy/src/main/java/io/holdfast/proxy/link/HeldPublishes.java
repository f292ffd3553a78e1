package io.holdfast.proxy.link;

import io.holdfast.codec.PacketType;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.agrona.collections.IntHashSet;

/**
 * Held PUBLISHes against the broker's Receive Maximum ([MQTT-3.3.4-9]): those beyond it wait here, in order, while
 * everything else passes. One event loop.
 */
final class HeldPublishes {
    private final UnansweredRequests unanswered;
    private final Consumer<LinkRequest> sender;
    private final ArrayDeque<LinkRequest> waiting = new ArrayDeque<>();
    private final IntHashSet open =
            new IntHashSet(); // ids: a copy of a PUBLISH that the broker has opens no other flow
    private int window;

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
        if (open.contains(request.packetId) || (waiting.isEmpty() && open.size() < window)) {
            open.add(request.packetId);
            sender.accept(request);
        } else {
            waiting.addLast(request);
        }
    }

    /** A flow ended: PUBACK, PUBREC with a failure, or PUBCOMP. One of an earlier link does not count (v5 §4.9). */
    void finished(int packetId) {
        open.remove(packetId);
        while (open.size() < window && !waiting.isEmpty()) {
            LinkRequest request = waiting.pollFirst();
            open.add(request.packetId);
            sender.accept(request);
        }
    }

    void linkUp(int receiveMaximum) {
        waiting.clear();
        open.clear();
        window = receiveMaximum;
    }

    void linkDown() {
        waiting.clear();
        open.clear();
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
