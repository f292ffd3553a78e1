package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Valid, broken and random packets of all three versions, from both sides, in small sessions. Each session is read twice:
 * in one piece, and in random pieces. Both have to give the same frames and the same verdict, which is the only
 * exception there may be; no buffer may be left; and of what is taken, Netty's decoder has to understand every fourth as
 * well. A packet counts when it has been looked at: what stands behind a protocol error is never read.
 *
 * <p>A chunk of sessions has a seed of its own: {@code -Dholdfast.fuzz.seed=… -Dholdfast.fuzz.from=chunk} goes on there.
 */
class BrokenPacketsFuzzTest {
    private static final int CHUNK = 10_000;

    private long refused;
    private long taken;

    @Test
    void shortForm() {
        fuzz(100_000, 0);
    }

    @Test
    @Tag("fuzz")
    void longForm() {
        fuzz(Long.getLong("holdfast.fuzz.packets", 10_000_000), Long.getLong("holdfast.fuzz.from", 0));
    }

    private void fuzz(long atLeast, long from) {
        long seed = Long.getLong("holdfast.fuzz.seed", System.nanoTime());
        System.out.printf("fuzz, embedded: seed %d, %d packets%n", seed, atLeast);
        long begin = System.nanoTime();
        long chunk = from;
        for (; examined() < atLeast; chunk++) {
            fuzzChunk(seed, chunk);
            if (chunk % 100 == 99) {
                report(seed, chunk, begin);
            }
        }
        report(seed, chunk, begin);
        assertTrue(refused > 0 && taken > 0, refused + " sessions refused, " + taken + " frames taken");
    }

    private long examined() {
        return taken + refused;
    }

    private void report(long seed, long chunk, long begin) {
        System.out.printf(
                "fuzz, embedded: seed %d, up to chunk %d: %d packets looked at, %d of them a protocol error, %d packets/s%n",
                seed, chunk, examined(), refused, examined() * 1_000_000_000L / (System.nanoTime() - begin));
    }

    private void fuzzChunk(long seed, long chunk) {
        Random random = new Random(seed * 31 + chunk);
        BrokenPackets source = new BrokenPackets(random);
        long end = examined() + CHUNK;
        try (ControlCodec netty = new ControlCodec()) {
            for (int session = 0; examined() < end; session++) {
                Direction direction = Seed.oneOf(random, Direction.values());
                MqttVersion version = Seed.oneOf(random, MqttVersion.values());
                boolean connects = direction == Direction.FROM_CLIENT && random.nextInt(4) == 0;
                byte[] bytes = source.session(direction, version, connects);
                try {
                    play(direction, connects ? null : version, bytes, random, netty);
                } catch (RuntimeException | AssertionError e) {
                    throw new AssertionError(
                            "seed " + seed + " chunk " + chunk + " session " + session + ": " + direction + " "
                                    + version + " " + Bytes.hex(bytes),
                            e);
                }
            }
        }
    }

    private void play(Direction direction, MqttVersion version, byte[] bytes, Random random, ControlCodec netty) {
        int maxPacketSize = random.nextInt(4) == 0 ? 1 + random.nextInt(500) : 1 << 20;
        try (DecoderPeer whole = peer(direction, version, maxPacketSize);
                DecoderPeer pieces = peer(direction, version, maxPacketSize)) {
            whole.receive(bytes);
            int pieceLength = 1 + random.nextInt(20);
            for (int from = 0; from < bytes.length; ) {
                int to = Math.min(bytes.length, from + 1 + random.nextInt(pieceLength));
                pieces.receive(bytes, from, to);
                from = to;
            }
            assertEquals(whole.frames, pieces.frames);
            assertEquals(verdict(whole), verdict(pieces));
            taken += whole.frames.size();
            refused += whole.violations.size();
            for (String frame : whole.frames) {
                if (random.nextInt(4) == 0) {
                    NettyDecodesTheSameTest.compareUnlessNettyIsStricter(
                            netty, direction, whole.version(), Bytes.hex(frame));
                }
            }
        }
    }

    private static DecoderPeer peer(Direction direction, MqttVersion version, int maxPacketSize) {
        DecoderPeer peer = new DecoderPeer(direction, version, maxPacketSize, Integer.MAX_VALUE);
        peer.checksFrames = true;
        peer.learnsVersion = version == null;
        return peer;
    }

    private static String verdict(DecoderPeer peer) {
        assertTrue(peer.violations.size() <= 1);
        return peer.violations.isEmpty() ? "" : peer.violations.get(0).reasonCode() + " " + peer.violations.get(0);
    }

    /** Packets that are valid, changed a little, glued together wrongly, or noise. */
    private static final class BrokenPackets {
        private final Random random;
        private final RandomPackets valid;

        BrokenPackets(Random random) {
            this.random = random;
            this.valid = new RandomPackets(random);
        }

        byte[] session(Direction direction, MqttVersion version, boolean connects) {
            byte[] bytes = connects
                    ? broken(valid.packet(PacketType.CONNECT, direction, version), direction, version)
                    : new byte[0];
            for (int i = 1 + random.nextInt(6); i > 0; i--) {
                bytes = Bytes.join(bytes, packet(direction, version));
            }
            return bytes;
        }

        private byte[] packet(Direction direction, MqttVersion version) {
            if (random.nextInt(20) == 0) {
                byte[] noise = new byte[random.nextInt(40)];
                random.nextBytes(noise);
                return noise;
            }
            return broken(valid.next(direction, version), direction, version);
        }

        /** Half of them are left as they are. */
        private byte[] broken(byte[] valid, Direction direction, MqttVersion version) {
            byte[] packet = valid;
            if (random.nextBoolean()) {
                return packet;
            }
            for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
                packet = change(packet, direction, version);
            }
            return packet;
        }

        private byte[] change(byte[] packet, Direction direction, MqttVersion version) {
            if (packet.length == 0) {
                return packet;
            }
            int at = random.nextInt(packet.length);
            switch (random.nextInt(8)) {
                case 0 -> packet[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> packet[at] = (byte) random.nextInt(256);
                case 2 -> packet[Math.min(1, packet.length - 1)] += (byte) (random.nextInt(5) - 2); // Remaining Length
                case 3 -> {
                    return Bytes.join(
                            Arrays.copyOf(packet, at),
                            random.nextInt(256),
                            Arrays.copyOfRange(packet, at, packet.length));
                }
                case 4 -> {
                    return Bytes.join(Arrays.copyOf(packet, at), Arrays.copyOfRange(packet, at + 1, packet.length));
                }
                case 5 -> {
                    return Arrays.copyOf(packet, at);
                }
                case 6 -> {
                    byte[] other = valid.next(direction, version);
                    int from = random.nextInt(other.length);
                    return Bytes.join(Arrays.copyOf(packet, at), Arrays.copyOfRange(other, from, other.length));
                }
                default -> { // the length of whatever may lie there
                    packet[at] = (byte) (random.nextBoolean() ? 0xff : 0x7f);
                    if (at > 0) {
                        packet[at - 1] = (byte) 0xff;
                    }
                }
            }
            return packet;
        }
    }
}
