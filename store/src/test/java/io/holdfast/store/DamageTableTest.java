package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.store.StoreFixture.Message;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * The table of docs/DAMAGE.md, one test a row: the store opens, every intact record before and behind the damage comes in order,
 * the others are counted, the damaged file is kept, new records follow, and a second start is fine.
 */
class DamageTableTest {
    private static final int RECORDS = 600;
    private static final int BATCH = 10;
    private static final int FINISHED = 30;

    /** Does the damage, and says which records it has cost. */
    private interface Damage {
        void on(Place place) throws Exception;
    }

    /** A copy of the data directory of a process that was killed, with 600 records in four segments, 30 of them finished. */
    private static final class Place {
        final Path directory;
        final Path lane;
        final List<Path> segments;
        final List<List<Long>> offsets = new ArrayList<>();
        final TreeSet<Integer> lost = new TreeSet<>();

        Place(final Path directory) throws Exception {
            this.directory = directory;
            this.lane = CrashImage.laneOf(directory);
            this.segments = SegmentFiles.list(lane).stream()
                    .filter(file -> SegmentName.numberOf(file, SegmentName.LIVE) >= 0
                            || SegmentName.numberOf(file, SegmentName.SEALED) >= 0)
                    .toList();
            for (final Path file : segments) {
                offsets.add(CrashImage.recordOffsets(file, CrashImage.salt(directory)));
            }
        }

        /** Number of the first record in a segment. */
        int firstIn(final int segment) {
            int first = 0;
            for (int i = 0; i < segment; i++) {
                first += offsets.get(i).size() - 1;
            }
            return first;
        }

        void lost(final int segment, final int from, final int to) {
            for (int i = from; i < to; i++) {
                lost.add(firstIn(segment) + i);
            }
        }

        int countIn(final int segment) {
            return offsets.get(segment).size() - 1;
        }

        /** All records that these bytes are part of. */
        void lostBytes(final int segment, final long from, final long to) {
            final List<Long> starts = offsets.get(segment);
            for (int i = 0; i < starts.size() - 1; i++) {
                if (starts.get(i) < to && starts.get(i + 1) > from) {
                    lost(segment, i, i + 1);
                }
            }
        }

        void zero(final int segment, final long from, final long to) throws IOException {
            CrashImage.zero(segments.get(segment), from, to);
            lostBytes(segment, from, to);
        }

        void lengthWord(final int segment, final int record, final int xorOrValue, final boolean isDelta)
                throws IOException {
            final long at = offsets.get(segment).get(record);
            try (FileChannel channel =
                    FileChannel.open(segments.get(segment), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                final ByteBuffer word = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN);
                channel.read(word, at);
                word.putInt(0, isDelta ? word.getInt(0) + xorOrValue : xorOrValue)
                        .rewind();
                channel.write(word, at);
            }
            lost(segment, record, record + 1);
        }

        Path file(final String name) {
            return lane.resolve(name);
        }

        void zeroFile(final Path file) throws IOException {
            CrashImage.zero(file, 0, Files.size(file));
        }
    }

    private enum Kept {
        YES,
        NO
    }

    private record Row(String name, Kept kept, boolean isCounted, Damage damage) {}

    @TempDir
    static Path parent;

    private static Path killed;
    private static Path stopped;
    private static int copies;

    @BeforeAll
    static void makeStores() throws Exception {
        final Path live = parent.resolve("live");
        try (StoreFixture fixture = StoreFixture.open(live)) {
            fixture.lane.journal().sessionLost();
            fill(fixture, 0, FINISHED);
            fixture.finishAll();
            fill(fixture, FINISHED, RECORDS);
            fixture.lane.journal().received(FINISHED + 1);
            fixture.lane.journal().force();
            killed = CrashImage.of(live, parent.resolve("killed"));
        }
        stopped = live;
        assertTrue(new Place(killed).segments.size() >= 4);
        assertEquals(RECORDS, new Place(killed).firstIn(new Place(killed).segments.size()));
    }

