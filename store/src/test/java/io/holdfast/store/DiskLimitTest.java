package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The limits bind PUBLISH records; what drains the outbox goes on. */
class DiskLimitTest {
    private static final long FILE_BYTES = StoreContext.fileBytes(StoreFixture.SEGMENT_BYTES);

    @TempDir
    Path directory;

    private StoreFixture open(final long maxBytes) throws StoreException {
        return StoreFixture.open(directory, context -> context.maxBytes(maxBytes));
    }

    private static int fill(final StoreFixture fixture, final int from) throws StoreException {
        int next = from;
        while (fixture.publish(2, 1 + next, "t", next + " " + "x".repeat(1_000)) == Outcome.STORED) {
            next++;
        }
        fixture.writer.force();
        fixture.maintain();
        return next;
    }

    /** STO-07: once the limit was reached it never drains again. */
    @Test
    void atTheByteLimitItDrainsAndAcceptsAgain() throws Exception {
        for (final int segments : new int[] {2, 3, 6}) {
            final Path place = directory.resolve("max-" + segments);
            final long maxBytes = segments * FILE_BYTES + 100;
            try (StoreFixture fixture = StoreFixture.open(place, context -> context.maxBytes(maxBytes))) {
                int next = fill(fixture, 0);
                assertTrue(next > 50 * segments, "stored only " + next);
                for (int round = 0; round < 4; round++) {
                    assertEquals(Outcome.FULL, fixture.publish(1, 1, "t", "x".repeat(1_000)));
                    assertFalse(fixture.lane.prepareSegment());
                    assertTrue(fixture.lane.stat().bytesOnDisk() <= maxBytes);
                    assertTrue(round > 0 || fixture.lane.reclaim() == 0, "nothing is finished");
                    assertEquals(0, fixture.writer.batchBytes());
                    fixture.finishAll();
                    assertTrue(fixture.lane.reclaim() > 0);
                    final int before = next;
                    next = fill(fixture, next);
                    assertTrue(next > before + 50, "accepted only " + (next - before));
                    assertEquals(next - before, fixture.read().size());
                }
            }
        }
    }

    @Test
    void atTheByteLimitItDrainsAfterARestartToo() throws Exception {
        int next;
        try (StoreFixture fixture = open(3 * FILE_BYTES)) {
            next = fill(fixture, 0);
        }
        for (int restart = 0; restart < 3; restart++) {
            try (StoreFixture fixture = open(3 * FILE_BYTES)) {
                next = fill(fixture, next);
                assertEquals(Outcome.FULL, fixture.publish(1, 1, "t", "x".repeat(1_000)));
                fixture.finishAll();
                fixture.maintain();
                fixture.lane.reclaim();
                final int before = next;
                next = fill(fixture, next);
                assertTrue(next > before + 50, "accepted only " + (next - before) + " at restart " + restart);
            }
        }
    }

    @Test
    void releasesAndResetsGoOnWhenPublishesMayNot() throws Exception {
        try (StoreFixture fixture = open(2 * FILE_BYTES)) {
            final int stored = fill(fixture, 0);
            for (int i = 0; i < stored; i++) {
                assertEquals(Outcome.STORED, fixture.release(1 + i));
            }
            for (int i = 0; i < 5_000; i++) {
                final ClientSession session = fixture.session();
                session.receive(9, 9);
                assertEquals(Outcome.STORED, fixture.release(9), "release " + i);
            }
            fixture.writer.force();
            assertEquals(Outcome.FULL, fixture.publish(1, 1, "t", "x".repeat(1_000)));
            fixture.session().receive(9, 9);
            fixture.connect("device", false);
            fixture.writer.force();
            assertEquals(stored + stored + 5_001, fixture.lane.durableSequence());
        }
    }

