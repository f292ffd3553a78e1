package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.store.StoreFixture.Message;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Starts on what a killed process, a power cut or a bad disk left behind. */
class CrashRecoveryTest {
    @TempDir
    Path directory;

    private int images;

    private Path crash(final StoreFixture fixture) throws IOException {
        assertTrue(fixture.errors.isEmpty(), () -> fixture.errors.toString());
        return CrashImage.of(directory.resolve("live"), directory.resolve("image-" + images++));
    }

    private StoreFixture live() throws StoreException {
        return StoreFixture.open(directory.resolve("live"));
    }

    private static void assertNumbers(final List<Message> messages, final int from, final int to) {
        assertEquals(to - from, messages.size());
        for (int i = from; i < to; i++) {
            assertTrue(messages.get(i - from).payload().startsWith(i + " "), "message " + i);
        }
    }

    @Test
    void afterAKillEverythingForcedIsThereAndNewRecordsFollow() throws Exception {
        try (StoreFixture fixture = live()) {
            fixture.publishMany(0, 700, 500);
            final Path image = crash(fixture);
            for (int restart = 0; restart < 3; restart++) {
                try (StoreFixture again = StoreFixture.open(image)) {
                    assertNumbers(again.read(), 0, 700 + restart);
                    again.publishMany(700 + restart, 701 + restart, 10);
                    assertEquals(701 + restart, again.lane.durableSequence());
                }
            }
        }
    }

    /** STO-02: a torn last record. */
    @Test
    void aTornTailIsCutAndTheRestIsDelivered() throws Exception {
        try (StoreFixture fixture = live()) {
            fixture.publishMany(0, 100, 50);
            for (int cut = 1; cut <= 64; cut += 7) {
                final Path image = crash(fixture);
                final Path last = CrashImage.lastSegment(image);
                final List<Long> offsets = CrashImage.recordOffsets(last, CrashImage.salt(image));
                CrashImage.truncate(last, offsets.get(offsets.size() - 1) - cut);
                // What is lost was never acknowledged only if the lost records were not forced; here the start must
                // succeed.
                try (StoreFixture again = StoreFixture.open(image)) {
                    final int survivors = (int) again.lane.durableSequence();
                    assertTrue(survivors >= 98 && survivors <= 100, "cut " + cut + " left " + survivors);
                    assertNumbers(again.read(), 0, survivors);
                    again.publishMany(survivors, 110, 10);
                    assertNumbers(again.read(), 0, 110);
                }
            }
        }
    }

    @Test
    void aZeroedTailIsCut() throws Exception {
        try (StoreFixture fixture = live()) {
            fixture.publishMany(0, 100, 500);
            final Path image = crash(fixture);
            final Path last = CrashImage.lastSegment(image);
            final List<Long> offsets = CrashImage.recordOffsets(last, CrashImage.salt(image));
            // The header page is newer than the data: a length, and zeros behind it.
            CrashImage.zero(last, offsets.get(90) + 100, Files.size(last));
            try (StoreFixture again = StoreFixture.open(image)) {
                assertTrue(again.lane.stat().wasTailTorn());
                assertNumbers(again.read(), 0, 90);
                again.publishMany(90, 91, 0);
                assertNumbers(again.read(), 0, 91);
            }
        }
    }

    @Test
    void aHoleWithIntactRecordsBehindKeepsACopyOfTheFile() throws Exception {
        try (StoreFixture fixture = live()) {
            fixture.publishMany(0, 100, 500);
            final Path image = crash(fixture);
            final Path last = CrashImage.lastSegment(image);
            final List<Long> offsets = CrashImage.recordOffsets(last, CrashImage.salt(image));
            CrashImage.zero(last, offsets.get(50), offsets.get(60));
            final byte[] before = Files.readAllBytes(last);
            try (StoreFixture again = StoreFixture.open(image)) {
                assertNumbers(again.read(), 0, 50);
                assertTrue(again.lane.stat().wasTailTorn());
                final List<Path> kept = CrashImage.files(image, SegmentName.DAMAGED);
                assertEquals(1, kept.size());
                assertArrayEquals(before, Files.readAllBytes(kept.get(0)));
            }
        }
    }

