package io.holdfast.proxy.link;

import io.holdfast.codec.PacketType;
import io.holdfast.codec.ReasonCode;
import io.holdfast.proxy.metrics.Counters;
import io.holdfast.proxy.metrics.Meter;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.agrona.collections.IntHashSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Held PUBLISHes against the broker's Receive Maximum ([MQTT-3.3.4-9]): those beyond it wait here, in order, while
 * everything else passes. One event loop.
 */
final class HeldPublishes {
    private static final Logger LOG = LoggerFactory.getLogger(HeldPublishes.class);

    private final UnansweredRequests unanswered;
    private final LinkOwner owner;
    private final Counters counters;
    private final Consumer<LinkRequest> sender;
    private final ArrayDeque<LinkRequest> waiting = new ArrayDeque<>();
    private final IntHashSet open =
            new IntHashSet(); // ids: a copy of a PUBLISH that the broker has opens no other flow
    private int window;

    HeldPublishes(UnansweredRequests unanswered, LinkOwner owner, Counters counters, Consumer<LinkRequest> sender) {
        this.unanswered = unanswered;
        this.owner = owner;
        this.counters = counters;
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
    private void finished(int packetId) {
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

    /** The broker sent PUBACK, PUBREC or PUBCOMP; {@code frame} is the whole packet. */
    void answered(int type, int packetId, int reason, byte[] frame) {
        int requestType = type == PacketType.PUBCOMP ? PacketType.PUBREL : PacketType.PUBLISH;
        LinkRequest request = unanswered.get(requestType, packetId);
        long slot = request == null ? LinkRequest.NO_SLOT : request.takeSlot();
        if (slot == LinkRequest.NO_SLOT) {
            counters.increment(Meter.LINK_UNEXPECTED_ACK);
            LOG.debug("{} for id {} from the broker fits nothing", PacketType.name(type), packetId);
            return;
        }
        if (request.slot == LinkRequest.NO_SLOT) {
            unanswered.remove(requestType, packetId);
        }
        if (type == PacketType.PUBCOMP) {
            finished(packetId);
            owner.onReleaseAnswered(slot, packetId, reason, frame);
        } else {
            if (type == PacketType.PUBACK || ReasonCode.isFailure(reason)) {
                finished(packetId);
            }
            counters.increment(ReasonCode.isFailure(reason) ? Meter.HOLD_REJECTED : Meter.HOLD_ACCEPTED);
            owner.onPublishAnswered(slot, packetId, reason, frame);
        }
    }

    /** Refuses every held PUBLISH; for a device that can be told. */
    void refuseAll() {
        LinkRequest request = unanswered.first();
        while (request != null) {
            LinkRequest next = request.next;
            if (request.type == PacketType.PUBLISH) {
                long slot;
                while ((slot = request.takeSlot()) != LinkRequest.NO_SLOT) {
                    owner.onPublishRefused(slot, request.packetId, ReasonCode.IMPLEMENTATION_SPECIFIC_ERROR);
                }
                unanswered.remove(request.type, request.packetId);
            }
            request = next;
        }
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