    private static void fill(final StoreFixture fixture, final int from, final int to) throws Exception {
        for (int i = from; i < to; i += BATCH) {
            fixture.publishMany(i, i + BATCH, 1_000);
            fixture.maintain();
        }
    }

    @TestFactory
    List<DynamicTest> segments() {
        return tests(segmentRows(0, 2), killed);
    }

    @TestFactory
    List<DynamicTest> repairedSegments() {
        return segmentRows(0).stream()
                .map(row -> DynamicTest.dynamicTest("repair: " + row.name, () -> checkRepair(row, killed)))
                .toList();
    }

    private static List<Row> segmentRows(final int... segments) {
        final List<Row> rows = new ArrayList<>();
        rows.add(new Row("no damage", Kept.NO, true, place -> {}));
        for (final int segment : segments) {
            final String where = " of segment " + segment;
            rows.add(new Row("a zero page in the middle" + where, Kept.YES, true, place -> {
                final long page = place.offsets.get(segment).get(60) & -4096L;
                place.zero(segment, page, page + 4096);
            }));
            rows.add(new Row("truncated inside a record" + where, Kept.YES, true, place -> {
                CrashImage.truncate(
                        place.segments.get(segment), place.offsets.get(segment).get(60) + 500);
                place.lost(segment, 60, place.countIn(segment));
            }));
            rows.add(new Row("a flipped payload byte" + where, Kept.YES, true, place -> {
                CrashImage.flip(
                        place.segments.get(segment), place.offsets.get(segment).get(60) + 300);
                place.lost(segment, 60, 61);
            }));
            rows.add(new Row("flipped bytes in the first and the last record" + where, Kept.YES, true, place -> {
                final int last = place.countIn(segment) - 1;
                CrashImage.flip(
                        place.segments.get(segment), place.offsets.get(segment).get(0) + 300);
                CrashImage.flip(
                        place.segments.get(segment), place.offsets.get(segment).get(last) + 300);
                place.lost(segment, 0, 1);
                place.lost(segment, last, last + 1);
            }));
            for (final int delta : new int[] {520, 64, 4, -4, -64, -520}) {
                rows.add(new Row(
                        "a length word off by " + delta + where,
                        Kept.YES,
                        true,
                        place -> place.lengthWord(segment, 60, delta, true)));
            }
            for (final int value : new int[] {805_306_368, 0x8000_0400, 0xC000_0000, 0x4000_0800, 0x4000_0003, 0, 1}) {
                rows.add(new Row(
                        "a length word of " + Integer.toHexString(value) + where,
                        Kept.YES,
                        true,
                        place -> place.lengthWord(segment, 60, value, false)));
            }
            rows.add(new Row("random length words" + where, Kept.YES, true, place -> {
                final long seed = System.nanoTime();
                System.out.println("DamageTableTest seed " + seed);
                final Random random = new Random(seed);
                for (int i = 40; i < 80; i += 5) {
                    place.lengthWord(segment, i, random.nextInt(), false);
                }
            }));
            rows.add(new Row(
                    "index pages zeroed" + where,
                    Kept.YES,
                    true,
                    place -> place.zero(segment, 64, place.offsets.get(segment).get(0))));
            rows.add(new Row("first page zeroed" + where, Kept.YES, true, place -> place.zero(segment, 0, 4096)));
            rows.add(new Row("first page random" + where, Kept.YES, true, place -> {
                final byte[] noise = new byte[4096];
                new Random(segment).nextBytes(noise);
                try (FileChannel channel = FileChannel.open(place.segments.get(segment), StandardOpenOption.WRITE)) {
                    channel.write(ByteBuffer.wrap(noise), 0);
                }
            }));
            rows.add(new Row(
                    "the first half zeroed" + where,
                    Kept.YES,
                    true,
                    place -> place.zero(segment, 0, place.offsets.get(segment).get(60) + 10)));
            rows.add(new Row(
                    "all zero" + where,
                    Kept.NO,
                    true,
                    place -> place.zero(segment, 0, Files.size(place.segments.get(segment)))));
            rows.add(new Row("empty file" + where, Kept.NO, true, place -> {
                CrashImage.truncate(place.segments.get(segment), 0);
                place.lost(segment, 0, place.countIn(segment));
            }));
            rows.add(new Row("file missing" + where, Kept.NO, true, place -> {
                Files.delete(place.segments.get(segment));
                place.lost(segment, 0, place.countIn(segment));
            }));
            rows.add(new Row("noise all over" + where, Kept.YES, true, place -> {
                final byte[] noise = new byte[(int) Files.size(place.segments.get(segment))];
                new Random(segment).nextBytes(noise);
                Files.write(place.segments.get(segment), noise);
                place.lost(segment, 0, place.countIn(segment));
            }));
        }
        rows.add(new Row("damage in every segment", Kept.YES, true, place -> {
            for (int i = 0; i < place.segments.size(); i++) {
                CrashImage.flip(place.segments.get(i), place.offsets.get(i).get(35) + 100);
                place.lost(i, 35, 36);
            }
        }));
        return rows;
    }

