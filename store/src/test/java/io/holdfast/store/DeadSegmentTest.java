package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.store.StoreFixture.Message;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
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

    private FailingLog log;

    private StoreFixture open(final Path place) throws StoreException, IOException {
        return StoreFixture.openLane(place, delegate -> {
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

    @Test
    void aSecondFailureEndsTheWriter() throws Exception {
        try (StoreFixture fixture = open(directory.resolve("lane-0"))) {
            fixture.publishMany(0, 10, 10);
            fixture.publish(1, 1, "t", "lost");
            log.failForces = 2;
            assertThrows(StoreException.class, fixture.writer::force);
            assertEquals(10, fixture.lane.durableSequence());
            assertThrows(StoreException.class, fixture.writer::force);
            assertThrows(StoreException.class, () -> fixture.publish(1, 1, "t", "more"));
            assertThrows(StoreException.class, () -> fixture.connect("other", false));
            assertEquals(10, fixture.read().size());
        }
    }

    @Test
    void aFailedAppendEndsTheWriter() throws Exception {
        try (StoreFixture fixture = open(directory.resolve("lane-0"))) {
            fixture.publishMany(0, 10, 10);
            log.failAppend = true;
            assertThrows(StoreException.class, () -> fixture.publish(1, 1, "t", "lost"));
            log.failAppend = false;
            assertThrows(StoreException.class, () -> fixture.publish(1, 1, "t", "more"));
            assertThrows(StoreException.class, fixture.writer::force);
        }
        try (StoreFixture fixture = open(directory.resolve("lane-0"))) {
            assertEquals(10, fixture.read().size());
        }
    }
}
