package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.mqtt.MqttConnAckMessage;
import io.netty.handler.codec.mqtt.MqttConnectMessage;
import io.netty.handler.codec.mqtt.MqttMessage;
import io.netty.handler.codec.mqtt.MqttMessageIdVariableHeader;
import io.netty.handler.codec.mqtt.MqttProperties;
import io.netty.handler.codec.mqtt.MqttPubReplyMessageVariableHeader;
import io.netty.handler.codec.mqtt.MqttPublishMessage;
import io.netty.handler.codec.mqtt.MqttReasonCodeAndPropertiesVariableHeader;
import io.netty.handler.codec.mqtt.MqttSubAckMessage;
import io.netty.handler.codec.mqtt.MqttSubscribeMessage;
import io.netty.handler.codec.mqtt.MqttTopicSubscription;
import io.netty.handler.codec.mqtt.MqttUnsubAckMessage;
import io.netty.handler.codec.mqtt.MqttUnsubscribeMessage;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Netty's decoder as the oracle: what is valid reads the same; what we take of damaged packets, Netty takes too. */
class NettyDecodesTheSameTest {
    private static final int PACKETS = 10_000;

    private final Random random = Seed.random(getClass());
    private final RandomPackets packets = new RandomPackets(random);
    private final ControlCodec netty = new ControlCodec();

    @AfterEach
    void close() {
        netty.close();
    }

    private byte[] next(Direction direction, MqttVersion version) {
        return direction == Direction.FROM_CLIENT && random.nextInt(8) == 0
                ? packets.packet(PacketType.CONNECT, direction, version)
                : packets.next(direction, version);
    }

    private static MqttVersion expected(byte[] packet, MqttVersion version) {
        return PacketType.of(packet[0]) == PacketType.CONNECT ? null : version;
    }

    @Test
    void validPackets() {
        for (int i = 0; i < PACKETS; i++) {
            Direction direction = Seed.oneOf(random, Direction.values());
            MqttVersion version = Seed.oneOf(random, MqttVersion.values());
            byte[] packet = next(direction, version);
            MqttProtocolException e = Packets.violation(direction, expected(packet, version), packet);
            if (e != null) {
                fail(direction + " " + version + " " + Bytes.hex(packet), e);
            }
            compare(direction, version, packet);
        }
    }

    @Test
    void damagedPacketsThatWeTake() {
        int taken = 0;
        for (int i = 0; i < 3 * PACKETS; i++) {
            Direction direction = Seed.oneOf(random, Direction.values());
            MqttVersion version = Seed.oneOf(random, MqttVersion.values());
            byte[] packet = next(direction, version);
            int at = random.nextInt(packet.length);
            packet[at] = (byte) (random.nextBoolean() ? packet[at] ^ 1 << random.nextInt(8) : random.nextInt(256));
            try (DecoderPeer peer = new DecoderPeer(direction, expected(packet, version))) {
                peer.checksFrames = true;
                peer.learnsVersion = true;
                peer.receive(packet);
                boolean whole = peer.violations.isEmpty() && peer.frames.equals(List.of(Bytes.hex(packet)));
                if (whole && !isWhereNettyIsStricter(packet, version)) {
                    taken++;
                    compare(direction, version, packet);
                }
            }
        }
        assertTrue(taken > PACKETS / 10, taken + " taken");
    }

    /**
     * A bridge. 3.1: retries carry DUP; an announced User Name may be left out; an empty Client Identifier is for the server to
     * refuse. 5: a failure in CONNACK, SUBACK or UNSUBACK is passed on whatever its code is.
     */
    private static boolean isWhereNettyIsStricter(byte[] packet, MqttVersion version) {
        int type = PacketType.of(packet[0]);
        if (type == PacketType.CONNACK || type == PacketType.SUBACK || type == PacketType.UNSUBACK) {
            return version.isV5();
        }
        if (type == PacketType.CONNECT
                && ConnectPacket.parse(
                                Unpooled.wrappedBuffer(packet),
                                0,
                                Bytes.bodyOffset(Unpooled.wrappedBuffer(packet)),
                                packet.length)
                        .isBridge()) {
            return true;
        }
        return version == MqttVersion.MQTT_3_1
                && (type == PacketType.PUBREL
                        || type == PacketType.SUBSCRIBE
                        || type == PacketType.UNSUBSCRIBE
                        || type == PacketType.CONNECT);
    }

    private void compare(Direction direction, MqttVersion version, byte[] packet) {
        compare(netty, direction, version, packet);
    }

