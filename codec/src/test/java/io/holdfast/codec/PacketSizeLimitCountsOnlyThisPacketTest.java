package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Field cases COD-02, COD-03, COD-04: the limit is that of the whole packet at hand, told by its own header. */
class PacketSizeLimitCountsOnlyThisPacketTest {
    private static byte[] publishOf(int packetBytes) {
        for (int payload = packetBytes - 5; payload > packetBytes - 12; payload--) {
            byte[] packet = Bytes.packet(0x30, "a", new byte[payload]);
            if (packet.length == packetBytes) {
                return packet;
            }
        }
        throw new IllegalArgumentException("no PUBLISH has " + packetBytes + " bytes");
    }

    @Test
    void smallPacketsInPiecesOrWithOthersBehindThemAreTaken() {
        byte[] packet = publishOf(101);
        try (DecoderPeer peer =
                new DecoderPeer(Direction.FROM_CLIENT, MqttVersion.MQTT_3_1_1, 65_536, Integer.MAX_VALUE)) {
            peer.receive(packet, 0, 4);
            peer.receive(packet, 4, 101);
            byte[][] many = new byte[2000][];
            Arrays.fill(many, packet);
            peer.receive(Bytes.join((Object[]) many));
            assertEquals(List.of(), peer.violations);
            assertEquals(2001, peer.frames.size());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {100, 128, 1000, 16_500})
    void theLimitIsOnTheWholePacket(int limit) {
        for (int size : new int[] {limit - 1, limit, limit + 1}) {
            try (DecoderPeer peer =
                    new DecoderPeer(Direction.FROM_CLIENT, MqttVersion.MQTT_5, limit, Integer.MAX_VALUE)) {
                peer.receive(publishOf(size));
                if (size <= limit) {
                    assertEquals(List.of(), peer.violations);
                    assertEquals(1, peer.frames.size());
                } else {
                    assertEquals(ReasonCode.PACKET_TOO_LARGE, peer.violation().reasonCode());
                    assertEquals("MQTT-3.2.2-15", peer.violation().statement());
                }
            }
        }
    }

    @Test
    void aRefusedPacketIsNotBuffered() {
        try (DecoderPeer peer = new DecoderPeer(Direction.FROM_CLIENT, MqttVersion.MQTT_5, 1000, Integer.MAX_VALUE)) {
            peer.receive("30 ff ff ff 7f");
            assertEquals(ReasonCode.PACKET_TOO_LARGE, peer.violation().reasonCode());
        }
    }

    @Test
    void largePacketsAreTakenUpToTheLimit() {
        try (DecoderPeer peer = new DecoderPeer(Direction.FROM_CLIENT, MqttVersion.MQTT_3_1_1)) {
            peer.checksFrames = true;
            peer.receive(Bytes.packet(0x32, "a", Bytes.u16(1), new byte[9000]));
            byte[] large = Bytes.packet(0x32, "a", Bytes.u16(1), new byte[256 * 1024]);
            for (int at = 0; at < large.length; at += 65_536) {
                peer.receive(large, at, Math.min(large.length, at + 65_536));
            }
            byte[][] filters = new byte[500][];
            Arrays.fill(filters, Bytes.join("some/long/filter/+/", 1));
            peer.receive(Bytes.packet(0x82, Bytes.u16(1), Bytes.join((Object[]) filters)));
            assertEquals(List.of(), peer.violations);
            assertEquals(3, peer.frames.size());
        }
    }

    @Test
    void aClaimedLengthCostsNothing() {
        try (DecoderPeer peer =
                new DecoderPeer(Direction.FROM_CLIENT, MqttVersion.MQTT_5, 268_435_460, Integer.MAX_VALUE)) {
            long received = 0;
            for (byte[] piece : List.of(Bytes.hex("30 ff ff ff 7f 00"), new byte[10], new byte[5000], new byte[1])) {
                peer.receive(piece);
                received += piece.length;
                long used = peer.keptBytes();
                assertTrue(used <= Math.max(64, 2 * received), used + " bytes kept of " + received);
            }
        }
    }
}