    @Test
    void theFreeSpaceFloorBindsPublishes() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory, context -> context.reserveBytes(Long.MAX_VALUE / 2))) {
            assertEquals(Outcome.FULL, fixture.publish(1, 1, "t", "a"));
            assertFalse(fixture.lane.prepareSegment());
            final ClientSession session = fixture.session();
            session.receive(9, 9);
            assertEquals(Outcome.STORED, fixture.release(9));
            fixture.writer.force();
            assertEquals(Outcome.FULL, fixture.publish(1, 1, "t", "a"), "the reserve is not for it");
            assertEquals(1, fixture.read().size());
        }
    }

    @Test
    void aRecordLargerThanAQuarterOfASegmentIsRefused() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            final int largest = fixture.writer.maxRecordLength() - RecordEncoder.encodedLength(6, 1, 0, 0);
            assertEquals(Outcome.TOO_LARGE, fixture.publish(1, 1, "t", "x".repeat(largest + 1)));
            for (int i = 0; i < 20; i++) {
                assertEquals(Outcome.STORED, fixture.publish(1, 1, "t", "x".repeat(largest)));
            }
            fixture.writer.force();
            assertEquals(20, fixture.read().size());
        }
    }

    @Test
    void housekeepingMakesTheNextSegmentInAdvance() throws StoreException, IOException {
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            for (int i = 0; i < 1_000; i += 20) {
                assertTrue(fixture.lane.prepareSegment());
                fixture.publishMany(i, i + 20, 1_000);
            }
            assertEquals(0, fixture.lane.stat().segmentsCreatedInline());
        }
    }

    /** Nothing is free: what the headroom does not take goes to the spare segment, or its space to the checkpoint. */
    @Test
    void theSpareSegmentServesReleasesAndTheCheckpoint() throws Exception {
        final Path disk = mountTmpfs("8m");
        try {
            for (final String purpose : List.of("releases", "checkpoint")) {
                try (StoreFixture fixture = StoreFixture.open(disk.resolve(purpose))) {
                    fixture.lane.prepareSegment();
                    final int stored = fill(fixture, 0);
                    fillUp(disk.resolve("ballast"));
                    assertFalse(prepares(fixture));
                    if (purpose.equals("releases")) {
                        assertTrue(stored > 1_500, "more than the headroom takes: " + stored);
                        for (int i = 0; i < stored; i++) {
                            assertEquals(Outcome.STORED, fixture.release(1 + i), "release " + i);
                        }
                        fixture.writer.force();
                    } else {
                        for (int id = 1; id <= 20_000; id++) {
                            fixture.session().receive(id, id);
                        }
                        assertTrue(fixture.writer.writeCheckpoint());
                        assertTrue(fixture.writer.writeCheckpoint(), "both slots");
                    }
                    Files.delete(disk.resolve("ballast"));
                }
                command("rm", "-rf", disk.resolve(purpose).toString());
            }
        } finally {
            command("umount", disk.toString());
        }
    }

    private static boolean prepares(final StoreFixture fixture) {
        try {
            return fixture.lane.prepareSegment();
        } catch (final IOException e) {
            return false;
        }
    }

    private Path mountTmpfs(final String size) throws IOException, InterruptedException {
        assumeTrue("root".equals(System.getProperty("user.name")), "skipped: needs root to mount a small file system");
        final Path disk = Files.createDirectory(directory.resolve("disk"));
        assumeTrue(
                command("mount", "-t", "tmpfs", "-o", "size=" + size, "tmpfs", disk.toString()) == 0,
                "skipped: this machine does not let us mount a file system");
        return disk;
    }

    /** STO-15: a disk that is really full, under records and under a restart; then there is space again. */
    @Test
    void aFullFileSystemIsSurvived() throws Exception {
        final Path disk = mountTmpfs("4m");
        final AtomicLong nowNs = new AtomicLong();
        final Consumer<StoreContext> clock = context -> context.nanoClock(nowNs::get);
        try {
            final Path data = disk.resolve("data");
            final Path ballast = disk.resolve("ballast");
            int next;
            try (StoreFixture fixture = StoreFixture.open(data, clock)) {
                next = fill(fixture, 0);
                assertTrue(next > 1_000, "stored " + next);
                assertTrue(fixture.lane.isFull());
                fillUp(ballast);
                int released = 0;
                while (fixture.release(1 + released) == Outcome.STORED) {
                    released++;
                }
                assertTrue(released > 500, "the headroom is for releases: " + released);
                fixture.writer.force();
                assertEquals(
                        next, fixture.read().stream().filter(m -> m.kind() == 1).count());
            }
            try (StoreFixture fixture = StoreFixture.open(data, clock)) {
                assertEquals(Outcome.FULL, fixture.publish(1, 1, "t", "x"));
                fixture.finishAll();
                fixture.maintain();
                assertTrue(fixture.lane.reclaim() > 3, "drains without any room");
                Files.delete(ballast);
                nowNs.addAndGet(TimeUnit.SECONDS.toNanos(2));
                final int before = next;
                next = fill(fixture, next);
                assertTrue(next > before + 1_000, "accepts again: " + (next - before));
            }
        } finally {
            command("umount", disk.toString());
        }
    }

    private static void fillUp(final Path ballast) {
        try (FileChannel channel = FileChannel.open(ballast, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            DurableFiles.writeZeros(channel, 1 << 30);
        } catch (final IOException e) {
            assertTrue(e.getMessage().contains("No space"), e.getMessage());
        }
    }

    private static int command(final String... command) throws IOException, InterruptedException {
        return new ProcessBuilder(command).inheritIO().start().waitFor();
    }
}
