package io.holdfast.proxy.sim;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code make sim}: thousands of seeds, or the one that is to be seen again. */
@Tag("sim")
class LongSimulationTest {
    @Test
    void promisesHoldForThousandsOfSeeds() {
        Long seed = Long.getLong("holdfast.sim.seed");
        if (seed != null) {
            Seeds.play(seed, 1);
        } else {
            Seeds.play(Long.getLong("holdfast.sim.from", 1), Integer.getInteger("holdfast.sim.seeds", 10_000));
        }
    }

    /** Seeds whose scene is small: the same is played again for each change of the disk that it makes. */
    @Test
    void promisesHoldWhereverTheProcessEnds() {
        if (Long.getLong("holdfast.sim.seed") == null) {
            long runs = 0;
            for (long seed = 1; seed <= Integer.getInteger("holdfast.sim.everywhere", 3); seed++) {
                runs += Seeds.crashEverywhere(seed);
            }
            System.out.printf("ended at every change of the disk: %d runs%n", runs);
        }
    }
}
