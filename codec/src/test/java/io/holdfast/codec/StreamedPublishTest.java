package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class StreamedPublishTest {
    private static final byte[] LARGE = Bytes.packet(0x32, "a/b", Bytes.u16(5), new byte[10_000]);
    /** Fixed header, topic and Packet Identifier. */
    private static final int LEAST = 3 + 5 + 2;

    private static DecoderPeer peer() {
        return new DecoderPeer(Direction.FROM_SERVER, MqttVersion.MQTT_3_1_1, 1 << 20, 1000);
    }

    @Test
    void isNotCollected() {
        try (DecoderPeer peer = peer()) {
            for (int at = 0; at < LARGE.length; at += 500) {
                peer.receive(LARGE, at, Math.min(LARGE.length, at + 500));
                assertEquals(0, peer.keptBytes());
            }
            peer.receive("d0 00");
            assertEquals(List.of(Bytes.hex(LARGE), "d0 00"), peer.frames);
        }
    }

    @Test
    void beginsWithTopicAndPacketIdentifierAtHand() {
        try (DecoderPeer peer = peer()) {
            int[] begun = {0};
            peer.onFrame = () -> begun[0]++;
            for (int i = 0; i < LEAST - 1; i++) {
                peer.receive(LARGE, i, i + 1);
            }
            assertEquals(0, begun[0]);
            peer.receive(LARGE, LEAST - 1, LEAST);
            assertEquals(1, begun[0]);
            peer.receive(LARGE, LEAST, LARGE.length);
            assertEquals(2, begun[0]);
            assertEquals(List.of(Bytes.hex(LARGE)), peer.frames);
        }
    }

    @Test
    void comesAsOneFrameIfItIsThere() {
        try (DecoderPeer peer = peer()) {
            int[] calls = {0};
            peer.onFrame = () -> calls[0]++;
            peer.receive(LARGE);
            assertEquals(1, calls[0]);
        }
    }

    @Test
    void canBeRefusedAtItsBeginAndSuspendedInItsMiddle() {
        try (DecoderPeer peer = peer()) {
            peer.window = 0;
            peer.receive(LARGE, 0, 600);
            assertTrue(peer.decoder.isSuspended());
            peer.receive(LARGE, 600, 700);
            peer.window = 1;
            peer.onFrame = peer.decoder::suspend;
            peer.resume();
            assertTrue(peer.decoder.isSuspended());
            peer.receive(LARGE, 700, LARGE.length);
            assertEquals(List.of(), peer.frames);
            peer.onFrame = () -> {};
            peer.resume();
            assertEquals(List.of(Bytes.hex(LARGE)), peer.frames);
            assertFalse(peer.decoder.isSuspended());
        }
    }

    @Test
    void aTopicBeyondTheEndIsMalformed() {
        try (DecoderPeer peer = peer()) {
            peer.receive("32 e8 07 03 e4");
            assertEquals(List.of(), peer.violations);
        }
        try (DecoderPeer peer = peer()) {
            peer.receive("32 e8 07 03 e5");
            assertEquals(ReasonCode.MALFORMED_PACKET, peer.violation().reasonCode());
        }
    }

    @Test
    void aDeviceIsNeverStreamed() {
        try (DecoderPeer peer = new DecoderPeer(Direction.FROM_CLIENT, MqttVersion.MQTT_3_1_1, 1 << 20, 10)) {
            int[] calls = {0};
            peer.onFrame = () -> calls[0]++;
            peer.receive(LARGE, 0, 5000);
            assertEquals(0, calls[0]);
            peer.receive(LARGE, 5000, LARGE.length);
            assertEquals(1, calls[0]);
        }
    }
}