    /** Compares a packet that we take, unless it is one of those that Netty refuses or cannot tell. */
    static void compareUnlessNettyIsStricter(
            ControlCodec netty, Direction direction, MqttVersion version, byte[] packet) {
        if (!isWhereNettyIsStricter(packet, version)) {
            compare(netty, direction, version, packet);
        }
    }

    private static void compare(ControlCodec netty, Direction direction, MqttVersion version, byte[] packet) {
        ByteBuf buf = Unpooled.wrappedBuffer(packet);
        int body = Bytes.bodyOffset(buf);
        int end = packet.length;
        MqttMessage message;
        try {
            message = netty.decode(buf, 0, end, version);
        } catch (MqttProtocolException e) {
            throw new AssertionError("Netty refuses " + direction + " " + version + " " + Bytes.hex(packet), e);
        }
        try {
            compare(direction, version, buf, body, end, message);
        } catch (AssertionError e) {
            throw new AssertionError(direction + " " + version + " " + Bytes.hex(packet), e);
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private static void compare(
            Direction direction, MqttVersion version, ByteBuf buf, int body, int end, MqttMessage message) {
        int type = PacketType.of(buf.getByte(0));
        assertEquals(type, message.fixedHeader().messageType().value());
        assertEquals(end - body, message.fixedHeader().remainingLength());
        switch (type) {
            case PacketType.CONNECT -> connect(ConnectPacket.parse(buf, 0, body, end), (MqttConnectMessage) message);
            case PacketType.CONNACK ->
                connack(ConnackPacket.parse(buf, body, end, version), (MqttConnAckMessage) message);
            case PacketType.PUBLISH ->
                publish(new PublishView(direction).wrap(buf, 0, body, end, version, 1000), (MqttPublishMessage)
                        message);
            case PacketType.PUBACK, PacketType.PUBREC, PacketType.PUBREL, PacketType.PUBCOMP ->
                ack(new AckView(direction).wrap(buf, body, end, version, type), version, message);
            case PacketType.SUBSCRIBE ->
                subscribe(SubscribePacket.parse(buf, body, end, version), version, (MqttSubscribeMessage) message);
            case PacketType.UNSUBSCRIBE -> {
                UnsubscribePacket ours = UnsubscribePacket.parse(buf, body, end, version);
                MqttUnsubscribeMessage theirs = (MqttUnsubscribeMessage) message;
                assertEquals(theirs.variableHeader().messageId(), ours.packetId());
                assertEquals(theirs.payload().topics(), ours.filters());
            }
            case PacketType.SUBACK -> {
                SubackPacket ours = SubackPacket.parse(buf, body, end, version);
                MqttSubAckMessage theirs = (MqttSubAckMessage) message;
                assertEquals(theirs.variableHeader().messageId(), ours.packetId());
                assertEquals(theirs.payload().reasonCodes().size(), ours.size());
                for (int i = 0; i < ours.size(); i++) {
                    assertEquals(theirs.payload().reasonCodes().get(i), ours.reasonCode(i));
                }
            }
            case PacketType.UNSUBACK -> {
                SubackPacket ours = SubackPacket.parseUnsuback(buf, body, end, version);
                MqttUnsubAckMessage theirs = (MqttUnsubAckMessage) message;
                assertEquals(theirs.variableHeader().messageId(), ours.packetId());
                for (int i = 0; i < ours.size(); i++) {
                    assertEquals(theirs.payload().unsubscribeReasonCodes().get(i) & 0xFF, ours.reasonCode(i));
                }
            }
            case PacketType.DISCONNECT -> {
                int theirs = version.isV5() && message.variableHeader() != null
                        ? ((MqttReasonCodeAndPropertiesVariableHeader) message.variableHeader()).reasonCode() & 0xFF
                        : 0;
                assertEquals(
                        theirs,
                        DisconnectPacket.parse(buf, body, end, version, direction)
                                .reasonCode());
            }
            default -> assertNotNull(message.fixedHeader());
        }
    }

    private static void connect(ConnectPacket ours, MqttConnectMessage theirs) {
        assertEquals(theirs.variableHeader().version(), ours.version().protocolLevel());
        assertEquals(theirs.variableHeader().isCleanSession(), ours.cleanStart());
        assertEquals(theirs.variableHeader().keepAliveTimeSeconds(), ours.keepAliveSeconds());
        assertEquals(theirs.variableHeader().isWillFlag(), ours.hasWill());
        assertEquals(theirs.variableHeader().willQos(), ours.willQos());
        assertEquals(theirs.variableHeader().isWillRetain(), ours.willRetain());
        assertEquals(theirs.payload().clientIdentifier(), ours.clientId());
        assertEquals(theirs.payload().userName(), ours.userName());
        assertArrayEquals(theirs.payload().passwordInBytes(), ours.passwordBytes());
        MqttProperties properties = theirs.variableHeader().properties();
        assertEquals(
                number(
                        properties,
                        PropertyId.SESSION_EXPIRY_INTERVAL,
                        ours.version().isV5() ? 0 : -1),
                (int) ours.sessionExpiryInterval());
        assertEquals(number(properties, PropertyId.RECEIVE_MAXIMUM, 65_535), ours.receiveMaximum());
        assertEquals(number(properties, PropertyId.MAXIMUM_PACKET_SIZE, 0), (int) ours.maximumPacketSize());
    }

    private static void connack(ConnackPacket ours, MqttConnAckMessage theirs) {
        assertEquals(theirs.variableHeader().connectReturnCode().byteValue() & 0xFF, ours.code());
        if (ours.version() != MqttVersion.MQTT_3_1) {
            assertEquals(theirs.variableHeader().isSessionPresent(), ours.sessionPresent());
        }
        MqttProperties properties = theirs.variableHeader().properties();
        assertEquals(number(properties, PropertyId.RECEIVE_MAXIMUM, 65_535), ours.receiveMaximum());
        assertEquals(number(properties, PropertyId.TOPIC_ALIAS_MAXIMUM, 0), ours.topicAliasMaximum());
        assertEquals(number(properties, PropertyId.SERVER_KEEP_ALIVE, -1), ours.serverKeepAlive());
        MqttProperties.MqttProperty<?> id = properties.getProperty(PropertyId.ASSIGNED_CLIENT_IDENTIFIER);
        assertEquals(id == null ? null : id.value(), ours.assignedClientIdentifier());
    }

    private static void publish(PublishView ours, MqttPublishMessage theirs) {
        assertEquals(theirs.fixedHeader().qosLevel().value(), ours.qos());
        assertEquals(theirs.fixedHeader().isDup(), ours.isDup());
        assertEquals(theirs.fixedHeader().isRetain(), ours.isRetain());
        ByteBuf buf = ours.buffer();
        assertEquals(
                theirs.variableHeader().topicName(),
                buf.toString(ours.topicOffset(), ours.topicLength(), StandardCharsets.UTF_8));
        if (ours.qos() > 0) {
            assertEquals(theirs.variableHeader().packetId(), ours.packetId());
        }
        assertArrayEquals(
                ByteBufUtil.getBytes(theirs.payload()),
                ByteBufUtil.getBytes(buf, ours.payloadOffset(), ours.payloadLength()));
        MqttProperties properties = theirs.variableHeader().properties();
        assertEquals(properties.getProperties(PropertyId.USER_PROPERTY).size(), ours.userPropertyCount());
        assertEquals(number(properties, PropertyId.TOPIC_ALIAS, 0), ours.topicAlias());
        assertEquals(number(properties, PropertyId.MESSAGE_EXPIRY_INTERVAL, -1), (int) ours.messageExpiryInterval());
    }

    private static void ack(AckView ours, MqttVersion version, MqttMessage theirs) {
        MqttMessageIdVariableHeader header = (MqttMessageIdVariableHeader) theirs.variableHeader();
        assertEquals(header.messageId(), ours.packetId());
        if (version.isV5()) {
            assertEquals(((MqttPubReplyMessageVariableHeader) header).reasonCode() & 0xFF, ours.reasonCode());
        }
    }

    private static void subscribe(SubscribePacket ours, MqttVersion version, MqttSubscribeMessage theirs) {
        assertEquals(theirs.variableHeader().messageId(), ours.packetId());
        List<MqttTopicSubscription> subscriptions = theirs.payload().topicSubscriptions();
        assertEquals(subscriptions.size(), ours.subscriptions().size());
        for (int i = 0; i < subscriptions.size(); i++) {
            assertEquals(
                    subscriptions.get(i).topicFilter(),
                    ours.subscriptions().get(i).filter());
            assertEquals(
                    subscriptions.get(i).qualityOfService().value(),
                    ours.subscriptions().get(i).qos());
        }
        if (version.isV5()) {
            assertEquals(
                    number(theirs.idAndPropertiesVariableHeader().properties(), PropertyId.SUBSCRIPTION_IDENTIFIER, 0),
                    ours.subscriptionIdentifier());
        }
    }

    private static int number(MqttProperties properties, int id, int absent) {
        MqttProperties.MqttProperty<?> property = properties.getProperty(id);
        return property == null ? absent : (Integer) property.value();
    }
}
