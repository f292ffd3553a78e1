package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** Random and half-right bytes: at most one violation, no other exception, every buffer released. */
class GarbageLeaksNothingTest {
    private static final int INPUTS = 20_000;

    private final Random random = Seed.random(getClass());
    private final RandomPackets packets = new RandomPackets(random);

    private byte[] garbage(Direction direction, MqttVersion version) {
        if (random.nextInt(3) == 0) {
            byte[] bytes = new byte[random.nextInt(60)];
            random.nextBytes(bytes);
            return bytes;
        }
        byte[] bytes = Bytes.join(packets.next(direction, version), packets.next(direction, version));
        for (int flips = random.nextInt(3); flips > 0; flips--) {
            bytes[random.nextInt(bytes.length)] =
                    (byte) (random.nextBoolean() ? random.nextInt(256) : random.nextInt(4));
        }
        return bytes;
    }

    @Test
    void garbage() {
        int refused = 0;
        int taken = 0;
        for (int input = 0; input < INPUTS; input++) {
            Direction direction = Seed.oneOf(random, Direction.values());
            MqttVersion version = Seed.oneOf(random, MqttVersion.values());
            byte[] bytes = garbage(direction, version);
            int threshold = random.nextBoolean() ? Integer.MAX_VALUE : 30;
            DecoderPeer peer = new DecoderPeer(direction, version, 1 + random.nextInt(2000), threshold);
            peer.checksFrames = true;
            peer.window = random.nextInt(4);
            int cut = random.nextInt(bytes.length + 1);
            peer.receive(bytes, 0, cut);
            if (random.nextBoolean()) {
                peer.window = random.nextInt(4);
                peer.resume();
            }
            peer.receive(bytes, cut, bytes.length);
            assertTrue(peer.violations.size() <= 1);
            refused += peer.violations.size();
            taken += peer.frames.size();
            if (random.nextBoolean()) {
                peer.channel.pipeline().remove(peer.decoder);
            }
            try {
                peer.close();
            } catch (AssertionError e) {
                throw new AssertionError(direction + " " + version + " " + Bytes.hex(bytes), e);
            }
        }
        assertTrue(refused > INPUTS / 10 && taken > INPUTS / 10, refused + " refused, " + taken + " taken");
    }
}
