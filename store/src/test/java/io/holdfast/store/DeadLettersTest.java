package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The second log: what is in it stays in it until it is taken out, whatever happens to the process or its files. */
class DeadLettersTest {
    private static final byte[] SALT = new byte[16];
    private static final int SEGMENT_BYTES = 256 << 10;

    @TempDir
    Path directory;

    private final UnsafeBuffer bytes = new UnsafeBuffer(ByteBuffer.allocateDirect(1 << 16));

    @Test
    void whatWasForcedIsThereAfterAReopenInOrder() throws Exception {
        try (DeadLetters letters = open()) {
            for (int i = 1; i <= 200; i++) {
                assertEquals(i, append(letters, i, 1000));
            }
            letters.force();
            assertEquals(200, letters.count());
        }
        try (DeadLetters letters = open()) {
            assertEquals(range(1, 200), ids(letters));
            assertEquals(200, letters.count(0, 3));
            assertEquals(201, append(letters, 201, 10), "ids go on");
            letters.force();
            assertEquals(range(1, 201), ids(letters));
        }
    }

    @Test
    void aLetterKeepsItsRecordByteForByte() throws Exception {
        try (DeadLetters letters = open()) {
            final RecordView record = record(7, 333);
            final byte[] expected = new byte[record.length()];
            record.buffer().getBytes(0, expected);
            letters.append(0, record, DeadLetterReason.REFUSED, 0x87, 4, 11, 12, "no\u0001t you");
            letters.force();
            letters.forEach(0, letter -> {
                assertArrayEquals(expected, letter.bytes());
                assertEquals(DeadLetterReason.REFUSED, letter.reason());
                assertEquals(0x87, letter.reasonCode());
                assertEquals(4, letter.attempts());
                assertEquals(11, letter.firstAttemptMs());
                assertEquals(12, letter.givenUpMs());
                assertEquals("no\u0001t you", letter.text());
                assertEquals("client", letter.view().clientId());
                return true;
            });
        }
    }

    @Test
    void whatIsTakenOutStaysOutAndItsFilesGo() throws Exception {
        try (DeadLetters letters = open()) {
            for (int i = 1; i <= 200; i++) {
                append(letters, i, 1000);
            }
            letters.force();
            final List<DeadLetter> odd = new ArrayList<>();
            letters.forEach(0, letter -> letter.id() % 2 == 0 || odd.add(letter));
            assertEquals(100, letters.remove(odd, DeadLetters.Removal.PURGED).size());
            assertEquals(0, letters.remove(odd, DeadLetters.Removal.PURGED).size(), "only once");
            assertEquals(100, letters.count());
        }
        final long before = files();
        try (DeadLetters letters = open()) {
            assertEquals(LongStream.rangeClosed(1, 100).map(i -> 2 * i).boxed().toList(), ids(letters));
            final List<DeadLetter> all = new ArrayList<>();
            letters.forEach(0, all::add);
            letters.remove(all, DeadLetters.Removal.REPLAYED);
            assertEquals(0, letters.count());
            assertTrue(files() < before, "files without a letter are deleted");
        }
    }

    @Test
    void tornEndAndDamageInTheMiddleCostOnlyWhatTheyHit() throws Exception {
        try (DeadLetters letters = open()) {
            for (int i = 1; i <= 20; i++) {
                append(letters, i, 1000);
            }
            letters.force();
        }
        final List<DeadLetter> all = new ArrayList<>();
        try (DeadLetters letters = open()) {
            letters.forEach(0, all::add);
        }
        try (RandomAccessFile file = new RandomAccessFile(firstFile().toFile(), "rw")) {
            file.seek(all.get(4).offset() + 20); // in the header
            file.write(new byte[] {9, 9, 9});
            file.seek(all.get(9).offset() + DeadLetterDescriptor.HEADER_LENGTH + 200); // in the record
            file.write(new byte[] {9, 9, 9});
            file.seek(all.get(19).offset());
            file.write(new byte[40]); // the last one is torn
        }
        try (DeadLetters letters = open()) {
            final List<Long> expected = new ArrayList<>(range(1, 19));
            expected.remove(Long.valueOf(5));
            expected.remove(Long.valueOf(10));
            assertEquals(expected, ids(letters));
            assertTrue(letters.damaged() > 0);
            append(letters, 30, 10);
            letters.force();
            assertEquals(expected.size() + 1, ids(letters).size());
        }
    }

    @Test
    void withoutRoomNothingIsAppendedAndItGoesOnWhenThereIsSome() throws Exception {
        try (DeadLetters letters = open()) {
            append(letters, 1, 10);
            letters.force();
            while (files() < 2) {
                letters.prepare();
            }
            final Path dlq = directory.resolve(DeadLetters.DIRECTORY);
            final Path away = directory.resolve("away");
            Files.move(dlq, away);
            assertThrows(StoreException.class, () -> {
                for (int i = 2; i < 1000; i++) {
                    append(letters, i, 4000);
                    letters.force();
                }
            });
            Files.move(away, dlq);
            final int before = ids(letters).size();
            append(letters, 1000, 10);
            letters.force();
            assertEquals(before + 1, ids(letters).size());
        }
    }

