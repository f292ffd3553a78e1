package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.store.StoreFixture.Message;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An fsync that fails is not tried again: its segment is dead, the batch goes to a fresh one. */
class DeadSegmentTest {
    @TempDir
    Path directory;

    /** Fails the next syncs, or an append, and goes on as if nothing had been. */
    private static final class FailingLog implements LaneLog {
        private final LaneLog delegate;
        int failForces;
        boolean failAppend;

        FailingLog(final LaneLog delegate) {
            this.delegate = delegate;
        }

        @Override
        public boolean isOpen() {
            return delegate.isOpen();
        }

        @Override
        public int remaining() {
            return delegate.remaining();
        }

        @Override
        public void roll(final int segment) throws IOException {
            delegate.roll(segment);
        }

        @Override
        public void append(final DirectBuffer record, final int offset, final int length) throws IOException {
            if (failAppend) {
                throw new IOException("simulated");
            }
            delegate.append(record, offset, length);
        }

        @Override
        public long position() {
            return delegate.position();
        }

        @Override
        public void force() throws IOException {
            if (failForces-- > 0) {
                throw new IOException("simulated");
            }
            delegate.force();
        }

        @Override
        public void close() throws IOException {
            delegate.close();
        }
    }

    private final AtomicLong nowNs = new AtomicLong();
    private FailingLog log;

    private StoreFixture open(final Path place) throws StoreException, IOException {
        return StoreFixture.openLane(place, nowNs::get, delegate -> {
            log = new FailingLog(delegate);
            return log;
        });
    }

    @Test
    void theBatchGoesToAFreshSegmentAndIsReadOnce() throws Exception {
        final Path lane = directory.resolve("lane-0");
        try (StoreFixture fixture = open(lane)) {
            fixture.publishMany(0, 10, 10);
            for (int i = 10; i < 20; i++) {
                fixture.publish(2, 1 + i, "t", i + " ");
            }
            log.failForces = 1;
            fixture.writer.force();
            assertEquals(20, fixture.lane.durableSequence());
            assertEquals(1, fixture.lane.stat().deadSegments());
            assertEquals(2, fixture.lane.stat().segments());
            assertEquals(1, fixture.errors.size());
            fixture.publishMany(20, 30, 10);
            assertAllOnce(fixture.read());
            assertEquals(30, fixture.lane.accepted(0));
        }
        try (StoreFixture fixture = open(lane)) {
            assertAllOnce(fixture.read());
            assertEquals(30, fixture.lane.accepted(0));
            assertEquals(0, fixture.lane.stat().missingAtStart());
        }
    }

    /** What the failed sync left of the batch in the dead segment is not intact. */
    @Test
    void theReaderGoesOnInTheFreshSegmentWhereTheDeadOneIsTorn() throws Exception {
        final Path live = directory.resolve("live");
        final Path image = directory.resolve("image");
        try (StoreFixture fixture = open(live.resolve("lane-0"))) {
            fixture.publishMany(0, 10, 10);
            for (int i = 10; i < 20; i++) {
                fixture.publish(1, 1 + i, "t", i + " ");
            }
            log.failForces = 1;
            fixture.writer.force();
            fixture.publishMany(20, 30, 10);
            CrashImage.of(live, image);
        }
        final Path dead = CrashImage.files(image, SegmentName.LIVE).get(0);
        final List<Long> offsets = CrashImage.recordOffsets(dead, StoreFixture.SALT);
        CrashImage.flip(dead, offsets.get(14) + 30);
        try (StoreFixture fixture = open(image.resolve("lane-0"))) {
            assertAllOnce(fixture.read());
            assertEquals(30, fixture.lane.accepted(0));
        }
    }

    private static void assertAllOnce(final List<Message> messages) {
        assertEquals(30, messages.size());
        for (int i = 0; i < 30; i++) {
            assertEquals(i + 1, messages.get(i).sequence());
            assertTrue(messages.get(i).payload().startsWith(i + " "));
        }
    }