    /** STO-02: a flipped byte in an old segment costs that record and no other; its file is kept. */
    @Test
    void damageInTheMiddleOfTheBacklogCostsThatRecordOnly() throws Exception {
        try (StoreFixture fixture = live()) {
            fixture.publishMany(0, 1_000, 1_000);
            fixture.maintain();
            final Path image = crash(fixture);
            final Path first = CrashImage.files(image, SegmentName.LIVE).get(0);
            final List<Long> offsets = CrashImage.recordOffsets(first, CrashImage.salt(image));
            CrashImage.flip(first, offsets.get(20) + 100);
            try (StoreFixture again = StoreFixture.open(image)) {
                final List<Message> messages = again.read();
                assertNumbers(messages.subList(0, 20), 0, 20);
                assertNumbers(messages.subList(20, 999), 21, 1_000);
                assertEquals(1, again.lane.stat().missingRecords());
                assertEquals(1, again.lane.stat().damagedPlaces());
                assertEquals(1, CrashImage.files(image, SegmentName.DAMAGED).size());
            }
        }
    }

    /** STO-02, STO-03, STO-19: empty, zeroed and half-made segments; leftovers of the log library. */
    @Test
    void halfMadeFilesDoNotStopTheStart() throws Exception {
        try (StoreFixture fixture = live()) {
            fixture.publishMany(0, 1_000, 1_000);
            fixture.maintain();
            final Path image = crash(fixture);
            final Path lane = CrashImage.laneOf(image);
            final int next = SegmentName.numberOf(CrashImage.lastSegment(image), SegmentName.LIVE) + 1;
            Files.write(lane.resolve(SegmentName.of(next, SegmentName.LIVE)), new byte[0]);
            Files.write(lane.resolve(SegmentName.of(next + 1, SegmentName.LIVE)), new byte[] {0, 0, 0, (byte) 0x80});
            Files.write(lane.resolve(SegmentName.of(next + 2, SegmentName.LIVE)), new byte[70_000]);
            Files.write(lane.resolve(SegmentName.of(next + 3, SegmentName.PRECREATED)), new byte[5_000]);
            Files.write(lane.resolve(SegmentName.of(next + 4, SegmentName.DISCARDED)), new byte[5_000]);
            Files.write(
                    lane.resolve("metadata.cq4t"),
                    "garbage that is no table".repeat(9).getBytes(StandardCharsets.US_ASCII));
            Files.write(image.resolve("meta.new"), new byte[10]);
            final long start = System.nanoTime();
            try (StoreFixture again = StoreFixture.open(image)) {
                assertNumbers(again.read(), 0, 1_000);
                again.publishMany(1_000, 1_002, 10);
                assertNumbers(again.read(), 0, 1_002);
            }
            assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(2), "a start within two seconds");
            assertTrue(CrashImage.files(image, SegmentName.PRECREATED).isEmpty());
        }
    }

    @Test
    void aLostNewestCheckpointFallsBackToTheOlder() throws Exception {
        for (final String lost : List.of(Checkpoint.FIRST_FILE_NAME, Checkpoint.SECOND_FILE_NAME)) {
            final Path place = directory.resolve(lost);
            try (StoreFixture fixture = StoreFixture.open(place.resolve("live"))) {
                fixture.publish(2, 77, "t", "before");
                fixture.publishMany(0, 900, 1_000);
                fixture.maintain();
                fixture.publish(2, 78, "t", "behind");
                fixture.writer.force();
                fixture.finishAll();
                fixture.lane.reclaim();
                final Path image = CrashImage.of(place.resolve("live"), place.resolve("image"));
                CrashImage.zero(CrashImage.laneOf(image).resolve(lost), 0, 4096);
                try (StoreFixture again = StoreFixture.open(image)) {
                    assertEquals(2, again.connect("device", true).receivedCount());
                    assertEquals(902, again.lane.accepted(0));
                    assertEquals(902, again.lane.durableSequence());
                }
            }
        }
    }

    /** What only the log knows must not be deleted, also if the broker has it all. */
    @Test
    void segmentsGoOnlyWhenBothCheckpointsAreBehindThem() throws Exception {
        try (StoreFixture fixture = live()) {
            fixture.maintain();
            fixture.publish(2, 77, "t", "open");
            fixture.publishMany(0, 900, 1_000);
            fixture.finishAll();
            assertEquals(0, fixture.lane.reclaim());
            assertEquals(1, fixture.writer.maintain(), "the first checkpoint after the rolls");
            assertEquals(0, fixture.lane.reclaim());
            final Path image = crash(fixture);
            assertEquals(1, fixture.writer.maintain(), "the second");
            assertTrue(fixture.lane.reclaim() > 2);
            for (final Path each : List.of(image, crash(fixture))) {
                CrashImage.zero(CrashImage.laneOf(each).resolve(Checkpoint.FIRST_FILE_NAME), 0, 4096);
                try (StoreFixture again = StoreFixture.open(each)) {
                    assertEquals(1, again.connect("device", true).receivedCount());
                    assertEquals(901, again.lane.accepted(0));
                }
            }
        }
    }

    @Test
    void withoutAnyCheckpointTheLogItselfIsRead() throws Exception {
        try (StoreFixture fixture = live()) {
            fixture.publishMany(0, 500, 1_000);
            fixture.finishAll();
            fixture.publish(2, 78, "t", "behind");
            fixture.publishMany(500, 1_000, 1_000);
            fixture.maintain();
            fixture.lane.reclaim();
            final Path image = crash(fixture);
            CrashImage.zero(CrashImage.laneOf(image).resolve(Checkpoint.FIRST_FILE_NAME), 0, 4096);
            Files.delete(CrashImage.laneOf(image).resolve(Checkpoint.SECOND_FILE_NAME));
            try (StoreFixture again = StoreFixture.open(image)) {
                assertEquals(1, again.connect("device", true).receivedCount());
                assertEquals(501, again.read().size());
                assertEquals(501, again.lane.accepted(0) - again.lane.cursor().finished(0), "pending");
            }
        }
    }

    @Test
    void withoutCursorEverythingThatIsThereIsUnfinished() throws Exception {
        try (StoreFixture fixture = live()) {
            fixture.publishMany(0, 1_000, 1_000);
            fixture.maintain();
            fixture.finishAll();
            fixture.lane.reclaim();
            fixture.publishMany(1_000, 1_100, 1_000);
            final Path image = crash(fixture);
            Files.delete(CrashImage.laneOf(image).resolve(Cursor.FILE_NAME));
            try (StoreFixture again = StoreFixture.open(image)) {
                final List<Message> messages = again.read();
                assertTrue(messages.size() >= 100, "all that was not reclaimed");
                assertTrue(messages.get(messages.size() - 1).payload().startsWith("1099 "));
                assertEquals(messages.size(), again.lane.accepted(0), "pending");
                assertEquals(messages.get(0).sequence() - 1, again.lane.cursor().sequence());
                assertFalse(again.lane.journal().hasHistory());
            }
        }
    }

    /** The log's end is gone although the broker has acknowledged it: numbers must not be given out twice. */
    @Test
    void numbersGoOnBehindTheCursorWhenTheLogIsShorter() throws Exception {
        try (StoreFixture fixture = live()) {
            fixture.publishMany(0, 100, 500);
            fixture.lane.journal().sessionLost();
            fixture.lane.journal().received(150);
            fixture.lane.journal().force();
            fixture.finishAll();
            final Path image = crash(fixture);
            final Path last = CrashImage.lastSegment(image);
            CrashImage.zero(
                    last, CrashImage.recordOffsets(last, CrashImage.salt(image)).get(90), Files.size(last));
            try (StoreFixture again = StoreFixture.open(image)) {
                assertTrue(again.read().isEmpty());
                assertEquals(10, again.lane.stat().missingAtStart());
                again.publishMany(100, 101, 0);
                try (LaneReader reader = again.lane.openReader()) {
                    reader.seek(101);
                    assertTrue(reader.next());
                    assertEquals(101, reader.sequence());
                    assertEquals(151, reader.record().sendNumber(), "the journal knows 150 already");
                }
            }
        }
    }

    @Test
    void aRestartLoopTakesNoSpace() throws Exception {
        final Path place = directory.resolve("loop");
        for (int i = 0; i < 20; i++) {
            try (StoreFixture fixture = StoreFixture.open(place)) {
                fixture.publishMany(i, i + 1, 10);
            }
        }
        try (StoreFixture fixture = StoreFixture.open(place)) {
            assertNumbers(fixture.read(), 0, 20);
            assertTrue(
                    fixture.lane.stat().bytesOnDisk() < 20 * 40_000,
                    fixture.lane.stat().toString());
            fixture.publishMany(20, 21, 0);
            for (final Path old : CrashImage.files(place, SegmentName.SEALED)) {
                assertTrue(Files.size(old) < 40_000, "the log library must not extend " + old);
            }
            fixture.maintain();
            fixture.finishAll();
            assertEquals(20, fixture.lane.reclaim());
        }
    }
}