    /** A slot of cursor, journal or checkpoint, meta or routes: verify names file and offset, a repair writes them again. */
    @TestFactory
    List<DynamicTest> repairedFiles() {
        final List<DynamicTest> tests = new ArrayList<>();
        for (final String name : List.of(
                "meta",
                "meta.bak",
                "routes",
                "routes.bak",
                "lane-0/" + Cursor.FILE_NAME,
                "lane-0/" + UplinkJournal.FILE_NAME,
                "lane-0/" + Checkpoint.FIRST_FILE_NAME,
                "lane-0/" + Checkpoint.SECOND_FILE_NAME)) {
            tests.add(DynamicTest.dynamicTest(name, () -> {
                final Path copy = CrashImage.of(killed, parent.resolve("copy-" + copies++));
                CrashImage.flip(copy.resolve(name), 70);
                final StoreCheck check = verify(copy);
                assertEquals(1, check.faults().size(), () -> check.toString());
                assertTrue(check.faults().get(0).startsWith(copy.resolve(name) + " at offset 0"));
                StoreRepair.run(copy);
                assertEquals(List.of(), verify(copy).faults());
            }));
        }
        return tests;
    }

    @TestFactory
    List<DynamicTest> theEndOfTheLog() {
        final List<Row> rows = new ArrayList<>();
        rows.add(new Row("a torn tail", Kept.NO, false, place -> {
            final int last = place.segments.size() - 1;
            final int count = place.countIn(last);
            CrashImage.truncate(
                    place.segments.get(last), place.offsets.get(last).get(count) - 33);
            place.lost(last, count - 1, count);
        }));
        rows.add(new Row("tail pages zeroed", Kept.NO, false, place -> {
            final int last = place.segments.size() - 1;
            place.zero(last, place.offsets.get(last).get(25) + 100, Files.size(place.segments.get(last)));
        }));
        rows.add(new Row("a flipped byte with a later batch behind", Kept.YES, true, place -> {
            final int last = place.segments.size() - 1;
            CrashImage.flip(place.segments.get(last), place.offsets.get(last).get(25) + 100);
            place.lost(last, 25, 26);
        }));
        rows.add(new Row("a zero page with a later batch behind", Kept.YES, true, place -> {
            final int last = place.segments.size() - 1;
            final long page = place.offsets.get(last).get(25) & -4096L;
            place.zero(last, page, page + 4096);
        }));
        rows.add(new Row("the newest segment zeroed behind its first batch", Kept.NO, false, place -> {
            final int last = place.segments.size() - 1;
            place.zero(last, place.offsets.get(last).get(10), Files.size(place.segments.get(last)));
        }));
        return tests(rows, killed);
    }