    /** Order, sequences and received ids are what they would have been without the failure. */
    @Test
    void aDiskThatRefusesForAWhileCostsNothing() throws Exception {
        final Path place = directory.resolve("lane-0");
        try (StoreFixture fixture = open(place)) {
            fixture.publishMany(0, 10, 10);
            assertEquals(Outcome.STORED, fixture.publish(2, 100, "t", "10 "));
            fixture.writer.force();
            assertEquals(Outcome.STORED, fixture.publish(2, 101, "t", "11 "));
            assertEquals(Outcome.STORED, fixture.release(100));
            log.failForces = Integer.MAX_VALUE;
            assertThrows(StoreException.class, fixture.writer::force);
            assertEquals(11, fixture.lane.durableSequence());
            assertTrue(fixture.lane.hasFailed());
            for (int attempt = 0; attempt < 5; attempt++) {
                assertThrows(StoreException.class, fixture.writer::force);
                assertThrows(StoreException.class, () -> fixture.publish(1, 1, "t", "more"));
                assertThrows(StoreException.class, () -> fixture.writer.openSession("other", 9, false));
                assertFalse(fixture.writer.goOn());
                assertEquals(0, fixture.writer.maintain());
                nowNs.addAndGet(TimeUnit.SECONDS.toNanos(1));
            }
            assertEquals(11, fixture.read().size(), "nothing unforced is read");
            assertEquals(1, fixture.lane.stat().segments(), "no attempt leaves a segment behind");
            assertEquals(1, fixture.lane.stat().deadSegments());

            log.failForces = 0;
            assertTrue(fixture.writer.goOn());
            assertFalse(fixture.lane.hasFailed());
            assertEquals(13, fixture.lane.durableSequence());
            assertEquals(Outcome.DUPLICATE, fixture.publish(2, 101, "t", "11 "));
            assertEquals(Outcome.STORED, fixture.publish(2, 100, "t", "12 "), "100 is released");
            fixture.writer.force();
            assertWholeAndInOrder(fixture);
        }
        try (StoreFixture fixture = open(place)) {
            assertWholeAndInOrder(fixture);
            assertEquals(Outcome.DUPLICATE, fixture.publish(2, 101, "t", "11 "));
        }
    }

    private static void assertWholeAndInOrder(final StoreFixture fixture) throws StoreException {
        assertEquals(
                List.of(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L, 11L, 12L, 13L, 14L),
                fixture.read().stream().map(Message::sequence).toList());
        assertEquals(13, fixture.lane.accepted(0));
    }

    @Test
    void itIsTriedOnceASecond() throws Exception {
        try (StoreFixture fixture = open(directory.resolve("lane-0"))) {
            fixture.publish(1, 1, "t", "0 ");
            log.failForces = 2;
            assertThrows(StoreException.class, fixture.writer::force);
            assertFalse(fixture.writer.goOn());
            nowNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(999));
            assertFalse(fixture.writer.goOn());
            nowNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(1));
            assertTrue(fixture.writer.goOn());
        }
    }

    @Test
    void aRecordThatCouldNotBeAppendedIsNotRecorded() throws Exception {
        final Path place = directory.resolve("lane-0");
        try (StoreFixture fixture = open(place)) {
            fixture.publishMany(0, 10, 10);
            fixture.publish(2, 50, "t", "10 ");
            log.failAppend = true;
            assertThrows(StoreException.class, () -> fixture.publish(2, 51, "t", "11 "));
            nowNs.addAndGet(TimeUnit.SECONDS.toNanos(1));
            assertFalse(fixture.writer.goOn());
            nowNs.addAndGet(TimeUnit.SECONDS.toNanos(1));
            log.failAppend = false;
            assertTrue(fixture.writer.goOn());
            assertEquals(11, fixture.lane.durableSequence());
            assertEquals(Outcome.STORED, fixture.publish(2, 51, "t", "11 "));
            fixture.writer.force();
            assertEquals(12, fixture.read().size());
        }
        try (StoreFixture fixture = open(place)) {
            assertEquals(12, fixture.read().size());
        }
    }

    /** Killed while the disk refuses: what was durable is there, what was not may be. A stop makes a last attempt. */
    @Test
    void itStartsAfterAStopDuringTheRefusal() throws Exception {
        final Path live = directory.resolve("live");
        final Path image = directory.resolve("image");
        try (StoreFixture fixture = open(live.resolve("lane-0"))) {
            fixture.publishMany(0, 10, 10);
            fixture.publish(1, 1, "t", "10 ");
            log.failForces = 2;
            assertThrows(StoreException.class, fixture.writer::force);
            CrashImage.of(live, image);
        }
        for (final Path place : List.of(live, image)) {
            try (StoreFixture fixture = open(place.resolve("lane-0"))) {
                final int found = fixture.read().size();
                assertTrue(found == 11 || (found == 10 && place == image), place + ": " + found);
                assertEquals(found, fixture.lane.accepted(0));
            }
        }
    }
}
