package io.holdfast.proxy.link;

import io.holdfast.codec.MqttProtocolException;
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
    /** Counted down from here, far from the device's own. */
    private static final int FIRST_PACKET_ID = 65_535;

    private static final int RETAIN_HANDLING_MASK = 0x30;
    private static final int RETAIN_HANDLING_NEW_ONLY = 0x10;

    private final Map<String, Granted> byFilter = new LinkedHashMap<>();

    private record Granted(Subscription subscription, int subscriptionIdentifier) {}

    /** Some subscriptions that fit into one SUBSCRIBE: they share the Subscription Identifier. */
    private record Group(int subscriptionIdentifier, List<Subscription> subscriptions) {}

    /**
     * A SUBSCRIBE or UNSUBSCRIBE was answered: {@code request} is its whole packet.
     *
     * @throws MqttProtocolException if the answer has not one code for each Topic Filter [MQTT-3.8.4-6]: which one was
     *     granted is not guessed.
     */
    void answered(int type, ByteBuf request, SubackPacket answer, MqttVersion version) {
        int start = request.readerIndex();
        int requestEnd = request.writerIndex();
        int lengthBytes = VariableByteInteger.bytes(VariableByteInteger.decode(request, start + 1, requestEnd));
        int body = start + 1 + lengthBytes;
        if (type == PacketType.SUBACK) {
            granted(SubscribePacket.parse(request, body, requestEnd, version), answer, version);
        } else {
            ended(UnsubscribePacket.parse(request, body, requestEnd, version), answer, version);
        }
    }

    /** Only what was granted is kept. */
    private void granted(SubscribePacket request, SubackPacket answer, MqttVersion version) {
        List<Subscription> subscriptions = request.subscriptions();
        requireCodes(subscriptions.size(), answer, PacketType.SUBACK, version.isV5() ? "MQTT-3.8.4-6" : "MQTT-3.8.4-5");
        for (int i = 0; i < subscriptions.size(); i++) {
            if (!ReasonCode.isFailure(answer.reasonCode(i))) {
                Subscription subscription = subscriptions.get(i);
                byFilter.put(subscription.filter(), new Granted(subscription, request.subscriptionIdentifier()));
            }
        }
    }

    /** Only what the broker has ended is forgotten. Before v5 an answer has no codes and means all. */
    private void ended(UnsubscribePacket request, SubackPacket answer, MqttVersion version) {
        if (version.isV5()) {
            requireCodes(request.filters().size(), answer, PacketType.UNSUBACK, "MQTT-3.11.3-1");
        }
        for (int i = 0; i < request.filters().size(); i++) {
            if (!version.isV5() || !ReasonCode.isFailure(answer.reasonCode(i))) {
                byFilter.remove(request.filters().get(i));
            }
        }
    }

    private static void requireCodes(int filters, SubackPacket answer, int type, String statement) {
        if (answer.size() != filters) {
            throw MqttProtocolException.protocolError(
                    statement,
                    PacketType.name(type) + " with " + answer.size() + " codes for " + filters + " Topic Filters");
        }
    }

    boolean isEmpty() {
        return byFilter.isEmpty();
    }

    /** Writes the SUBSCRIBEs that make them again; returns how many. */
    int writeTo(ByteBuf out, MqttVersion version) {
        List<Group> groups = toResubscribe(version.isV5());
        int packetId = FIRST_PACKET_ID;
        for (Group group : groups) {
            SubscribePacket.write(out, version, packetId--, group.subscriptions(), group.subscriptionIdentifier());
        }
        return groups.size();
    }

    /** What to subscribe again, in the original order as far as identifiers allow. For v5 with Retain Handling 1. */
    private List<Group> toResubscribe(boolean v5) {
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
