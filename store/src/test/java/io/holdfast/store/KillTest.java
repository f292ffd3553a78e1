package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A child JVM appends at full speed and is killed with SIGKILL at a random moment; nothing that it had forced may be gone. */
class KillTest {
    @TempDir
    Path directory;

    @Test
    void threeRounds() throws Exception {
        run(3);
    }

    @Test
    @Tag("crash")
    void manyRounds() throws Exception {
        run(Integer.getInteger("holdfast.crash.rounds", 50));
    }

    private void run(final int rounds) throws Exception {
        final long seed = Long.getLong("holdfast.seed", System.nanoTime());
        System.out.println("KillTest seed " + seed);
        final Random random = new Random(seed);
        for (int round = 0; round < rounds; round++) {
            final long forced = killAfter(20 + random.nextInt(400));
            verify(forced, "seed " + seed + " round " + round);
        }
    }

    private long killAfter(final int delayMs) throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx128m", "-Xshare:auto"));
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.startsWith("--")
                        || argument.startsWith("-Dchronicle")
                        || argument.startsWith("-Dqueue"))
                .forEach(command::add);
        command.addAll(List.of(
                "-cp", System.getProperty("java.class.path"), AppendingProcess.class.getName(), directory.toString()));
        final Process child = new ProcessBuilder(command)
                .redirectError(Files.createTempFile(directory.getParent(), "child", ".err")
                        .toFile())
                .start();
        long forced = 0;
        try (BufferedReader output = child.inputReader()) {
            String line = output.readLine();
            assertTrue("READY".equals(line), "the child says " + line);
            final long killAt = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delayMs);
            while (line != null) {
                if (System.nanoTime() >= killAt && child.isAlive()) {
                    // By its handle: the Process itself would close the pipe, with output still in it.
                    child.toHandle().destroyForcibly();
                }
                line = output.readLine();
                if (line != null && line.endsWith(".")) {
                    forced = Long.parseLong(line.substring(0, line.length() - 1));
                }
            }
        } finally {
            child.destroyForcibly();
        }
        assertTrue(child.waitFor(30, TimeUnit.SECONDS));
        assertFalse(child.exitValue() == 0, "it was killed, it did not end");
        return forced;
    }

    /** Every record up to the last one forced, in order, with the bytes that belong to its sequence; ids that fit. */
    private void verify(final long forced, final String where) throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory, AppendingProcess::settings)) {
            assertTrue(fixture.lane.durableSequence() >= forced, where + ": " + forced + " were forced");
            long expected = fixture.lane.cursor().sequence() + 1;
            try (LaneReader reader = fixture.lane.openReader()) {
                reader.seek(expected);
                while (reader.next()) {
                    assertEquals(expected, reader.sequence(), where);
                    final RecordView record = reader.record();
                    if (record.kind() == RecordDescriptor.KIND_PUBLISH) {
                        assertEquals(
                                AppendingProcess.payloadOf(expected, record.payloadLength()),
                                StoreFixture.message(record).payload(),
                                where);
                    }
                    expected++;
                }
            }
            assertEquals(fixture.lane.durableSequence() + 1, expected, where);
            assertEquals(0, fixture.lane.stat().missingAtStart(), where);
            final long last = fixture.lane.durableSequence();
            final int[] ids = fixture.connect(AppendingProcess.CLIENT, true).receivedIds();
            assertEquals(last % 2, ids.length, where + ": each PUBLISH is followed by its RELEASE");
        }
    }
}
