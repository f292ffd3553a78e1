package io.holdfast.proxy.crash;

import java.util.EnumMap;
import java.util.Map;

/** Which crashes there have been. */
final class CrashCount {
    private final Map<CrashPoint, Integer> reached = new EnumMap<>(CrashPoint.class);
    private final Map<CrashPoint, Integer> missed = new EnumMap<>(CrashPoint.class);
    private int rounds;
    private int atRandom;

    /** A round that crashed at a random instant. */
    void atRandom() {
        rounds++;
        atRandom++;
    }

    /** A round that was to crash at a point. */
    void atPoint(CrashPoint point, boolean isReached) {
        rounds++;
        (isReached ? reached : missed).merge(point, 1, Integer::sum);
    }

    @Override
    public String toString() {
        int atPoints = reached.values().stream().mapToInt(Integer::intValue).sum();
        return rounds + " rounds, " + atRandom + " at random instants, " + atPoints + " at points " + reached
                + ", not reached " + missed;
    }
}
