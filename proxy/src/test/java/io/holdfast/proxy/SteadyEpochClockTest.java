package io.holdfast.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A wall clock that is set must not expire what is stored. */
class SteadyEpochClockTest {
    private final AtomicLong wallMs = new AtomicLong(1_000_000);
    private final AtomicLong ns = new AtomicLong(77);
    private final SteadyEpochClock clock = new SteadyEpochClock(wallMs::get, ns::get);

    @Test
    void itPassesAsTheMonotonicClockDoes() {
        pass(5_000);
        clock.look();
        assertEquals(1_005_000, clock.time());
    }

    @Test
    void smallCorrectionsAreFollowed() {
        wallMs.addAndGet(40_000);
        clock.look();
        assertEquals(1_040_000, clock.time());
        wallMs.addAndGet(-30_000);
        clock.look();
        assertEquals(1_010_000, clock.time());
    }

    @Test
    void aStepIsNotFollowedNorWhatComesBehindIt() {
        wallMs.addAndGet(TimeUnit.DAYS.toMillis(20_000));
        clock.look();
        assertEquals(1_000_000, clock.time());
        pass(1_000);
        clock.look();
        assertEquals(1_001_000, clock.time());
        wallMs.addAndGet(-TimeUnit.DAYS.toMillis(20_000));
        clock.look();
        assertEquals(1_001_000, clock.time());
    }

    private void pass(long ms) {
        wallMs.addAndGet(ms);
        ns.addAndGet(TimeUnit.MILLISECONDS.toNanos(ms));
    }
}
