package io.holdfast.codec;

import java.util.Random;

/** The seed of a random test: printed, and set again with {@code -Dholdfast.seed=…}. */
final class Seed {
    private Seed() {}

    static Random random(Class<?> test) {
        long seed = Long.getLong("holdfast.seed", new Random().nextLong());
        System.out.println(test.getSimpleName() + ": -Dholdfast.seed=" + seed);
        return new Random(seed);
    }

    static <T> T oneOf(Random random, T[] values) {
        return values[random.nextInt(values.length)];
    }
}