    /** After a clean end the checkpoint says how far the log went: what is gone of it is counted. */
    @TestFactory
    List<DynamicTest> theEndOfALogThatWasClosed() {
        final List<Row> rows = new ArrayList<>();
        rows.add(new Row("a torn tail", Kept.YES, true, place -> {
            final int last = place.segments.size() - 1;
            final int count = place.countIn(last);
            CrashImage.truncate(
                    place.segments.get(last), place.offsets.get(last).get(count) - 33);
            place.lost(last, count - 1, count);
        }));
        rows.add(new Row("a zeroed tail", Kept.YES, true, place -> {
            final int last = place.segments.size() - 1;
            place.zero(last, place.offsets.get(last).get(25) + 100, Files.size(place.segments.get(last)));
        }));
        rows.add(new Row("the last segment missing", Kept.NO, true, place -> {
            final int last = place.segments.size() - 1;
            Files.delete(place.segments.get(last));
            place.lost(last, 0, place.countIn(last));
        }));
        rows.add(new Row("a flipped byte in the last batch", Kept.YES, true, place -> {
            final int last = place.segments.size() - 1;
            final int record = place.countIn(last) - 5;
            CrashImage.flip(place.segments.get(last), place.offsets.get(last).get(record) + 100);
            place.lost(last, record, record + 1);
        }));
        rows.add(new Row("all segments missing", Kept.NO, true, place -> {
            for (int i = 0; i < place.segments.size(); i++) {
                Files.delete(place.segments.get(i));
                place.lost(i, 0, place.countIn(i));
            }
        }));
        return tests(rows, stopped);
    }

    @TestFactory
    List<DynamicTest> filesOfTheLogLibrary() {
        final List<Row> rows = new ArrayList<>();
        for (final String content : List.of("zeroed", "empty", "random", "missing")) {
            rows.add(new Row("metadata.cq4t " + content, Kept.NO, true, place -> {
                final Path file = place.file("metadata.cq4t");
                final byte[] noise = new byte[(int) Files.size(file)];
                switch (content) {
                    case "zeroed" -> Files.write(file, noise);
                    case "empty" -> Files.write(file, new byte[0]);
                    case "random" -> {
                        new Random(1).nextBytes(noise);
                        Files.write(file, noise);
                    }
                    default -> Files.delete(file);
                }
            }));
        }
        rows.add(new Row("half-made segments and leftovers", Kept.NO, true, place -> {
            final int next = SegmentName.numberOf(place.segments.get(place.segments.size() - 1), SegmentName.LIVE) + 2;
            Files.write(place.file(SegmentName.of(next, SegmentName.LIVE)), new byte[0]);
            Files.write(place.file(SegmentName.of(next + 1, SegmentName.LIVE)), new byte[] {0, 0, 0, (byte) 0x80});
            Files.write(place.file(SegmentName.of(next + 2, SegmentName.LIVE)), new byte[70_000]);
            Files.write(place.file(SegmentName.of(next + 3, SegmentName.PRECREATED)), new byte[5_000]);
            Files.write(place.file(SegmentName.of(next + 4, SegmentName.DISCARDED)), new byte[5_000]);
            Files.write(place.directory.resolve("meta.new"), new byte[10]);
            Files.write(place.directory.resolve("routes.new"), new byte[10]);
        }));
        rows.add(new Row("a segment whose renaming was lost", Kept.NO, true, place -> {
            final Path last = place.segments.get(place.segments.size() - 1);
            final int number = SegmentName.numberOf(last, SegmentName.LIVE);
            Files.move(last, place.file(SegmentName.of(number, SegmentName.PRECREATED)));
        }));
        return tests(rows, killed);
    }

