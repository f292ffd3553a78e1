package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a power cut would leave: the store lies in a file system inside an image file; right after a sync a copy of the image
 * holds what had reached the "disk" and nothing of the page cache. The copy is mounted and read. Needs root and loop devices.
 */
@Tag("fast")
class PowerLossTest {
    private static final int SNAPSHOTS = 10;

    @TempDir
    Path directory;

    private final Random random = new Random();
    private Path mountedLive;
    private Path mountedCopy;

    @AfterEach
    void unmount() throws Exception {
        for (final Path mounted : Arrays.asList(mountedCopy, mountedLive)) {
            if (mounted != null) {
                run("umount", mounted.toString());
            }
        }
    }

    @Test
    void nothingThatWasForcedIsLost() throws Exception {
        final long seed = Long.getLong("holdfast.seed", System.nanoTime());
        System.out.println("PowerLossTest seed " + seed);
        random.setSeed(seed);
        final Path image = directory.resolve("disk.img");
        final Path live = mountLive(image);
        final Path copy = Files.createDirectory(directory.resolve("copy"));
        try (StoreFixture fixture = StoreFixture.open(live.resolve("data"))) {
            int lastSegment = 0;
            int segments = 0;
            for (int snapshot = 0; snapshot < SNAPSHOTS; snapshot++) {
                appendSome(fixture);
                final long forced = fixture.lane.durableSequence();
                final long finished = fixture.lane.cursor().durableSequence();
                final int[] ids = sorted(fixture.session().receivedIds());
                final long accepted = fixture.lane.accepted(0);
                final int segment = Position.segment(fixture.lane.durablePosition());
                segments += segment == lastSegment ? 0 : 1;
                lastSegment = segment;
                publish(fixture, 5);
                final Path cut = directory.resolve("cut.img");
                run("cp", "--sparse=always", image.toString(), cut.toString());
                require("mount", "-o", "loop", cut.toString(), copy.toString());
                mountedCopy = copy;
                verify(copy.resolve("data"), forced, finished, ids, accepted, "seed " + seed + " cut " + snapshot);
                require("umount", copy.toString());
                mountedCopy = null;
            }
            assertTrue(segments > 2, "rolls between the snapshots: " + segments);
            assertTrue(fixture.errors.isEmpty(), () -> fixture.errors.toString());
        }
    }

    private Path mountLive(final Path image) throws Exception {
        assumeTrue(
                "root".equals(System.getProperty("user.name")) && Files.exists(Path.of("/dev/loop-control")),
                "skipped: needs root and loop devices");
        final Path mountPoint = Files.createDirectory(directory.resolve("live"));
        assumeTrue(
                run("truncate", "-s", "48M", image.toString()) == 0
                        && run("mkfs.ext4", "-q", "-F", image.toString()) == 0
                        && run("mount", "-o", "loop", image.toString(), mountPoint.toString()) == 0,
                "skipped: this machine does not let us mount an image");
        mountedLive = mountPoint;
        return mountPoint;
    }

    /** A few batches over one roll or none; some ids are released, the uplink moves on now and then. */
    private void appendSome(final StoreFixture fixture) throws StoreException {
        final int batches = 1 + random.nextInt(4);
        for (int i = 0; i < batches; i++) {
            publish(fixture, 1 + random.nextInt(60));
            if (random.nextBoolean()) {
                final int[] ids = fixture.session().receivedIds();
                for (int j = 0; j < ids.length; j += 2) {
                    assertEquals(Outcome.STORED, fixture.release(ids[j]));
                }
            }
            fixture.writer.force();
            if (random.nextBoolean()) {
                fixture.maintain();
            }
            if (random.nextInt(4) == 0) {
                fixture.finishAll();
                fixture.lane.reclaim();
            }
        }
        publish(fixture, 1);
        fixture.writer.force();
    }

    private void publish(final StoreFixture fixture, final int count) throws StoreException {
        for (int i = 0; i < count; i++) {
            final long sequence = fixture.writer.nextSequence();
            final int id = (int) (1 + sequence % 60_000);
            assertEquals(Outcome.STORED, fixture.publish(2, id, "t", payloadOf(sequence)));
        }
    }

    private static String payloadOf(final long sequence) {
        return (sequence + "-").repeat(300);
    }

    private static void verify(
            final Path data,
            final long forced,
            final long finished,
            final int[] ids,
            final long accepted,
            final String where)
            throws Exception {
        try (StoreFixture fixture = StoreFixture.open(data)) {
            assertTrue(
                    fixture.lane.durableSequence() >= forced,
                    where + ": forced " + forced + ", found " + fixture.lane.durableSequence());
            assertEquals(finished, fixture.lane.cursor().sequence(), where);
            long expected = finished + 1;
            try (LaneReader reader = fixture.lane.openReader()) {
                reader.seek(expected);
                while (reader.next()) {
                    assertEquals(expected, reader.sequence(), where);
                    if (reader.record().kind() == RecordDescriptor.KIND_PUBLISH) {
                        assertEquals(
                                payloadOf(expected),
                                StoreFixture.message(reader.record()).payload(),
                                where);
                    }
                    expected++;
                }
            }
            assertTrue(expected > forced, where);
            assertEquals(0, fixture.lane.stat().missingAtStart(), where);
            if (fixture.lane.durableSequence() == forced) {
                assertArrayEquals(ids, sorted(fixture.connect("device", true).receivedIds()), where);
                assertEquals(accepted, fixture.lane.accepted(0), where);
            }
        }
    }

    private static int[] sorted(final int[] ids) {
        Arrays.sort(ids);
        return ids;
    }

    private static void require(final String... command) throws Exception {
        assertEquals(0, run(command), String.join(" ", command));
    }

    private static int run(final String... command) throws InterruptedException {
        try {
            final Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(process.waitFor(60, TimeUnit.SECONDS));
            if (process.exitValue() != 0) {
                System.out.println(String.join(" ", command) + ": " + output);
            }
            return process.exitValue();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
