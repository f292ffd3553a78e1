package io.holdfast.proxy.sim;

import org.junit.jupiter.api.Test;

/** A few of the simulation's seeds; {@code make sim} plays thousands. */
class SimulationTest {
    @Test
    void promisesHoldForAFewSeeds() {
        Seeds.play(1, Integer.getInteger("holdfast.sim.few", 100));
    }
}
