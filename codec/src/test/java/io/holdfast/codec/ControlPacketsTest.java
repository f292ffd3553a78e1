package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ControlPacketsTest {
    @ParameterizedTest
    @CsvSource({
        "FROM_CLIENT, MQTT_5, 82 06 00 01 00 00 01 61, 0x81", // no options
        "FROM_CLIENT, MQTT_5, 82 03 00 01 00, 0x82", // no filter
        "FROM_CLIENT, MQTT_3_1_1, 82 02 00 01, 0x82",
        "FROM_CLIENT, MQTT_5, 82 07 00 01 00 00 01 61 03, 0x81", // QoS 3
        "FROM_CLIENT, MQTT_5, 82 07 00 01 00 00 01 61 30, 0x82", // Retain Handling 3
        "FROM_CLIENT, MQTT_5, 82 07 00 01 00 00 01 61 40, 0x81", // reserved
        "FROM_CLIENT, MQTT_3_1_1, 82 06 00 01 00 01 61 04, 0x81", // reserved
        "FROM_CLIENT, MQTT_5, 82 08 00 01 00 00 01 61 00 00, 0x81", // trailing byte
        "FROM_CLIENT, MQTT_5, 82 06 00 01 00 00 00 00, 0x81", // empty filter
        "FROM_CLIENT, MQTT_5, 82 08 00 01 00 00 02 61 23 00, 0x81", // a#
        "FROM_CLIENT, MQTT_5, 82 07 00 01 00 00 01 ff 00, 0x81", // UTF-8
        "FROM_CLIENT, MQTT_5, 82 10 00 01 00 00 0a 24 73 68 61 72 65 2f 67 2f 61 04, 0x82", // No Local on $share
        "FROM_CLIENT, MQTT_5, 82 0e 00 01 00 00 08 24 73 68 61 72 65 2f 67 00, 0x82", // $share/g
        "FROM_CLIENT, MQTT_5, 82 09 00 01 02 0b 00 00 01 61 00, 0x82", // Subscription Identifier 0
        "FROM_CLIENT, MQTT_5, 82 0b 00 01 04 0b 01 0b 01 00 01 61 00, 0x82", // twice
        "FROM_CLIENT, MQTT_5, a2 03 00 01 00, 0x82",
        "FROM_CLIENT, MQTT_5, a2 06 00 00 00 00 01 61, 0x81",
        "FROM_CLIENT, MQTT_5, a2 08 00 01 02 0b 01 00 01 61, 0x81", // a property of SUBSCRIBE
        "FROM_SERVER, MQTT_5, 90 03 00 01 00, 0x81", // no codes
        "FROM_SERVER, MQTT_5, 90 04 00 00 00 00, 0x81",
        "FROM_SERVER, MQTT_5, 90 04 00 01 00 03, 0x82",
        "FROM_SERVER, MQTT_3_1_1, 90 03 00 01 87, 0x82",
        "FROM_SERVER, MQTT_5, b0 03 00 01 00, 0x81",
        "FROM_SERVER, MQTT_5, b0 04 00 01 00 01, 0x82",
        "FROM_SERVER, MQTT_3_1_1, b0 02 00 00, 0x81",
        "FROM_CLIENT, MQTT_5, e0 01 01, 0x82",
        "FROM_CLIENT, MQTT_5, e0 03 00 00 00, 0x81", // trailing byte
        "FROM_SERVER, MQTT_5, e0 07 00 05 11 00 00 00 00, 0x82", // Session Expiry Interval
        "FROM_CLIENT, MQTT_5, e0 04 00 02 01 00, 0x81",
        "FROM_CLIENT, MQTT_5, f0 01 01, 0x82",
        "FROM_CLIENT, MQTT_5, f0 00, 0x82", // success, which is the server's to say
        "FROM_CLIENT, MQTT_5, f0 02 18 00, 0x82", // no Authentication Method
        "FROM_CLIENT, MQTT_5, f0 0a 18 08 15 00 01 61 15 00 01 61, 0x82", // twice
        "FROM_CLIENT, MQTT_5, f0 07 18 04 15 00 01 61 00, 0x81", // trailing byte
        "FROM_SERVER, MQTT_5, f0 06 19 04 15 00 01 61, 0x82", // re-authenticate, which is the client's to say
        "FROM_SERVER, MQTT_3_1_1, f0 00, 0x82",
        "FROM_SERVER, MQTT_3_1_1, e0 00, 0x82",
        "FROM_SERVER, MQTT_3_1_1, 90 02 00 01, 0x81", // no codes
        "FROM_SERVER, MQTT_3_1_1, 90 00, 0x81",
        "FROM_SERVER, MQTT_5, 90 00, 0x81",
        "FROM_SERVER, MQTT_5, 20 03 00 01 00, 0x82", // a code of 3.1.1
        "FROM_SERVER, MQTT_3_1_1, 20 02 00 06, 0x82",
        "FROM_CLIENT, MQTT_3_1_1, f0 00, 0x82"
    })
    void refuses(Direction direction, MqttVersion version, String hex, String reasonCode) {
        MqttProtocolException e = Packets.violation(direction, version, hex);
        assertNotNull(e);
        assertEquals(Integer.decode(reasonCode), e.reasonCode(), e.getMessage());
    }

    @ParameterizedTest
    @CsvSource({
        "FROM_CLIENT, MQTT_5, 82 10 00 01 00 00 0a 24 73 68 61 72 65 2f 67 2f 61 01", // $share/g/a
        "FROM_CLIENT, MQTT_3_1_1, 82 0d 00 01 00 08 24 73 68 61 72 65 2f 67 00", // 3.1.1 knows no $share
        "FROM_CLIENT, MQTT_3_1, 8a 06 00 01 00 01 61 fc", // DUP, unused bits
        "FROM_CLIENT, MQTT_3_1, 6b 02 00 01",
        "FROM_CLIENT, MQTT_5, e0 00",
        "FROM_CLIENT, MQTT_5, f0 06 19 04 15 00 01 61",
        "FROM_SERVER, MQTT_5, f0 00",
        "FROM_SERVER, MQTT_5, f0 06 18 04 15 00 01 61",
        "FROM_SERVER, MQTT_3_1_1, 90 04 00 01 80 02"
    })
    void takes(Direction direction, MqttVersion version, String hex) {
        assertNull(Packets.violation(direction, version, hex));
    }

    @Test
    void anEmptyClientIdentifierIsTheServersMatter() {
        assertNull(Packets.violation(Direction.FROM_CLIENT, null, Bytes.packet(0x10, "MQTT", 4, 0, Bytes.u16(0), "")));
    }

    @Test
    void readsTheSubscriptionsThatItWrites() {
        List<Subscription> subscriptions =
                List.of(new Subscription("a/é/#", 0x2E), new Subscription("$share/g/+", 0x01));
        for (MqttVersion version : MqttVersion.values()) {
            ByteBuf out = Unpooled.buffer();
            SubscribePacket.write(out, version, 7, subscriptions, 300);
            ControlPackets.check(out, 0, 2, out.writerIndex(), PacketType.SUBSCRIBE, version, Direction.FROM_CLIENT);
            SubscribePacket again = SubscribePacket.parse(out, 2, out.writerIndex(), version);
            assertEquals(7, again.packetId());
            assertEquals(version.isV5() ? 300 : 0, again.subscriptionIdentifier());
            assertEquals(
                    version.isV5()
                            ? subscriptions
                            : List.of(new Subscription("a/é/#", 2), new Subscription("$share/g/+", 1)),
                    again.subscriptions());

            out.clear();
            UnsubscribePacket.write(out, version, 9, List.of("a/é/#", "b"));
            assertEquals(
                    new UnsubscribePacket(9, List.of("a/é/#", "b")),
                    UnsubscribePacket.parse(out, 2, out.writerIndex(), version));
        }
    }

    @Test
    void readsDisconnect() {
        byte[] packet = Bytes.packet(0xE0, 0x9D, Bytes.properties(0x1C, "other:1883", 0x1F, "moved", 0x26, "k", "v"));
        DisconnectPacket disconnect = DisconnectPacket.parse(
                Unpooled.wrappedBuffer(packet), 2, packet.length, MqttVersion.MQTT_5, Direction.FROM_SERVER);
        assertEquals(new DisconnectPacket(0x9D, -1, "moved", "other:1883"), disconnect);

        packet = Bytes.packet(0xE0, 0x04, Bytes.properties(0x11, Bytes.u32(7)));
        disconnect = DisconnectPacket.parse(
                Unpooled.wrappedBuffer(packet), 2, packet.length, MqttVersion.MQTT_5, Direction.FROM_CLIENT);
        assertEquals(new DisconnectPacket(0x04, 7, null, null), disconnect);
    }

    @Test
    void leavesPublishAndItsAcksToTheViews() {
        assertThrows(
                IllegalArgumentException.class,
                () -> ControlPackets.check(
                        Unpooled.EMPTY_BUFFER, 0, 0, 0, PacketType.PUBLISH, MqttVersion.MQTT_5, Direction.FROM_CLIENT));
    }
}
