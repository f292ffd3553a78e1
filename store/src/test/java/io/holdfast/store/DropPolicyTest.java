package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.store.StoreFixture.Message;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** STO-10, STO-06: a full outbox that gives up its oldest records, or does not take new ones, and counts them. */
class DropPolicyTest {
    private static final long FILE_BYTES = StoreContext.fileBytes(StoreFixture.SEGMENT_BYTES);
    private static final long MAX_BYTES = 4 * FILE_BYTES;

    @TempDir
    Path directory;

    private StoreFixture open() throws StoreException {
        return StoreFixture.open(directory, context -> context.maxBytes(MAX_BYTES));
    }

    private static Outcome publish(final StoreFixture fixture, final int number) throws StoreException {
        return fixture.publish(1, 1 + number % 65_535, "t", number + " " + "x".repeat(1_000));
    }

    /** The uplink without a broker: gives up what it is asked to. */
    private static void evict(final StoreFixture fixture) throws StoreException {
        final Cursor cursor = fixture.lane.cursor();
        long last = cursor.sequence();
        long number = cursor.sendNumber();
        try (LaneReader reader = fixture.lane.openReader()) {
            reader.seek(last + 1);
            while (last < fixture.lane.evictionTarget() && reader.next()) {
                last = reader.sequence();
                cursor.dropped(reader.record().routeNumber(), DropReason.OLDEST, 1);
                number = reader.record().sendNumber() + 1;
            }
        }
        cursor.advance(last, number);
        while (cursor.writeIfDirty()) {
            fixture.lane.journal().forgetBelow(cursor.olderDurableSendNumber());
        }
        fixture.maintain();
        fixture.lane.reclaim();
    }

    private void publishEvicting(final StoreFixture fixture, final int from, final int to) throws StoreException {
        for (int number = from; number < to; number++) {
            Outcome outcome = publish(fixture, number);
            if (outcome == Outcome.FULL) {
                fixture.writer.force();
                fixture.writer.evictOldest();
                fixture.writer.evictOldest(); // while the first request is under way
                final long target = fixture.lane.evictionTarget();
                assertTrue(target > fixture.lane.cursor().sequence());
                evict(fixture);
                assertEquals(target, fixture.lane.cursor().sequence());
                outcome = publish(fixture, number);
            }
            assertEquals(Outcome.STORED, outcome, "message " + number);
            assertTrue(fixture.lane.stat().bytesOnDisk() <= MAX_BYTES);
        }
        fixture.writer.force();
    }

    @Test
    void exactlyTheNewestStayAlsoAfterARestartAndTheDiskIsBounded() throws Exception {
        final int first = 5_000;
        try (StoreFixture fixture = open()) {
            publishEvicting(fixture, 0, first);
            assertOnlyTheNewest(fixture, first);
        }
        try (StoreFixture fixture = open()) {
            assertOnlyTheNewest(fixture, first);
            publishEvicting(fixture, first, 2 * first);
            assertOnlyTheNewest(fixture, 2 * first);
            try (var files = Files.list(directory.resolve("lane-0"))) {
                final long onDisk = files.filter(file -> SegmentName.numberOf(file, SegmentName.LIVE) >= 0
                                || SegmentName.numberOf(file, SegmentName.SEALED) >= 0)
                        .mapToLong(file -> file.toFile().length())
                        .sum();
                assertTrue(onDisk <= MAX_BYTES, "on disk: " + onDisk);
            }
        }
    }

    private static void assertOnlyTheNewest(final StoreFixture fixture, final int published) throws StoreException {
        final List<Message> left = fixture.read();
        assertTrue(left.size() > 300, "left: " + left.size());
        assertEquals(
                LongStream.rangeClosed(published - left.size() + 1, published)
                        .boxed()
                        .toList(),
                left.stream().map(Message::sequence).toList());
        final long dropped = fixture.lane.cursor().dropped(0, DropReason.OLDEST);
        assertEquals(published - left.size(), dropped);
        assertEquals(published, fixture.lane.accepted(0));
    }

    @Test
    void nothingIsEvictedThatNobodyAskedFor() throws Exception {
        try (StoreFixture fixture = open()) {
            int number = 0;
            while (publish(fixture, number) == Outcome.STORED) {
                number++;
            }
            fixture.writer.force();
            assertEquals(0, fixture.lane.evictionTarget());
            fixture.finishAll();
            fixture.maintain();
            fixture.lane.reclaim();
            fixture.writer.evictOldest();
            assertTrue(fixture.lane.evictionTarget() <= fixture.lane.cursor().sequence(), "there is room already");
        }
    }

    @Test
    void whatIsDroppedAsNewIsCountedAcrossRestarts() throws Exception {
        final UnsafeBuffer record = new UnsafeBuffer(new byte[200]);
        final int length = new RecordEncoder()
                .publish(record, 0, 1, false, 4)
                .route(3)
                .clientId(new byte[] {'d'})
                .finish();
        try (StoreFixture fixture = open()) {
            fixture.writer.dropNew(record, 0, length);
            fixture.writer.dropNew(record, 0, length);
            assertEquals(2, fixture.lane.droppedUnstored(3, DropReason.NEW));
        }
        try (StoreFixture fixture = open()) {
            fixture.writer.dropNew(record, 0, length);
            assertEquals(3, fixture.lane.droppedUnstored(3, DropReason.NEW));
            assertEquals(0, fixture.lane.droppedUnstored(3, DropReason.OLDEST));
            assertEquals(0, fixture.lane.droppedUnstored(0, DropReason.NEW));
            assertEquals(0, fixture.lane.accepted(3));
        }
    }
}