    @TestFactory
    List<DynamicTest> filesBesideTheLog() {
        final List<Row> rows = new ArrayList<>();
        final List<String> names = List.of(
                Cursor.FILE_NAME, UplinkJournal.FILE_NAME, Checkpoint.FIRST_FILE_NAME, Checkpoint.SECOND_FILE_NAME);
        for (final String name : names) {
            rows.add(new Row(name + " missing", Kept.NO, true, place -> Files.delete(place.file(name))));
            rows.add(new Row(name + " zeroed", Kept.NO, true, place -> place.zeroFile(place.file(name))));
            rows.add(new Row(name + " empty", Kept.NO, true, place -> CrashImage.truncate(place.file(name), 0)));
            rows.add(new Row(name + " random", Kept.NO, true, place -> {
                final byte[] noise = new byte[(int) Files.size(place.file(name))];
                new Random(2).nextBytes(noise);
                Files.write(place.file(name), noise);
            }));
            rows.add(new Row(
                    name + ", a flipped byte in the first slot",
                    Kept.NO,
                    true,
                    place -> CrashImage.flip(place.file(name), 70)));
        }
        for (final String name : List.of(Cursor.FILE_NAME, UplinkJournal.FILE_NAME)) {
            rows.add(new Row(
                    name + ", a flipped byte in the second slot",
                    Kept.NO,
                    true,
                    place -> CrashImage.flip(place.file(name), Files.size(place.file(name)) / 2 + 70)));
        }
        rows.add(new Row("both checkpoints zeroed", Kept.NO, true, place -> {
            place.zeroFile(place.file(Checkpoint.FIRST_FILE_NAME));
            place.zeroFile(place.file(Checkpoint.SECOND_FILE_NAME));
        }));
        rows.add(new Row("cursor, journal and both checkpoints missing", Kept.NO, true, place -> {
            for (final String name : names) {
                Files.delete(place.file(name));
            }
        }));
        for (final String name : List.of("meta", "meta.bak", "routes", "routes.bak")) {
            rows.add(new Row(name + " zeroed", Kept.NO, true, place -> place.zeroFile(place.directory.resolve(name))));
            rows.add(new Row(name + " missing", Kept.NO, true, place -> Files.delete(place.directory.resolve(name))));
        }
        for (final String name : List.of("meta", "routes")) {
            rows.add(new Row("both copies of " + name + " missing", Kept.NO, true, place -> {
                Files.delete(place.directory.resolve(name));
                Files.delete(place.directory.resolve(name + ".bak"));
            }));
            rows.add(new Row("both copies of " + name + " random", Kept.NO, true, place -> {
                final byte[] noise = new byte[300];
                new Random(3).nextBytes(noise);
                Files.write(place.directory.resolve(name), noise);
                Files.write(place.directory.resolve(name + ".bak"), noise);
            }));
        }
        rows.add(new Row("lock missing", Kept.NO, true, place -> Files.delete(place.directory.resolve("lock"))));
        rows.add(new Row("the lane's directory missing", Kept.NO, false, place -> {
            for (final Path file : SegmentFiles.list(place.lane)) {
                Files.delete(file);
            }
            Files.delete(place.lane);
            for (int i = 0; i < RECORDS; i++) {
                place.lost.add(i);
            }
        }));
        return tests(rows, killed);
    }

    private static List<DynamicTest> tests(final List<Row> rows, final Path store) {
        return rows.stream()
                .map(row -> DynamicTest.dynamicTest(row.name, () -> check(row, store)))
                .toList();
    }

