package io.holdfast.proxy.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class BegunPacketsTest {
    private static final int KIB = 1024;

    private final BegunPackets packets = new BegunPackets(100 * KIB);
    private final List<Integer> givenUp = new ArrayList<>();
    private final List<BegunPackets.Entry> entries = new ArrayList<>();

    private BegunPackets.Entry entry(int number) {
        while (entries.size() <= number) {
            int next = entries.size();
            entries.add(new BegunPackets.Entry(() -> {
                givenUp.add(next);
                packets.changed(entries.get(next), 0); // as the connection does when it lets go of its buffer
            }));
        }
        return entries.get(number);
    }

    @Test
    void theOneThatBeganFirstGoesAndNotTheOneThatGrows() {
        for (int i = 0; i < 5; i++) {
            packets.changed(entry(i), 20 * KIB);
        }
        assertEquals(List.of(), givenUp);
        packets.changed(entry(0), 0); // whole: begins anew behind the others
        packets.changed(entry(0), 10 * KIB);
        packets.changed(entry(4), 40 * KIB);
        assertEquals(List.of(1), givenUp);
        packets.changed(entry(4), 95 * KIB);
        assertEquals(List.of(1, 2, 3), givenUp.subList(0, 3));
    }

    @Test
    void onesOwnPacketGoesToo() {
        packets.changed(entry(0), 101 * KIB);
        assertEquals(List.of(0), givenUp);
        assertEquals(0, packets.bytes());
    }

    @Test
    void smallOnesAreFree() {
        for (int i = 0; i < 1000; i++) {
            packets.changed(entry(i), 4 * KIB);
        }
        assertEquals(0, packets.bytes());
        assertEquals(List.of(), givenUp);
    }

    @Test
    void theSumIsRightWhateverHappens() {
        long seed = System.nanoTime();
        System.out.println("BegunPacketsTest: seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        int[] bytes = new int[20];
        for (int i = 0; i < 100_000; i++) {
            int number = random.nextInt(bytes.length);
            int now = random.nextInt(3) == 0 ? 0 : random.nextInt(30 * KIB);
            givenUp.clear();
            bytes[number] = now > 4 * KIB ? now : 0;
            packets.changed(entry(number), now);
            givenUp.forEach(one -> bytes[one] = 0);
            long sum = 0;
            for (int one : bytes) {
                sum += one;
            }
            assertEquals(sum, packets.bytes());
            assertTrue(sum <= 100 * KIB);
        }
    }
}
