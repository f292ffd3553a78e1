package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(120)
class EverySplitPointGivesTheSameFramesTest {
    private final Random random = Seed.random(getClass());
    private final RandomPackets packets = new RandomPackets(random);

    /** Every type once, CONNECT or CONNACK first. */
    private List<byte[]> everyType(Direction direction, MqttVersion version) {
        List<byte[]> all = new ArrayList<>();
        if (direction == Direction.FROM_CLIENT) {
            all.add(packets.packet(PacketType.CONNECT, direction, version));
        }
        for (int type : direction == Direction.FROM_CLIENT ? RandomPackets.FROM_CLIENT : RandomPackets.FROM_SERVER) {
            boolean v5Only =
                    type == PacketType.AUTH || (type == PacketType.DISCONNECT && direction == Direction.FROM_SERVER);
            if (version.isV5() || !v5Only) {
                all.add(packets.packet(type, direction, version));
            }
        }
        return all;
    }

    private static List<String> texts(List<byte[]> packets) {
        return packets.stream().map(Bytes::hex).toList();
    }

    private static DecoderPeer peer(Direction direction, MqttVersion version, int streamThreshold) {
        DecoderPeer peer = new DecoderPeer(
                direction, direction == Direction.FROM_CLIENT ? null : version, 1 << 20, streamThreshold);
        peer.learnsVersion = true;
        peer.checksFrames = streamThreshold == Integer.MAX_VALUE;
        return peer;
    }

    @ParameterizedTest
    @EnumSource(MqttVersion.class)
    void cutInTwo(MqttVersion version) {
        for (Direction direction : Direction.values()) {
            List<byte[]> all = everyType(direction, version);
            byte[] stream = Bytes.join(all.toArray());
            for (int cut = 0; cut <= stream.length; cut++) {
                try (DecoderPeer peer = peer(direction, version, Integer.MAX_VALUE)) {
                    peer.receive(stream, 0, cut);
                    peer.receive(stream, cut, stream.length);
                    assertEquals(List.of(), peer.violations);
                    assertEquals(texts(all), peer.frames, direction + ", cut at " + cut);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(MqttVersion.class)
    void byteByByte(MqttVersion version) {
        for (Direction direction : Direction.values()) {
            for (int threshold : new int[] {Integer.MAX_VALUE, 8}) {
                List<byte[]> all = everyType(direction, version);
                byte[] stream = Bytes.join(all.toArray());
                try (DecoderPeer peer = peer(direction, version, threshold)) {
                    for (int i = 0; i < stream.length; i++) {
                        peer.receive(stream, i, i + 1);
                    }
                    assertEquals(List.of(), peer.violations);
                    assertEquals(texts(all), peer.frames);
                }
            }
        }
    }

    /** Random pieces, random refusals, suspending at random, streaming or not. */
    @Test
    void inRandomPiecesWithAListenerThatSuspends() {
        for (int round = 0; round < 600; round++) {
            MqttVersion version = Seed.oneOf(random, MqttVersion.values());
            Direction direction = Seed.oneOf(random, Direction.values());
            List<byte[]> all = everyType(direction, version);
            for (int i = random.nextInt(10); i > 0; i--) {
                all.add(packets.next(direction, version));
            }
            byte[] stream = Bytes.join(all.toArray());
            try (DecoderPeer peer = peer(direction, version, random.nextBoolean() ? Integer.MAX_VALUE : 20)) {
                peer.window = 0;
                peer.onFrame = () -> {
                    if (random.nextInt(5) == 0) {
                        peer.decoder.suspend();
                    }
                };
                int at = 0;
                while (at < stream.length || peer.decoder.isSuspended()) {
                    if (at < stream.length && random.nextBoolean()) {
                        int to = Math.min(stream.length, at + 1 + random.nextInt(1 << random.nextInt(9)));
                        peer.receive(stream, at, to);
                        at = to;
                    } else {
                        peer.window = random.nextInt(4);
                        peer.resume();
                    }
                }
                assertEquals(List.of(), peer.violations);
                assertEquals(texts(all), peer.frames);
            }
        }
    }
}
