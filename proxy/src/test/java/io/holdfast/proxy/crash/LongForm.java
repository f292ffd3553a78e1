package io.holdfast.proxy.crash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * How the long forms run: in parts, from a round on, by system properties. Each part appends a line to a file that all share.
 */
final class LongForm {
    private static final int ROUNDS_PER_PART = 50;

    /** Plays some of the rounds on a store of their own. */
    @FunctionalInterface
    interface Part {
        /** Plays {@code rounds} rounds, of which the first has the number {@code from}; returns what it showed. */
        String play(long seed, int from, int rounds) throws Exception;
    }

    private LongForm() {}

    /** {@code -Dholdfast.crash.rounds}: kills. */
    static int rounds() {
        return Integer.getInteger("holdfast.crash.rounds", 50);
    }

    /** {@code -Dholdfast.crash.tlsRounds}: kills with TLS. */
    static int tlsRounds() {
        return Integer.getInteger("holdfast.crash.tlsRounds", 0);
    }

    /** {@code -Dholdfast.crash.cuts}: power cuts. */
    static int cuts() {
        return Integer.getInteger("holdfast.crash.cuts", 30);
    }

    /** {@code -Dholdfast.crash.broker}: mosquitto or hivemq. */
    static String broker() {
        return System.getProperty("holdfast.crash.broker", "mosquitto");
    }

    /** {@code -Dholdfast.crash.seed}; a part adds the number of its first round. */
    static long seed() {
        return Long.getLong("holdfast.crash.seed", System.nanoTime());
    }

    /** Plays {@code rounds} rounds from {@code -Dholdfast.crash.from} on. */
    static void play(int rounds, Part part) throws Exception {
        long seed = seed();
        int first = Integer.getInteger("holdfast.crash.from", 0);
        int end = first + rounds;
        for (int from = first; from < end; from += ROUNDS_PER_PART) {
            int partRounds = Math.min(ROUNDS_PER_PART, end - from);
            try {
                append(part.play(seed + from, from, partRounds));
            } catch (Exception | AssertionError e) {
                append("FAILED: rounds " + from + " to " + (from + partRounds - 1) + ", seed " + (seed + from) + ": "
                        + e);
                throw e;
            }
        }
    }

    /** {@code -Dholdfast.crash.results=FILE}. */
    private static void append(String line) throws IOException {
        String file = System.getProperty("holdfast.crash.results", "");
        if (!file.isEmpty()) {
            Files.writeString(
                    Path.of(file), line + System.lineSeparator(), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
    }
}
