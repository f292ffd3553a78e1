package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.store.StoreFixture.Message;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Faults that stores of other brokers and clients had, by the store's own means. */
class FieldCasesTest {
    @TempDir
    Path directory;

    private static List<String> payloads(final StoreFixture fixture) throws StoreException {
        return fixture.read().stream().map(message -> message.payload().trim()).toList();
    }

    /** STO-08: files sorted as text or by a coarse time stamp replay in the wrong order. */
    @Test
    void fifteenMessagesOfOneMillisecondKeepTheirOrder() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory, context -> context.epochClock(() -> 1_000))) {
            for (int i = 1; i <= 15; i++) {
                fixture.publishMany(i, i + 1, 0);
            }
        }
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            final List<String> payloads = payloads(fixture);
            for (int i = 1; i <= 15; i++) {
                assertEquals(String.valueOf(i), payloads.get(i - 1));
            }
        }
    }

    /** STO-08, STO-12: more messages than there are Packet Identifiers, none sent. */
    @Test
    void seventyThousandUnsentMessagesKeepTheirOrder() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory, context -> context.segmentBytes(1 << 20))) {
            for (int i = 0; i < 70_000; i += 1_000) {
                fixture.publishMany(i, i + 1_000, 0);
                fixture.maintain();
            }
        }
        try (StoreFixture fixture = StoreFixture.open(directory, context -> context.segmentBytes(1 << 20));
                LaneReader reader = fixture.lane.openReader()) {
            for (int i = 0; i < 70_000; i++) {
                assertTrue(reader.next());
                assertEquals(i + 1, reader.sequence());
                assertEquals(i, reader.record().sendNumber());
                assertTrue(StoreFixture.message(reader.record()).payload().startsWith(i + " "));
            }
        }
    }

    /** STO-09: a counter that starts at 1 again overwrites what is unsent. */
    @Test
    void messagesBeforeAndAfterARestartAreAllThere() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            for (final String payload : List.of("A", "B", "C")) {
                fixture.publish(1, 1, "t", payload);
            }
        }
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            fixture.publish(1, 1, "t", "D");
            fixture.publish(1, 2, "t", "E");
            fixture.writer.force();
            assertEquals(List.of("A", "B", "C", "D", "E"), payloads(fixture));
            try (LaneReader reader = fixture.lane.openReader()) {
                for (int i = 0; i < 5; i++) {
                    assertTrue(reader.next());
                    assertEquals(i, reader.record().sendNumber(), "none is given out twice");
                }
            }
        }
    }

    /** STO-09: nor may the numbers start again once everything was delivered and reclaimed. */
    @Test
    void numbersNeverStartAgain() throws Exception {
        long expected = 0;
        for (int round = 0; round < 4; round++) {
            try (StoreFixture fixture = StoreFixture.open(directory)) {
                for (int i = 0; i < 600; i += 20) {
                    fixture.publishMany(i, i + 20, 1_000);
                    fixture.maintain();
                }
                expected += 600;
                fixture.finishAll();
                fixture.lane.reclaim();
                assertEquals(expected, fixture.lane.durableSequence());
                assertEquals(expected, fixture.lane.cursor().sendNumber());
            }
        }
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            fixture.publishMany(0, 1, 0);
            try (LaneReader reader = fixture.lane.openReader()) {
                reader.seek(expected + 1);
                assertTrue(reader.next());
                assertEquals(expected + 1, reader.sequence());
                assertEquals(expected, reader.record().sendNumber());
            }
        }
    }

    /** STO-14: topics with empty levels and other odd ones come back byte for byte. */
    @Test
    void oddTopicsAreByteIdentical() throws Exception {
        final List<byte[]> topics = Stream.of(
                        "/i/i0/hq",
                        "a//b",
                        "/",
                        "//",
                        " ",
                        "a+b/c#d",
                        "$odd",
                        "\uFEFFbom",
                        "ä/€/\uD83D\uDE00",
                        "x".repeat(65_535))
                .map(topic -> topic.getBytes(StandardCharsets.UTF_8))
                .toList();
        try (StoreFixture fixture = StoreFixture.open(directory, context -> context.segmentBytes(1 << 20))) {
            for (final byte[] topic : topics) {
                assertEquals(Outcome.STORED, fixture.publish(1, 1, topic, "abc".getBytes(StandardCharsets.UTF_8)));
            }
        }
        try (StoreFixture fixture = StoreFixture.open(directory, context -> context.segmentBytes(1 << 20))) {
            final List<Message> messages = fixture.read();
            assertEquals(topics.size(), messages.size());
            for (int i = 0; i < topics.size(); i++) {
                assertArrayEquals(topics.get(i), messages.get(i).topic().getBytes(StandardCharsets.UTF_8));
            }
        }
    }

    /** STO-23, STO-25: through an uplink that is always up the disk stays flat, and so do the open files. */
    @Test
    void diskAndOpenFilesStayFlat() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            long mostBytes = 0;
            long openFiles = 0;
            for (int i = 0; i < 12_000; i += 50) {
                fixture.publishMany(i, i + 50, 1_000);
                fixture.maintain();
                fixture.lane.prepareSegment();
                fixture.finishAll();
                fixture.lane.reclaim();
                mostBytes = Math.max(mostBytes, fixture.lane.stat().bytesOnDisk());
                if (i == 2_000) {
                    openFiles = openFiles();
                }
            }
            assertTrue(fixture.lane.stat().segmentsReclaimed() > 40);
            assertTrue(mostBytes <= 4 * StoreContext.fileBytes(StoreFixture.SEGMENT_BYTES), "bytes " + mostBytes);
            assertTrue(openFiles() <= openFiles + 3, openFiles() + " files open, were " + openFiles);
            assertTrue(deletedMappings() <= 3, "mappings of deleted files: " + deletedMappings());
        }
    }

    private static long openFiles() throws Exception {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }

    private static long deletedMappings() throws Exception {
        return Files.readAllLines(Path.of("/proc/self/maps")).stream()
                .filter(line -> line.contains(".cq4") && line.contains("(deleted)"))
                .count();
    }
}
