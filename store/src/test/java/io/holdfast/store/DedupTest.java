package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A message that its producer sends once more is known by its identity: within the window, over restarts and crashes. */
class DedupTest {
    private static final long WINDOW_MS = TimeUnit.MINUTES.toMillis(10);
    private static final int MAX_ENTRIES = 2_000;

    @TempDir
    Path directory;

    private final AtomicLong epochMs = new AtomicLong(1_800_000_000_000L);
    private final AtomicLong nanos = new AtomicLong(123);

    private StoreFixture open(final Path place) throws StoreException {
        return StoreFixture.open(
                place,
                context -> context.dedupMaxEntries(MAX_ENTRIES)
                        .dedupWindowMs(WINDOW_MS)
                        .epochClock(epochMs::get)
                        .nanoClock(nanos::get));
    }

    private void pass(final long ms) {
        epochMs.addAndGet(ms);
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(ms));
    }

    private Outcome publish(final StoreFixture fixture, final int qos, final long identity) throws StoreException {
        return fixture.publish(qos, qos == 0 ? 0 : 1 + (int) identity % 60_000, identity, epochMs.get());
    }

    @Test
    void isKnownWithinTheWindowOnly() throws Exception {
        try (StoreFixture fixture = open(directory)) {
            assertEquals(Outcome.STORED, publish(fixture, 1, 7));
            assertEquals(Outcome.REPEATED, publish(fixture, 1, 7));
            assertEquals(Outcome.STORED, publish(fixture, 1, 8));
            assertEquals(Outcome.STORED, fixture.publish(1, 7, "t", "without an identity"));
            assertEquals(Outcome.STORED, fixture.publish(1, 7, "t", "without an identity"));
            pass(WINDOW_MS - 1);
            assertEquals(Outcome.REPEATED, publish(fixture, 1, 7));
            pass(1);
            assertEquals(Outcome.STORED, publish(fixture, 1, 7), "a repetition does not begin the window again");
            fixture.writer.force();
            assertEquals(2, fixture.lane.droppedUnstored(0, DropReason.DUPLICATE));
            assertEquals(5, fixture.lane.accepted(0));
            assertEquals(5, fixture.read().size());
        }
    }

    /** The id that is in the session's set has to be released by a record. */
    @Test
    void aQos2CopyIsADuplicateOfItsPacketIdentifierFirst() throws Exception {
        try (StoreFixture fixture = open(directory)) {
            assertEquals(Outcome.STORED, publish(fixture, 2, 7));
            assertEquals(Outcome.DUPLICATE, publish(fixture, 2, 7));
            assertEquals(Outcome.STORED, fixture.release(8));
            assertEquals(Outcome.REPEATED, publish(fixture, 2, 7));
            assertEquals(Outcome.UNKNOWN, fixture.release(8), "it never came into the set");
        }
    }

    /** With most of the records reclaimed: the log does not know them any more. */
    @Test
    void isKnownAfterARestartAndACrash() throws Exception {
        final Path live = directory.resolve("live");
        final Path image = directory.resolve("image");
        final int count = 1_500;
        try (StoreFixture fixture = open(live)) {
            for (int i = 0; i < count; i++) {
                assertEquals(Outcome.STORED, publish(fixture, 1, i));
                if (i % 100 == 0) {
                    fixture.writer.force();
                    fixture.maintain();
                    fixture.finishAll();
                    fixture.lane.reclaim();
                }
            }
            fixture.writer.force();
            assertTrue(fixture.lane.stat().segmentsReclaimed() > 2);
            CrashImage.of(live, image);
        }
        for (final Path place : new Path[] {live, image}) {
            for (int restart = 0; restart < 2; restart++) {
                try (StoreFixture fixture = open(place)) {
                    for (int i = 0; i < count; i++) {
                        assertEquals(Outcome.REPEATED, publish(fixture, 1, i), place + ": " + i);
                    }
                    assertEquals(count, fixture.lane.identities());
                    assertEquals(0, fixture.lane.identitiesForgottenEarly());
                    assertEquals((restart + 1L) * count, fixture.lane.droppedUnstored(0, DropReason.DUPLICATE));
                }
            }
        }
        pass(WINDOW_MS);
        try (StoreFixture fixture = open(live)) {
            assertEquals(0, fixture.lane.identities());
            assertEquals(Outcome.STORED, publish(fixture, 1, 3));
        }
    }

    @Test
    void aWallClockThatWentBackForgetsNothing() throws Exception {
        try (StoreFixture fixture = open(directory)) {
            assertEquals(Outcome.STORED, publish(fixture, 1, 7));
        }
        epochMs.addAndGet(-TimeUnit.DAYS.toMillis(365));
        try (StoreFixture fixture = open(directory)) {
            assertEquals(Outcome.REPEATED, publish(fixture, 1, 7));
            pass(WINDOW_MS);
            assertEquals(Outcome.STORED, publish(fixture, 1, 7));
        }
    }

    @Test
    void theOldestAreForgottenForWantOfRoomAndCounted() throws Exception {
        try (StoreFixture fixture = open(directory)) {
            for (int i = 0; i < MAX_ENTRIES + 10; i++) {
                assertEquals(Outcome.STORED, publish(fixture, 1, i));
            }
            fixture.writer.force();
            assertEquals(10, fixture.lane.identitiesForgottenEarly());
            assertEquals(Outcome.REPEATED, publish(fixture, 1, 10));
            assertEquals(Outcome.STORED, publish(fixture, 1, 9));
        }
        try (StoreFixture fixture = open(directory)) {
            assertEquals(MAX_ENTRIES, fixture.lane.identities());
            assertEquals(Outcome.REPEATED, publish(fixture, 1, 9));
            assertEquals(Outcome.STORED, publish(fixture, 1, 10));
        }
    }

    @Test
    void aDamagedFileCostsThoseIdentitiesOnly() throws Exception {
        try (StoreFixture fixture = open(directory)) {
            for (int i = 0; i < 100; i++) {
                publish(fixture, 1, i);
            }
        }
        final Path file = directory.resolve("lane-0").resolve(IdentityFile.FILE_NAME);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), 50 * 32 + 20);
        }
        try (StoreFixture fixture = open(directory)) {
            for (int i = 0; i < 100; i++) {
                assertEquals(i == 50 ? Outcome.STORED : Outcome.REPEATED, publish(fixture, 1, i), "identity " + i);
            }
        }
    }

    /** What could not be appended may be sent again. */
    @Test
    void whatIsRefusedIsNotRemembered() throws Exception {
        final Path place = directory.resolve("full");
        try (StoreFixture fixture = StoreFixture.open(
                place, context -> context.dedupMaxEntries(MAX_ENTRIES).reserveBytes(Long.MAX_VALUE / 2))) {
            assertEquals(Outcome.FULL, publish(fixture, 1, 7));
            assertEquals(Outcome.FULL, publish(fixture, 1, 7));
            assertEquals(0, fixture.lane.identities());
        }
        assertThrows(
                StoreException.class,
                () -> StoreFixture.open(
                        directory.resolve("many"), context -> context.dedupMaxEntries(Integer.MAX_VALUE)));
    }
}
