package io.holdfast.proxy.crash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.EnumMap;
import java.util.Map;

/** What the rounds showed: one line for each part of a long run, appended to a file that all parts share. */
final class CrashResults {
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

    int rounds() {
        return rounds;
    }

    int reachedPoints() {
        return reached.values().stream().mapToInt(Integer::intValue).sum();
    }

    @Override
    public String toString() {
        return rounds + " rounds, " + atRandom + " at random instants, " + reachedPoints() + " at points " + reached
                + ", not reached " + missed;
    }

    /** {@code -Dholdfast.crash.results=FILE}; to standard output in any case. */
    static void append(String line) throws IOException {
        System.out.println(line);
        String file = System.getProperty("holdfast.crash.results", "");
        if (!file.isEmpty()) {
            Files.writeString(
                    Path.of(file), line + System.lineSeparator(), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
    }
}
