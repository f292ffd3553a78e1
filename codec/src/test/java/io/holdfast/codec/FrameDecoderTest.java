package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class FrameDecoderTest {
    private static final String CONNECT = "10 0e 00 04 4d 51 54 54 04 02 00 3c 00 02 63 31";
    private static final String PUBLISH = "32 06 00 01 61 00 01 78";
    private static final String PINGREQ = "c0 00";

    @Test
    void takesTheVersionFromAConnectWithPacketsBehindIt() {
        try (DecoderPeer peer = new DecoderPeer(Direction.FROM_CLIENT, null)) {
            peer.learnsVersion = true;
            peer.receive(CONNECT + PUBLISH + PINGREQ);
            assertEquals(List.of(CONNECT, PUBLISH, PINGREQ), peer.frames);
            assertEquals(List.of(), peer.violations);
        }
    }

    @Test
    void refusesAnythingBeforeConnect() {
        try (DecoderPeer peer = new DecoderPeer(Direction.FROM_CLIENT, null)) {
            peer.receive("c0");
            assertEquals("MQTT-3.1.0-1", peer.violation().statement());
        }
    }

    @Test
    void refusesASecondConnect() {
        try (DecoderPeer peer = new DecoderPeer(Direction.FROM_CLIENT, MqttVersion.MQTT_5)) {
            peer.receive(CONNECT);
            assertEquals(ReasonCode.PROTOCOL_ERROR, peer.violation().reasonCode());
        }
    }

    @Test
    void keepsARefusedFrameUntilResumed() {
        try (DecoderPeer peer = new DecoderPeer(Direction.FROM_CLIENT, MqttVersion.MQTT_5)) {
            peer.window = 1;
            peer.receive(PUBLISH + PINGREQ + PINGREQ + "c0");
            assertEquals(1, peer.frames.size());
            assertTrue(peer.decoder.isSuspended());
            assertFalse(peer.channel.config().isAutoRead());

            peer.receive("00" + PINGREQ);
            assertEquals(1, peer.frames.size());

            peer.window = 2;
            peer.resume();
            assertEquals(3, peer.frames.size());
            assertTrue(peer.decoder.isSuspended());

            peer.window = 2;
            peer.resume();
            assertEquals(5, peer.frames.size());
            assertFalse(peer.decoder.isSuspended());
            assertTrue(peer.channel.config().isAutoRead());
        }
    }

    @Test
    void aListenerMaySuspendAndResumeWithinOnFrame() {
        try (DecoderPeer peer = new DecoderPeer(Direction.FROM_CLIENT, MqttVersion.MQTT_5)) {
            peer.onFrame = () -> {
                peer.decoder.suspend();
                peer.resume();
            };
            peer.receive(PINGREQ + PINGREQ + PINGREQ);
            assertEquals(3, peer.frames.size());
            assertTrue(peer.channel.config().isAutoRead());

            peer.onFrame = peer.decoder::suspend;
            peer.receive(PINGREQ + PINGREQ + PINGREQ);
            assertEquals(4, peer.frames.size());
            peer.resume();
            assertEquals(5, peer.frames.size());
            peer.onFrame = peer::resume;
            peer.resume();
            assertEquals(6, peer.frames.size());
            assertTrue(peer.channel.config().isAutoRead());
        }
    }

    @Test
    void aListenerMayCloseTheChannelWithinOnFrame() {
        try (DecoderPeer peer = new DecoderPeer(Direction.FROM_CLIENT, MqttVersion.MQTT_5)) {
            peer.onFrame = () -> peer.channel.close().syncUninterruptibly();
            peer.receive(PINGREQ + PINGREQ + "c0");
            peer.channel.runPendingTasks();
            assertEquals(1, peer.frames.size());
            assertEquals(1, peer.inactive);
            peer.resume();
            assertEquals(1, peer.frames.size());
        }
    }

    @Test
    void resumeEndsWithReadCompleteSoThatAnswersAreFlushed() {
        try (DecoderPeer peer = new DecoderPeer(Direction.FROM_CLIENT, MqttVersion.MQTT_5)) {
            peer.decoder.suspend();
            peer.receive(PINGREQ);
            assertEquals(0, peer.frames.size());
            int before = peer.readCompletes;
            peer.resume();
            assertEquals(before + 1, peer.readCompletes);
            assertEquals(1, peer.frames.size());
        }
    }

    @Test
    void reportsAViolationOnceAndThrowsAwayTheRest() {
        try (DecoderPeer peer = new DecoderPeer(Direction.FROM_CLIENT, MqttVersion.MQTT_5)) {
            peer.receive(PINGREQ + "36 00" + PINGREQ);
            peer.receive("00 00");
            assertEquals(1, peer.frames.size());
            assertEquals("MQTT-3.3.1-4", peer.violation().statement());
        }
    }

    @Test
    void anExceptionOfTheListenersForBadBytesIsAViolation() {
        try (DecoderPeer peer = new DecoderPeer(Direction.FROM_CLIENT, MqttVersion.MQTT_5)) {
            peer.onFrame = () -> {
                throw MqttProtocolException.malformed("", "test");
            };
            peer.receive(PINGREQ + PINGREQ);
            assertEquals("test", peer.violation().getMessage());
        }
    }
}
