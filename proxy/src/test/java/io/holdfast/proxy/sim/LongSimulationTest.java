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
}