    private static void check(final Row row, final Path store) throws Exception {
        final Place place = new Place(CrashImage.of(store, parent.resolve("copy-" + copies++)));
        row.damage.on(place);
        if (Files.exists(place.lane)) {
            assertAuditIsClean(place.directory);
        }
        final long start = System.nanoTime();
        try (StoreFixture fixture = StoreFixture.open(place.directory)) {
            final long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            assertTrue(tookMs < 2_000, "started within two seconds: " + tookMs);
            final int finished = (int) fixture.lane.cursor().sequence();
            assertTrue(finished <= FINISHED, "cursor " + finished);
            final List<Message> messages = fixture.read();
            assertEquals(expected(place, finished), numbers(messages));
            final long missing = row.isCounted
                    ? place.lost.stream().filter(i -> i >= finished).count()
                    : 0;
            assertEquals(missing, fixture.lane.stat().missingRecords(), "missing");
            assertEquals(
                    row.kept == Kept.YES,
                    !CrashImage.files(place.directory, SegmentName.DAMAGED).isEmpty(),
                    "a damaged file is kept");
            assertNewRecordsFollow(fixture, RECORDS);
            fixture.finishAll();
            fixture.lane.settleDamaged();
            assertLedgerIsSettled(fixture);
            fixture.maintain();
            fixture.finishAll();
            fixture.lane.reclaim();
            assertTrue(fixture.lane.stat().segments() <= 2, "segments go");
            assertEquals(
                    row.kept == Kept.YES,
                    !CrashImage.files(place.directory, SegmentName.DAMAGED).isEmpty(),
                    "the damaged file stays when the segment goes");
        }
        try (StoreFixture fixture = StoreFixture.open(place.directory)) {
            assertEquals(List.of(), fixture.read());
            assertEquals(0, fixture.lane.stat().missingAtStart());
            assertLedgerIsSettled(fixture);
            assertNewRecordsFollow(fixture, RECORDS + 10);
        }
        assertAuditIsClean(place.directory);
    }

    /** What is damaged is said; a repair makes it clean, loses no intact record, keeps the file, and can be done twice. */
    private static void checkRepair(final Row row, final Path store) throws Exception {
        final Place place = new Place(CrashImage.of(store, parent.resolve("copy-" + copies++)));
        row.damage.on(place);
        final StoreCheck before = verify(place.directory);
        final boolean isDamaged = row.kept == Kept.YES || !place.lost.isEmpty();
        assertEquals(isDamaged, !before.isClean(), () -> before.toString());
        final StoreCheck repair = StoreRepair.run(place.directory);
        assertEquals(row.kept == Kept.YES, !repair.notes().isEmpty(), () -> repair.toString());
        assertEquals(List.of(), verify(place.directory).faults());
        assertEquals(List.of(), StoreRepair.run(place.directory).notes(), "nothing left to repair");
        assertEquals(List.of(), verify(place.directory).faults());
        assertAuditIsClean(place.directory);
        try (StoreFixture fixture = StoreFixture.open(place.directory)) {
            assertEquals(expected(place, FINISHED), numbers(fixture.read()));
            assertEquals(
                    row.kept == Kept.YES,
                    !CrashImage.files(place.directory, SegmentName.DAMAGED).isEmpty());
            assertNewRecordsFollow(fixture, RECORDS);
        }
    }

    private static StoreCheck verify(final Path directory) throws StoreException {
        try (StoppedStore store = StoppedStore.open(directory)) {
            return store.verify();
        }
    }

    private static void assertAuditIsClean(final Path directory) throws StoreException {
        assertEquals(List.of(), OutboxStore.audit(directory).faults());
    }

    private static void assertNewRecordsFollow(final StoreFixture fixture, final int from) throws Exception {
        fixture.publishMany(from, from + 10, 10);
        final List<Integer> all = numbers(fixture.read());
        final List<Integer> last = all.subList(all.size() - 10, all.size());
        for (int i = 0; i < 10; i++) {
            assertEquals(from + i, last.get(i));
        }
    }

    private static void assertLedgerIsSettled(final StoreFixture fixture) {
        for (int route = 0; route < fixture.store.routeCount(); route++) {
            assertEquals(
                    fixture.lane.accepted(route),
                    fixture.lane.cursor().finished(route),
                    "nothing pending on " + fixture.store.routeText(route));
        }
    }

    private static List<Integer> expected(final Place place, final int finished) {
        final List<Integer> numbers = new ArrayList<>();
        for (int i = finished; i < RECORDS; i++) {
            if (!place.lost.contains(i)) {
                numbers.add(i);
            }
        }
        return numbers;
    }

    private static List<Integer> numbers(final List<Message> messages) {
        return messages.stream()
                .map(message -> Integer.valueOf(
                        message.payload().substring(0, message.payload().indexOf(' '))))
                .toList();
    }
}
