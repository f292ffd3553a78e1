package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LaneReaderTest {
    @TempDir
    Path directory;

    @Test
    void seeksBySequenceAndByPosition() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory);
                LaneReader reader = fixture.lane.openReader()) {
            fixture.publishMany(0, 2_000, 500);
            final long[] positions = new long[2_001];
            while (reader.next()) {
                positions[(int) reader.sequence()] = reader.position();
            }
            for (final int sequence : new int[] {1, 2_000, 137, 1_999, 2, 1_000}) {
                reader.seek(sequence);
                assertTrue(reader.next());
                assertEquals(sequence, reader.sequence());
                assertEquals(positions[sequence], reader.position());
                reader.seekTo(positions[2_001 - sequence]);
                assertTrue(reader.next());
                assertEquals(2_001 - sequence, reader.sequence());
                assertEquals(2_001 - sequence < 2_000, reader.next(), "and goes on from there");
            }
            reader.seek(2_001);
            assertFalse(reader.next());
            fixture.publishMany(2_000, 2_001, 0);
            assertTrue(reader.next());
            assertEquals(2_001, reader.sequence());
        }
    }

    @Test
    void aReclaimedPositionIsSaid() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory);
                LaneReader reader = fixture.lane.openReader()) {
            fixture.publishMany(0, 1_000, 1_000);
            assertTrue(reader.next());
            final long position = reader.position();
            fixture.maintain();
            fixture.finishAll();
            assertTrue(fixture.lane.reclaim() > 2);
            assertThrows(StoreException.class, () -> reader.seekTo(position));
        }
    }

    /** STO-17: files deleted under the reader by someone else are a counted gap, not a stop. */
    @Test
    void deletedSegmentsAreACountedGap() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory);
                LaneReader reader = fixture.lane.openReader()) {
            fixture.publishMany(0, 1_000, 1_000);
            assertTrue(reader.next());
            for (final Path file : CrashImage.files(directory, SegmentName.LIVE).subList(1, 3)) {
                Files.delete(file);
            }
            int read = 1;
            while (reader.next()) {
                read++;
            }
            assertEquals(1_000, reader.sequence());
            assertEquals(1_000 - read, reader.missingRecords());
            assertTrue(reader.missingRecords() > 100);
        }
    }

    /** The reader runs beside the writer, sees every record once and none before it is durable. */
    @Test
    void followsTheWriterInAnotherThread() throws Exception {
        final int count = 20_000;
        try (StoreFixture fixture = StoreFixture.open(directory, context -> context.segmentBytes(1 << 20))) {
            final AtomicReference<Throwable> failure = new AtomicReference<>();
            final Thread uplink = new Thread(
                    () -> {
                        try (LaneReader reader = fixture.lane.openReader()) {
                            long expected = 1;
                            while (expected <= count && !Thread.currentThread().isInterrupted()) {
                                if (reader.next()) {
                                    assertEquals(expected++, reader.sequence());
                                    assertTrue(reader.sequence() <= fixture.lane.durableSequence());
                                    if (expected % 500 == 0) {
                                        fixture.lane.cursor().advance(expected - 1, expected - 1);
                                        fixture.lane.cursor().writeIfDirty();
                                        fixture.lane.reclaim();
                                    }
                                }
                            }
                        } catch (final StoreException | RuntimeException | AssertionError e) {
                            failure.set(e);
                        }
                    },
                    "uplink");
            uplink.start();
            for (int i = 0; i < count; i += 100) {
                fixture.publishMany(i, i + 100, 300);
                fixture.maintain();
            }
            uplink.join(60_000);
            assertFalse(uplink.isAlive());
            assertNull(failure.get(), () -> String.valueOf(failure.get()));
            assertTrue(fixture.lane.stat().segmentsReclaimed() > 0);
        }
    }
}
