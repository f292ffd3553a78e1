package io.holdfast.proxy.link;

import io.holdfast.codec.MqttVersion;
import io.holdfast.codec.PacketType;
import io.holdfast.codec.ReasonCode;
import io.holdfast.codec.SubackPacket;
import io.holdfast.codec.SubscribePacket;
import io.holdfast.codec.Subscription;
import io.holdfast.codec.UnsubscribePacket;
import io.holdfast.codec.VariableByteInteger;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The subscriptions that the broker has granted to a device on this connection, with their options and Subscription
 * Identifiers: what a link that lost its session has to make again. One event loop.
 */
final class GrantedSubscriptions {
    private static final int RETAIN_HANDLING_MASK = 0x30;
    private static final int RETAIN_HANDLING_NEW_ONLY = 0x10;

    private final Map<String, Granted> byFilter = new LinkedHashMap<>();

    private record Granted(Subscription subscription, int subscriptionIdentifier) {}

    /** Some subscriptions that fit into one SUBSCRIBE: they share the Subscription Identifier. */
    record Group(int subscriptionIdentifier, List<Subscription> subscriptions) {}

    /** A SUBSCRIBE or UNSUBSCRIBE was answered: {@code request} is its whole packet, {@code buf} holds the answer. */
    void answered(int type, ByteBuf request, ByteBuf buf, int bodyOffset, int end, MqttVersion version) {
        int start = request.readerIndex();
        int requestEnd = request.writerIndex();
        int lengthBytes = VariableByteInteger.bytes(VariableByteInteger.decode(request, start + 1, requestEnd));
        int body = start + 1 + lengthBytes;
        if (type == PacketType.SUBACK) {
            granted(
                    SubscribePacket.parse(request, body, requestEnd, version),
                    SubackPacket.parse(buf, bodyOffset, end, version).reasonCodes());
        } else {
            UnsubscribePacket.parse(request, body, requestEnd, version)
                    .filters()
                    .forEach(byFilter::remove);
        }
    }

    /** Only what was granted is kept. */
    private void granted(SubscribePacket request, byte[] reasonCodes) {
        List<Subscription> subscriptions = request.subscriptions();
        for (int i = 0; i < subscriptions.size() && i < reasonCodes.length; i++) {
            if (!ReasonCode.isFailure(reasonCodes[i] & 0xff)) {
                Subscription subscription = subscriptions.get(i);
                byFilter.put(subscription.filter(), new Granted(subscription, request.subscriptionIdentifier()));
            }
        }
    }

    boolean isEmpty() {
        return byFilter.isEmpty();
    }

    /** What to subscribe again, in the original order as far as identifiers allow. For v5 with Retain Handling 1. */
    List<Group> toResubscribe(boolean v5) {
        Map<Integer, List<Subscription>> groups = new LinkedHashMap<>();
        for (Granted granted : byFilter.values()) {
            Subscription subscription = granted.subscription();
            int options = v5
                    ? (subscription.options() & ~RETAIN_HANDLING_MASK) | RETAIN_HANDLING_NEW_ONLY
                    : subscription.options();
            groups.computeIfAbsent(granted.subscriptionIdentifier(), id -> new ArrayList<>())
                    .add(new Subscription(subscription.filter(), options));
        }
        return groups.entrySet().stream()
                .map(group -> new Group(group.getKey(), group.getValue()))
                .toList();
    }
}