    /** As a sync that failed leaves it: the file's last letters are in the next one too. */
    @Test
    void lettersThatWereWrittenAgainInTheNextFileAreThereOnce() throws Exception {
        final Path other = Files.createDirectory(directory.resolve("other"));
        try (DeadLetters letters = open(other)) {
            for (int i = 1; i <= 3; i++) {
                append(letters, i, 10);
            }
        }
        try (DeadLetters letters = open(other)) {
            for (int i = 4; i <= 6; i++) {
                append(letters, i, 10);
            }
        }
        try (DeadLetters letters = open()) {
            for (int i = 1; i <= 5; i++) {
                append(letters, i, 10);
            }
        }
        final Path next =
                SegmentFiles.list(other.resolve(DeadLetters.DIRECTORY)).get(1);
        Files.move(
                next,
                directory.resolve(DeadLetters.DIRECTORY).resolve(next.getFileName()),
                StandardCopyOption.REPLACE_EXISTING);

        try (DeadLetters letters = open()) {
            assertEquals(range(1, 6), ids(letters));
            assertEquals(6, letters.count());
            final List<DeadLetter> copied = new ArrayList<>();
            letters.forEach(4, letter -> letter.id() == 4 && copied.add(letter));
            letters.remove(copied, DeadLetters.Removal.REPLAYED);
        }
        try (DeadLetters letters = open()) {
            assertEquals(List.of(1L, 2L, 3L, 5L, 6L), ids(letters), "a removed letter stays out");
            assertEquals(5, letters.count());
        }
    }

    @Test
    void anAuditComparesTheLettersWithTheLedger() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            fixture.publishMany(1, 3, 10);
            appendOfRouteZero(fixture, 1);
            appendOfRouteZero(fixture, 2); // its record is still pending: not counted yet
            fixture.lane.cursor().deadLettered(0, 1);
            fixture.lane.cursor().advance(1, 1);
        }
        assertEquals(List.of(), OutboxStore.audit(directory).faults());
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            fixture.lane.cursor().delivered(0, 1);
            fixture.lane.cursor().advance(2, 2);
        }
        assertEquals(
                List.of("lane 0, route 'outbox #': 2 dead letter(s), but 1 in the ledger"),
                OutboxStore.audit(directory).faults());
    }

    private void appendOfRouteZero(final StoreFixture fixture, final int sequence) throws StoreException {
        final DeadLetters letters = fixture.store.deadLetters();
        letters.append(0, record(0, sequence, 10), DeadLetterReason.EXPIRED, 0, 1, 2, 3, "text");
        letters.force();
    }

    private DeadLetters open() throws IOException {
        return open(directory);
    }

    private static DeadLetters open(final Path directory) throws IOException {
        return DeadLetters.open(directory, new StoreContext().segmentBytes(SEGMENT_BYTES), SALT);
    }

    private long append(final DeadLetters letters, final int sequence, final int payload) throws StoreException {
        return letters.append(0, record(sequence, payload), DeadLetterReason.EXPIRED, 0, 1, 2, 3, "text");
    }

    private RecordView record(final int sequence, final int payload) {
        return record(3, sequence, payload);
    }

    private RecordView record(final int route, final int sequence, final int payload) {
        final UnsafeBuffer text = new UnsafeBuffer(new byte[payload]);
        text.setMemory(0, payload, (byte) sequence);
        final int length = new RecordEncoder()
                .publish(bytes, 0, 1, false, 5)
                .times(1, 0)
                .route(route)
                .packetId(9)
                .clientId("client".getBytes(java.nio.charset.StandardCharsets.UTF_8))
                .topic(text, 0, 1)
                .properties(text, 0, 0)
                .payload(text, 0, payload)
                .finish();
        bytes.putLong(RecordDescriptor.SEQUENCE_OFFSET, sequence, java.nio.ByteOrder.BIG_ENDIAN);
        return new RecordView().wrap(bytes, 0, length);
    }

    private static List<Long> ids(final DeadLetters letters) throws StoreException {
        final List<Long> ids = new ArrayList<>();
        letters.forEach(0, letter -> ids.add(letter.id()));
        return ids;
    }

    private static List<Long> range(final long from, final long to) {
        return LongStream.rangeClosed(from, to).boxed().toList();
    }

    private Path firstFile() throws IOException {
        return SegmentFiles.list(directory.resolve(DeadLetters.DIRECTORY)).get(0);
    }

    private long files() throws IOException {
        try (Stream<Path> files = Files.list(directory.resolve(DeadLetters.DIRECTORY))) {
            return files.count();
        }
    }
}
